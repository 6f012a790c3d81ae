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

double tfs_memory_most(const struct tfs_steady *steady)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const struct tfs_step *first = steady->run ? NULL : &timeline->steps[steady->steps[0]];
	const struct tfs_step *last =
		steady->run ? NULL : &timeline->steps[steady->steps[steady->step_count - 1]];
	const uint64_t from_ns = first ? first->start_ns : 0;
	const uint64_t until_ns = last ? last->end_ns : UINT64_MAX;
	size_t count;
	struct tfs_memory_event *events =
		tfs_memory_events(timeline, 1u << TFS_MEMORY_DEVICE, &count);
	double live = 0, most = 0;

	for (size_t i = 0; events && i < count && events[i].ns < until_ns; i++) {
		/* What is freed in the first step was in use when it began. */
		if (events[i].ns >= from_ns && live > most)
			most = live;
		live += events[i].frees ? -(double)events[i].bytes : (double)events[i].bytes;
	}
	free(events);
	if (!events)
		return -1;
	return live > most ? live : most;
}

double tfs_memory_of_device(const struct tfs_timeline *timeline)
{
	if (timeline->device_count != 1 || !timeline->devices[0].record)
		return 0;
	return (double)timeline->devices[0].record->memory_bytes;
}
