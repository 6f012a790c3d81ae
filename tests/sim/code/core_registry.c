/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core.h"

#include <stdlib.h>
#include <string.h>

#include "tests/sim/core/core_private.h"

/* Every allocation, sorted by base; they never overlap. */
static struct tfsim_range *ranges;
static size_t range_count, range_room;

/* Index of the first range whose base is above the address. */
static size_t above(const void *address)
{
	size_t low = 0, high = range_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((uintptr_t)ranges[middle].base > (uintptr_t)address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

bool sim_range_add(const struct tfsim_range *range)
{
	size_t at;

	if (range_count == range_room) {
		size_t room = range_room ? range_room * 2 : 256;
		struct tfsim_range *grown = realloc(ranges, room * sizeof(*grown));

		if (!grown)
			return false;
		ranges = grown;
		range_room = room;
	}
	at = above(range->base);
	memmove(&ranges[at + 1], &ranges[at], (range_count - at) * sizeof(*ranges));
	ranges[at] = *range;
	ranges[at].id = sim_new_id();
	range_count++;
	return true;
}

const struct tfsim_range *sim_range_find(const void *address)
{
	size_t at = above(address);
	const struct tfsim_range *range = at ? &ranges[at - 1] : NULL;

	if (range && (uintptr_t)address < (uintptr_t)range->base + range->size)
		return range;
	return NULL;
}

bool sim_range_overlaps(const void *base, size_t size)
{
	size_t at = above(base);

	return sim_range_find(base) ||
	       (at < range_count && (uintptr_t)ranges[at].base < (uintptr_t)base + size);
}

bool sim_range_remove(const void *base, struct tfsim_range *out_range)
{
	size_t at = above(base);

	if (at == 0 || ranges[at - 1].base != base)
		return false;
	*out_range = ranges[at - 1];
	range_count--;
	memmove(&ranges[at - 1], &ranges[at], (range_count - at + 1) * sizeof(*ranges));
	return true;
}

void sim_range_move(const void *base, bool on_device)
{
	size_t at = above(base);

	if (at && ranges[at - 1].base == base)
		ranges[at - 1].on_device = on_device;
}

unsigned sim_range_use(const void *base, int change)
{
	size_t at = above(base);

	if (at == 0 || ranges[at - 1].base != base)
		return 0;
	ranges[at - 1].users += (unsigned)change;
	return ranges[at - 1].users;
}

/* Any range of a context, for taking them all away. */
bool sim_range_any(int device, unsigned context, struct tfsim_range *out_range)
{
	for (size_t i = 0; i < range_count; i++)
		if (ranges[i].device == device && ranges[i].context == context) {
			*out_range = ranges[i];
			return true;
		}
	return false;
}

bool tfsim_memory_find(const void *address, struct tfsim_range *out_range)
{
	const struct tfsim_range *range;

	pthread_mutex_lock(&sim.lock);
	range = sim_range_find(address);
	if (range)
		*out_range = *range;
	pthread_mutex_unlock(&sim.lock);
	return range != NULL;
}

enum tfsim_memory tfsim_memory_kind(const void *address)
{
	struct tfsim_range range;

	return tfsim_memory_find(address, &range) ? range.kind : TFSIM_PAGEABLE;
}
