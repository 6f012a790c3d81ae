/* SPDX-License-Identifier: MIT */
#include "rules/evidence/memory_use.h"

#include <stdlib.h>

static int compare(const void *left, const void *right)
{
	const struct tfs_memory_event *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return b->frees - a->frees;
}

struct tfs_memory_event *tfs_memory_events(
	const struct tfs_timeline *timeline, uint32_t kinds, size_t *out_count)
{
	struct tfs_memory_event *events =
		calloc(2 * (size_t)timeline->range_count + 1, sizeof(*events));
	size_t count = 0;

	for (uint32_t i = 0; events && i < timeline->range_count; i++) {
		const struct tfs_allocation *range = &timeline->ranges[i];

		if (!(kinds >> range->memory & 1))
			continue;
		events[count++] = (struct tfs_memory_event){range->from_ns, range->bytes, false};
		if (range->until_ns != UINT64_MAX)
			events[count++] =
				(struct tfs_memory_event){range->until_ns, range->bytes, true};
	}
	if (events)
		qsort(events, count, sizeof(*events), compare);
	*out_count = count;
	return events;
}
