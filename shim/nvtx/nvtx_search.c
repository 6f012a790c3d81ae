/* SPDX-License-Identifier: MIT */
#include "shim/nvtx/nvtx_search.h"

#include <stddef.h>
#include <string.h>

#include "shim/base/spin.h"

#define NAMES 64u /* told apart; later ones are no candidates */
#define NESTED 8u /* open ranges looked at, outermost first */
#define UPDATES 512u

struct candidate {
	uint32_t name;
	uint32_t carried; /* instances in a row that read what the one before had updated */
	uint64_t instance;
	uint64_t latest; /* the instance counted last */
	uint64_t since;  /* calls made before the first instance */
	uint64_t inside; /* calls made in any since then */
};

/* A range that is open, and which of its name's instances it is. */
struct open {
	uint32_t candidate;
	uint64_t instance;
};

/* Memory that a call site updated in place, and the ranges that were open then. */
struct update {
	uint64_t address;
	uint32_t site;
	uint32_t count;
	bool certain; /* that it was an update is known */
	struct open open[NESTED];
};

struct tfs_nvtx_search {
	struct tfs_spin lock;
	const void *thread;
	uint32_t candidate_count;
	uint32_t open_count;
	uint32_t update_count;
	uint64_t calls;
	struct candidate candidates[NAMES];
	struct open open[NESTED];
	uint32_t beyond; /* open ranges that found no place */
	struct update updates[UPDATES];
};

uint64_t tfs_nvtx_search_bytes(void)
{
	return sizeof(struct tfs_nvtx_search);
}

struct tfs_nvtx_search *tfs_nvtx_search_init(void *memory)
{
	return memory;
}

static struct candidate *find_candidate(struct tfs_nvtx_search *search, uint32_t name, bool add)
{
	for (uint32_t i = 0; i < search->candidate_count; i++)
		if (search->candidates[i].name == name)
			return &search->candidates[i];
	if (!add || search->candidate_count == NAMES)
		return NULL;
	search->candidates[search->candidate_count].name = name;
	search->candidates[search->candidate_count].since = search->calls;
	return &search->candidates[search->candidate_count++];
}

static void enter(struct tfs_nvtx_search *search, uint32_t name)
{
	struct candidate *candidate = find_candidate(search, name, true);

	if (!candidate)
		return;
	candidate->instance++;
	if (search->open_count == NESTED) {
		search->beyond++;
		return;
	}
	search->open[search->open_count++] =
		(struct open){(uint32_t)(candidate - search->candidates), candidate->instance};
}

static void leave(struct tfs_nvtx_search *search, uint32_t name)
{
	const struct candidate *candidate = find_candidate(search, name, false);
	uint32_t at = search->open_count;

	if (!candidate)
		return;
	if (search->beyond > 0) {
		search->beyond--;
		return;
	}
	while (at > 0 && &search->candidates[search->open[at - 1].candidate] != candidate)
		at--;
	if (at == 0)
		return;
	for (; at < search->open_count; at++)
		search->open[at - 1] = search->open[at];
	search->open_count--;
}

/*
 * The open ranges that follow the ones in which the update was made. What only may have been an
 * update, such as a kernel's use of scratch memory, speaks for the outermost range alone: all that
 * a program names in its forward pass has such.
 */
static void count_carried(struct tfs_nvtx_search *search, const struct update *update)
{
	for (uint32_t i = 0; i < update->count; i++) {
		struct candidate *candidate = &search->candidates[update->open[i].candidate];

		for (uint32_t j = 0; j < (update->certain ? search->open_count : 1); j++) {
			if (search->open[j].candidate != update->open[i].candidate ||
				search->open[j].instance != update->open[i].instance + 1 ||
				candidate->latest == search->open[j].instance)
				continue;
			const bool follows = candidate->latest + 1 == search->open[j].instance;
			candidate->carried = follows ? candidate->carried + 1 : 1;
			candidate->latest = search->open[j].instance;
		}
	}
}

/* Are most calls made in ranges of this name? A step's are; a part of it has only some. */
static bool holds_most(const struct tfs_nvtx_search *search, const struct candidate *candidate)
{
	return 2 * candidate->inside >= search->calls - candidate->since;
}

/* Once one name is confirmed, the outermost open one that is as good, give or take the first. */
static uint32_t confirmed(const struct tfs_nvtx_search *search)
{
	uint32_t outermost = 0;

	for (uint32_t i = 0; i < search->open_count; i++) {
		const struct candidate *candidate = &search->candidates[search->open[i].candidate];

		if (!holds_most(search, candidate))
			continue;
		if (outermost == 0 && candidate->carried + 1 >= TFS_NVTX_CONFIRM)
			outermost = candidate->name;
		if (candidate->carried >= TFS_NVTX_CONFIRM)
			return outermost;
	}
	return 0;
}

static struct update *find_update(struct tfs_nvtx_search *search, uint64_t address)
{
	for (uint32_t i = 0; i < search->update_count; i++)
		if (search->updates[i].address == address)
			return &search->updates[i];
	return NULL;
}

static void note_write(
	struct tfs_nvtx_search *search, const struct tfs_loops_operand *operand, uint32_t site)
{
	struct update *update = find_update(search, operand->address);

	if (!operand->reads) {
		if (update)
			*update = search->updates[--search->update_count];
		return;
	}
	if (!update) {
		if (search->update_count == UPDATES)
			return;
		update = &search->updates[search->update_count++];
		update->address = operand->address;
	}
	update->site = site;
	update->certain = !operand->maybe;
	update->count = search->open_count;
	for (uint32_t i = 0; i < search->open_count; i++)
		update->open[i] = search->open[i];
}

static uint32_t feed(struct tfs_nvtx_search *search, uint32_t site,
	const struct tfs_loops_operand *operands, uint32_t count)
{
	if (search->candidate_count == 0)
		return 0;
	search->calls++;
	for (uint32_t i = 0; i < search->open_count; i++)
		search->candidates[search->open[i].candidate].inside++;
	for (uint32_t i = 0; i < count; i++) {
		const struct update *update =
			operands[i].reads ? find_update(search, operands[i].address) : NULL;

		if (update && update->site != site)
			count_carried(search, update);
	}
	for (uint32_t i = 0; i < count; i++)
		if (operands[i].writes)
			note_write(search, &operands[i], site);
	return confirmed(search);
}

/* Begins anew when another thread's ranges and calls are the steps' from now on. */
static void turn(struct tfs_nvtx_search *search, const void *thread)
{
	tfs_spin_lock(&search->lock);
	if (search->thread == thread)
		return;
	memset(&search->thread, 0, sizeof(*search) - offsetof(struct tfs_nvtx_search, thread));
	search->thread = thread;
}

void tfs_nvtx_search_enter(struct tfs_nvtx_search *search, const void *thread, uint32_t name)
{
	turn(search, thread);
	enter(search, name);
	tfs_spin_unlock(&search->lock);
}

void tfs_nvtx_search_leave(struct tfs_nvtx_search *search, const void *thread, uint32_t name)
{
	turn(search, thread);
	leave(search, name);
	tfs_spin_unlock(&search->lock);
}

uint32_t tfs_nvtx_search_feed(struct tfs_nvtx_search *search, const void *thread, uint32_t site,
	const struct tfs_loops_operand *operands, uint32_t count)
{
	turn(search, thread);
	const uint32_t name = feed(search, site, operands, count);
	tfs_spin_unlock(&search->lock);
	return name;
}
