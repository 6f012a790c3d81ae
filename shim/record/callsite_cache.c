/* SPDX-License-Identifier: MIT */
/*
 * A helper that many call sites go through is called from one address, often with the same stack
 * pointer: in PyTorch most calls are. So what an entry is looked for by, where that is another
 * caller's, is the first return address in which the two stacks differ, and so on.
 */
#include <stddef.h>

#include "shim/record/callsite.h"

_Static_assert((TFS_CACHE_ENTRIES & (TFS_CACHE_ENTRIES - 1)) == 0 &&
		       (TFS_CACHE_WAYS & (TFS_CACHE_WAYS - 1)) == 0,
	"ways are numbered by bits");

/* How many return addresses are those of this stack. */
static uint32_t alike(const struct tfs_cache_entry *entry, uint64_t frame)
{
	uint32_t i = 0;

	while (i < entry->checks && tfs_callsite_returns(entry, frame, i))
		i++;
	return i;
}

static struct tfs_cache_entry *way_of(
	struct tfs_cache *cache, const struct tfs_cache_entry *first, uint32_t way)
{
	return &cache->entries[(uint32_t)(first - cache->entries) ^ way];
}

static struct tfs_cache_entry *make_room(struct tfs_cache *cache,
	const struct tfs_cache_entry *first, const struct tfs_cache_entry *taken)
{
	struct tfs_cache_entry *room;

	for (uint32_t way = 0; way < TFS_CACHE_WAYS; way++)
		if (way_of(cache, first, way)->address == 0)
			return way_of(cache, first, way);
	do
		room = way_of(cache, first, cache->turn++ % TFS_CACHE_WAYS);
	while (room == taken);
	return room;
}

struct tfs_cache_entry *tfs_callsite_cached(struct tfs_cache *cache, uint64_t address,
	uint64_t frame, const struct tfs_function *function, const struct tfs_cache_entry *taken,
	struct tfs_cache_entry **out_room)
{
	struct tfs_cache_entry *first = tfs_callsite_slot(cache, address, frame);

	for (uint32_t depth = 0; depth <= TFS_CHECKED_FRAMES; depth++) {
		const struct tfs_cache_entry *other = NULL;
		uint32_t at = 0;

		for (uint32_t way = 0; way < TFS_CACHE_WAYS; way++) {
			struct tfs_cache_entry *entry = way_of(cache, first, way);

			if (entry->address != address || entry->frame != frame ||
				entry->function != function)
				continue;
			const uint32_t same = alike(entry, frame);
			if (same == entry->checks)
				return entry;
			/* The one that goes on longest: what it is not told by is not asked twice.
			 */
			if (!other || same > at) {
				other = entry;
				at = same;
			}
		}
		if (!other)
			break;
		first = tfs_callsite_slot(cache,
			address ^ *(const uint64_t *)(frame + other->offsets[at]) << 8, frame);
	}
	*out_room = make_room(cache, first, taken);
	return NULL;
}
