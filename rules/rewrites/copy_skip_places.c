/* SPDX-License-Identifier: MIT */
#include "rules/rewrites/copy_skip_places.h"

#include <stddef.h>

#include "shim/spin.h"

#define PLACES 256u
#define FIRST_PAUSE 16u
#define LONGEST_PAUSE 4096u

static struct tfs_skip_place places[PLACES];
static struct tfs_spin lock;

/* Where it is, or would be. */
static struct tfs_skip_place *slot_of(const struct tfs_skip_place *place)
{
	const uint64_t name = place->target / 8 + place->bytes * 31 + place->site;

	return &places[name * UINT64_C(0x9E3779B97F4A7C15) >> 56];
}

static bool is_same(const struct tfs_skip_place *one, const struct tfs_skip_place *other)
{
	return one->target == other->target && one->bytes == other->bytes &&
	       one->site == other->site;
}

void tfs_skip_ask(struct tfs_skip_place *place)
{
	struct tfs_skip_place *slot = slot_of(place);

	tfs_spin_lock(&lock);
	if (is_same(slot, place)) {
		*place = *slot;
		slot->rest -= slot->rest > 0;
	} else {
		*slot = (struct tfs_skip_place){.target = place->target,
			.bytes = place->bytes,
			.site = place->site,
			.seen = true};
		*place = *slot;
		place->seen = false;
	}
	tfs_spin_unlock(&lock);
}

/* NULL: it had to go. The lock is held. */
static struct tfs_skip_place *find(const struct tfs_skip_place *place)
{
	struct tfs_skip_place *slot = slot_of(place);

	return is_same(slot, place) ? slot : NULL;
}

void tfs_skip_tried(const struct tfs_skip_place *place)
{
	tfs_spin_lock(&lock);
	struct tfs_skip_place *known = find(place);
	if (known != NULL)
		known->tries++;
	tfs_spin_unlock(&lock);
}

void tfs_skip_differed(const struct tfs_skip_place *place)
{
	tfs_spin_lock(&lock);
	struct tfs_skip_place *known = find(place);
	if (known != NULL) {
		known->pause = known->pause == 0              ? FIRST_PAUSE
			       : known->pause < LONGEST_PAUSE ? known->pause * 2
							      : known->pause;
		known->rest = known->pause;
		known->tries = 0;
	}
	tfs_spin_unlock(&lock);
}

static void note_least(uint64_t *least, uint64_t ns)
{
	if (*least == 0 || ns < *least)
		*least = ns > 0 ? ns : 1;
}

void tfs_skip_note_copy(const struct tfs_skip_place *place, uint64_t ns)
{
	tfs_spin_lock(&lock);
	struct tfs_skip_place *known = find(place);
	if (known != NULL)
		note_least(&known->copy_ns, ns);
	tfs_spin_unlock(&lock);
}

void tfs_skip_note_check(const struct tfs_skip_place *place, uint64_t ns)
{
	tfs_spin_lock(&lock);
	struct tfs_skip_place *known = find(place);
	if (known != NULL)
		note_least(&known->check_ns, ns);
	tfs_spin_unlock(&lock);
}
