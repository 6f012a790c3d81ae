/* SPDX-License-Identifier: MIT */
#include "reports/import/kineto/shares.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "reports/import/collected/collected.h"

#define DEVICES 64u
/* Clocks of host and device agree to about this. */
#define SKEW_NS 2000

enum whose { UNKNOWN, OWN, FOREIGN };

/* Calls, sorted by id and then by time. */
struct list {
	struct tfs_kineto_foreign *items;
	size_t count;
};

struct sharing {
	struct list own, foreign;
	enum whose devices[DEVICES]; /* of all their work, as far as it is known */
};

static int compare(const void *left, const void *right)
{
	const struct tfs_kineto_foreign *a = left, *b = right;

	if (a->correlation != b->correlation)
		return a->correlation < b->correlation ? -1 : 1;
	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

/* The first call with this id; NULL where there is none. */
static const struct tfs_kineto_foreign *first(const struct list *list, uint32_t id)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (list->items[middle].correlation < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < list->count && list->items[low].correlation == id ? &list->items[low] : NULL;
}

static bool may_be_of(const struct tfs_kineto_foreign *call, int64_t start_ns)
{
	return call && call->start_ns <= start_ns + SKEW_NS;
}

/* By its call alone. */
static enum whose by_call(const struct sharing *sharing, uint32_t correlation, int64_t start_ns)
{
	const bool ours = may_be_of(first(&sharing->own, correlation), start_ns);
	const bool theirs = may_be_of(first(&sharing->foreign, correlation), start_ns);

	return ours == theirs ? UNKNOWN : ours ? OWN : FOREIGN;
}

static enum whose whose(
	const struct sharing *sharing, uint32_t correlation, int64_t start_ns, uint16_t device)
{
	const enum whose known = by_call(sharing, correlation, start_ns);

	return known == UNKNOWN && device < DEVICES ? sharing->devices[device] : known;
}

/* Devices whose work is known to be one side's, where any is. */
static void find_devices(struct sharing *sharing, const struct tfs_collected *collected)
{
	bool seen[DEVICES][FOREIGN + 1] = {{false}};

	for (size_t i = 0; i < collected->op_count; i++) {
		const struct tfs_collected_op *op = &collected->ops[i];

		if (op->device < DEVICES)
			seen[op->device][by_call(sharing, op->correlation, op->start_ns)] = true;
	}
	for (size_t i = 0; i < DEVICES; i++)
		if (seen[i][OWN] != seen[i][FOREIGN])
			sharing->devices[i] = seen[i][OWN] ? OWN : FOREIGN;
}

static int compare_ids(const void *left, const void *right)
{
	const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return a < b ? -1 : a > b;
}

/* Ids of the work that is one side's. */
static size_t list_ids(const struct sharing *sharing, const struct tfs_collected *collected,
	enum whose side, uint32_t *out_ids)
{
	size_t count = 0;

	for (size_t i = 0; i < collected->op_count; i++) {
		const struct tfs_collected_op *op = &collected->ops[i];

		if (whose(sharing, op->correlation, op->start_ns, op->device) == side)
			out_ids[count++] = op->correlation;
	}
	qsort(out_ids, count, sizeof(*out_ids), compare_ids);
	return count;
}

/* A device of which nothing is known is one side's where the other's calls had all their work on
 * other devices. */
static int eliminate(struct sharing *sharing, const struct tfs_collected *collected)
{
	uint32_t *ids[FOREIGN + 1] = {NULL};
	size_t counts[FOREIGN + 1] = {0};
	bool free_of[DEVICES][FOREIGN + 1] = {{false}}, seen[DEVICES] = {false};
	int err = 0;

	for (enum whose side = OWN; side <= FOREIGN; side++) {
		ids[side] = malloc((collected->op_count + 1) * sizeof(**ids));
		if (!ids[side])
			err = -ENOMEM;
		else
			counts[side] = list_ids(sharing, collected, side, ids[side]);
	}
	for (size_t i = 0; i < collected->op_count && !err; i++) {
		const struct tfs_collected_op *op = &collected->ops[i];

		if (op->device >= DEVICES || sharing->devices[op->device] != UNKNOWN)
			continue;
		for (enum whose side = OWN; side <= FOREIGN; side++) {
			const bool had = bsearch(&op->correlation, ids[side], counts[side],
				sizeof(**ids), compare_ids);

			free_of[op->device][side] =
				had && (free_of[op->device][side] || !seen[op->device]);
		}
		seen[op->device] = true;
	}
	for (size_t i = 0; i < DEVICES; i++)
		if (free_of[i][OWN] != free_of[i][FOREIGN])
			sharing->devices[i] = free_of[i][OWN] ? FOREIGN : OWN;
	free(ids[OWN]);
	free(ids[FOREIGN]);
	return err;
}

static int keep_own(const struct sharing *sharing, struct tfs_collected *collected)
{
	size_t ops = 0, syncs = 0;

	for (size_t i = 0; i < collected->op_count; i++) {
		const struct tfs_collected_op op = collected->ops[i];
		const enum whose found = whose(sharing, op.correlation, op.start_ns, op.device);

		if (found == UNKNOWN && first(&sharing->own, op.correlation))
			return -EILSEQ;
		if (found == OWN)
			collected->ops[ops++] = op;
	}
	for (size_t i = 0; i < collected->sync_count; i++) {
		const struct tfs_collected_sync sync = collected->syncs[i];

		if (whose(sharing, sync.correlation, sync.end_ns, sync.device) == OWN)
			collected->syncs[syncs++] = sync;
	}
	collected->op_count = ops;
	collected->sync_count = syncs;
	return 0;
}

int tfs_kineto_share(
	struct tfs_collected *collected, struct tfs_kineto_foreign *foreign, size_t count)
{
	struct sharing sharing = {.foreign = {foreign, count},
		.own = {calloc(collected->call_count + 1, sizeof(*foreign)),
			collected->call_count}};

	if (!sharing.own.items)
		return -ENOMEM;
	for (size_t i = 0; i < collected->call_count; i++)
		sharing.own.items[i] = (struct tfs_kineto_foreign){
			collected->calls[i].correlation, collected->calls[i].start_ns};
	qsort(sharing.own.items, sharing.own.count, sizeof(*foreign), compare);
	qsort(foreign, count, sizeof(*foreign), compare);
	find_devices(&sharing, collected);
	int err = eliminate(&sharing, collected);
	err = err ? err : keep_own(&sharing, collected);
	free(sharing.own.items);
	return err;
}
