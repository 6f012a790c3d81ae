/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "rules/timeline_build.h"

static size_t slot_of(const struct tfs_correlations *map, uint32_t id)
{
	return (size_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & map->mask;
}

/* The first entry of an id stays: links come before guesses. */
static void add(struct tfs_correlations *map, uint32_t id, uint32_t call)
{
	size_t slot = slot_of(map, id);

	while (map->slots[slot].call && map->slots[slot].id != id)
		slot = (slot + 1) & map->mask;
	if (!map->slots[slot].call) {
		map->slots[slot].id = id;
		map->slots[slot].call = call + 1;
	}
}

uint32_t tfs_timeline_correlated(const struct tfs_timeline *timeline, uint32_t correlation)
{
	const struct tfs_correlations *map = &timeline->private->correlations;
	size_t slot;

	if (!map->slots)
		return TFS_NONE;
	for (slot = slot_of(map, correlation); map->slots[slot].call; slot = (slot + 1) & map->mask)
		if (map->slots[slot].id == correlation)
			return map->slots[slot].call - 1;
	return TFS_NONE;
}

/* Which call starts at each unit of the file (+ 1; 0 = none). */
static uint32_t *calls_by_unit(const struct tfs_timeline *timeline, uint64_t *out_units)
{
	uint64_t units = tfs_trace_summary(timeline->trace)->bytes / TFS_UNIT + 1;
	uint32_t *calls = calloc(units, sizeof(*calls));

	for (uint32_t i = 0; calls && i < timeline->call_count; i++)
		calls[tfs_trace_unit(timeline->trace, timeline->calls[i].record)] = i + 1;
	*out_units = units;
	return calls;
}

static int add_links(struct tfs_timeline *timeline)
{
	size_t links = tfs_trace_count(timeline->trace, TFS_RECORD_link);
	uint64_t units;
	uint32_t *calls;

	if (!links)
		return 0;
	calls = calls_by_unit(timeline, &units);
	if (!calls)
		return -ENOMEM;
	for (size_t i = 0; i < links; i++) {
		const struct tfs_link_record *link =
			tfs_trace_at(timeline->trace, TFS_RECORD_link, i);

		if (link->call_unit < units && calls[link->call_unit])
			add(&timeline->private->correlations, link->correlation,
				calls[link->call_unit] - 1);
	}
	free(calls);
	return 0;
}

static uint32_t thread_of(const struct tfs_timeline *timeline, uint32_t tid)
{
	uint32_t only = TFS_NONE, calling = 0;

	for (uint32_t i = 0; i < timeline->thread_count; i++) {
		if (!timeline->threads[i].call_count)
			continue;
		if (timeline->threads[i].tid == tid)
			return i;
		only = i;
		calling++;
	}
	return calling == 1 ? only : TFS_NONE;
}

/* CUDA calls without a link belong to the wrapped call of their thread that was under way. */
static void add_apis(struct tfs_timeline *timeline)
{
	size_t apis = tfs_trace_count(timeline->trace, TFS_RECORD_device_api);
	uint32_t tid = 0, thread = TFS_NONE;

	for (size_t i = 0; i < apis; i++) {
		const struct tfs_device_api_record *api =
			tfs_trace_at(timeline->trace, TFS_RECORD_device_api, i);
		uint64_t middle = api->start_ns + api->duration_ns / 2;
		uint32_t call;

		if (i == 0 || api->tid != tid) {
			tid = api->tid;
			thread = thread_of(timeline, tid);
		}
		if (thread == TFS_NONE)
			continue;
		call = tfs_timeline_call_before(timeline, thread, middle);
		if (call != TFS_NONE && timeline->calls[call].end_ns >= middle)
			add(&timeline->private->correlations, api->record.site, call);
	}
}

int tfs_timeline_build_correlations(struct tfs_timeline *timeline)
{
	struct tfs_correlations *map = &timeline->private->correlations;
	size_t entries = tfs_trace_count(timeline->trace, TFS_RECORD_link) +
			 tfs_trace_count(timeline->trace, TFS_RECORD_device_api);
	size_t slots = 64;
	int err;

	while (slots < entries * 2)
		slots *= 2;
	map->slots = calloc(slots, sizeof(*map->slots));
	if (!map->slots)
		return -ENOMEM;
	map->mask = slots - 1;
	err = add_links(timeline);
	if (!err)
		add_apis(timeline);
	return err;
}
