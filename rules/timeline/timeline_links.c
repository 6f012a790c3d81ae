/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "rules/support/pages.h"
#include "rules/timeline/timeline_build.h"

/* The slot of an id: its own one where the ids are dense, else the first of a probe. */
static size_t slot_of(const struct tfs_correlations *map, uint32_t id)
{
	if (map->dense)
		return id - map->base;
	return (size_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & map->mask;
}

static size_t find_slot(const struct tfs_correlations *map, uint32_t id)
{
	size_t slot = slot_of(map, id);

	while (!map->dense && map->calls[slot] && map->ids[slot] != id)
		slot = (slot + 1) & map->mask;
	return slot;
}

/* The first entry of an id stays: links come before guesses. */
static void add(struct tfs_correlations *map, uint32_t id, uint32_t call)
{
	size_t slot = find_slot(map, id);

	if (map->calls[slot])
		return;
	map->calls[slot] = call + 1;
	if (!map->dense)
		map->ids[slot] = id;
}

uint32_t tfs_timeline_correlated(const struct tfs_timeline *timeline, uint32_t correlation)
{
	const struct tfs_correlations *map = &timeline->private->correlations;

	if (!map->calls || (map->dense && correlation - map->base > map->mask))
		return TFS_NONE;
	/* an empty slot gives 0 - 1, which is TFS_NONE */
	return map->calls[find_slot(map, correlation)] - 1;
}

/* Which call starts at each unit of the file (+ 1; 0 = none). */
static uint32_t *calls_by_unit(const struct tfs_timeline *timeline, uint64_t *out_units)
{
	uint64_t units = tfs_trace_summary(timeline->trace)->bytes / TFS_UNIT + 1;
	uint32_t *calls = tfs_pages_zeroed(units, sizeof(*calls));

	for (uint32_t i = 0; calls && i < timeline->call_count; i++)
		calls[tfs_trace_unit(timeline->trace, timeline->calls[i].record)] = i + 1;
	*out_units = units;
	return calls;
}

static int add_links(struct tfs_timeline *timeline, bool *linked)
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

		if (link->call_unit >= units || !calls[link->call_unit])
			continue;
		add(&timeline->private->correlations, link->correlation,
			calls[link->call_unit] - 1);
		linked[calls[link->call_unit] - 1] = true;
	}
	free(calls);
	return 0;
}

static uint32_t thread_of(const struct tfs_timeline *timeline, uint32_t tid)
{
	for (uint32_t i = 0; i < timeline->thread_count; i++)
		if (timeline->threads[i].call_count && timeline->threads[i].tid == tid)
			return i;
	return TFS_NONE;
}

/* An old CUPTI numbers threads in a way of its own: the one thread that makes calls is then known
 * all the same. */
static uint32_t only_thread(const struct tfs_timeline *timeline)
{
	const size_t apis = tfs_trace_count(timeline->trace, TFS_RECORD_device_api);
	uint32_t only = TFS_NONE, calling = 0;

	for (uint32_t i = 0; i < timeline->thread_count; i++) {
		if (!timeline->threads[i].call_count)
			continue;
		only = i;
		calling++;
	}
	for (size_t i = 0; i < apis && calling == 1; i++) {
		const struct tfs_device_api_record *api =
			tfs_trace_at(timeline->trace, TFS_RECORD_device_api, i);

		if (api->tid == timeline->threads[only].tid)
			return TFS_NONE;
	}
	return calling == 1 ? only : TFS_NONE;
}

/* CUDA calls without a link belong to the wrapped call of their thread that was under way. Where
 * others of that call have one, this one was not made in it: clocks differ a little. */
static void add_apis(struct tfs_timeline *timeline, const bool *linked)
{
	size_t apis = tfs_trace_count(timeline->trace, TFS_RECORD_device_api);
	const uint32_t only = only_thread(timeline);
	uint32_t tid = 0, thread = TFS_NONE;

	for (size_t i = 0; i < apis; i++) {
		const struct tfs_device_api_record *api =
			tfs_trace_at(timeline->trace, TFS_RECORD_device_api, i);
		uint64_t middle = api->start_ns + api->duration_ns / 2;
		uint32_t call;

		if (tfs_timeline_correlated(timeline, api->correlation) != TFS_NONE)
			continue;
		if (thread == TFS_NONE || api->tid != tid) {
			tid = api->tid;
			thread = only != TFS_NONE ? only : thread_of(timeline, tid);
		}
		if (thread == TFS_NONE)
			continue;
		call = tfs_timeline_call_before(timeline, thread, middle);
		if (call != TFS_NONE && !linked[call] && timeline->calls[call].end_ns >= middle)
			add(&timeline->private->correlations, api->correlation, call);
	}
}

/* Correlation ids are counted up by CUPTI, so the table is an array in practice; only a strange
 * recording needs hashing. */
static int make_table(const struct tfs_trace *trace, struct tfs_correlations *map)
{
	size_t links = tfs_trace_count(trace, TFS_RECORD_link);
	size_t apis = tfs_trace_count(trace, TFS_RECORD_device_api), slots = 64;
	uint32_t low = UINT32_MAX, high = 0;

	for (size_t i = 0; i < links + apis; i++) {
		uint32_t id = i < links ? ((const struct tfs_link_record *)tfs_trace_at(
						   trace, TFS_RECORD_link, i))
						  ->correlation
					: ((const struct tfs_device_api_record *)tfs_trace_at(
						   trace, TFS_RECORD_device_api, i - links))
						  ->correlation;

		low = id < low ? id : low;
		high = id > high ? id : high;
	}
	while (slots < (links + apis) * 2)
		slots *= 2;
	if (low <= high && high - low < slots * 4) {
		map->dense = true;
		map->base = low;
		slots = high - low + (size_t)1;
	}
	map->mask = slots - 1;
	map->calls = tfs_pages_zeroed(slots, sizeof(*map->calls));
	if (!map->dense)
		map->ids = tfs_pages_alloc(slots, sizeof(*map->ids));
	return map->calls && (map->dense || map->ids) ? 0 : -ENOMEM;
}

int tfs_timeline_build_correlations(struct tfs_timeline *timeline)
{
	bool *linked = tfs_pages_zeroed(timeline->call_count + 1u, sizeof(*linked));
	int err = linked ? make_table(timeline->trace, &timeline->private->correlations) : -ENOMEM;

	if (!err)
		err = add_links(timeline, linked);
	if (!err)
		add_apis(timeline, linked);
	free(linked);
	return err;
}
