/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "reports/build/build.h"
#include "rules/evidence/memory_use.h"

#define PARTS 600u

/* The run in equal parts, and what is known of them. */
struct parts {
	uint64_t start_ns;
	double width_ns;
	double *most;
};

static size_t part_of(const struct parts *parts, uint64_t ns)
{
	const double at =
		ns > parts->start_ns ? (double)(ns - parts->start_ns) / parts->width_ns : 0;

	return at < PARTS ? (size_t)at : PARTS - 1;
}

/* So much was in use from the one moment to the other. */
static void lift(struct parts *parts, uint64_t from_ns, uint64_t until_ns, double bytes)
{
	for (size_t i = part_of(parts, from_ns); i <= part_of(parts, until_ns); i++)
		if (bytes > parts->most[i])
			parts->most[i] = bytes;
}

/* The last moment that is known of the run. */
static uint64_t end_of(
	const struct tfs_timeline *timeline, const struct tfs_memory_event *events, size_t count)
{
	uint64_t ns = count ? events[count - 1].ns : 0;

	for (uint32_t i = 0; i < timeline->window_count; i++)
		ns = timeline->windows[i].end_ns > ns ? timeline->windows[i].end_ns : ns;
	for (uint32_t i = 0; i < timeline->step_count; i++)
		ns = timeline->steps[i].end_ns > ns ? timeline->steps[i].end_ns : ns;
	return ns;
}

static void fill(struct tfs_chart_memory *memory, struct parts *parts,
	const struct tfs_memory_event *events, size_t count, uint64_t end_ns)
{
	uint64_t since_ns = parts->start_ns;
	double live = 0;

	for (size_t i = 0; i < count; i++) {
		lift(parts, since_ns, events[i].ns, live);
		live += events[i].frees ? -(double)events[i].bytes : (double)events[i].bytes;
		since_ns = events[i].ns;
		if (live <= memory->most_bytes)
			continue;
		memory->most_bytes = live;
		memory->most_ns = events[i].ns > parts->start_ns
					  ? (double)(events[i].ns - parts->start_ns)
					  : 0;
	}
	lift(parts, since_ns, end_ns, live);
	memory->last_bytes = live;
}

static void set_windows(struct tfs_build *build, struct tfs_chart_memory *memory, uint64_t start_ns)
{
	const struct tfs_timeline *timeline = build->timeline;
	struct tfs_chart_window *windows =
		tfs_arena_alloc(&build->model->arena, timeline->window_count + 1, sizeof(*windows));

	for (uint32_t i = 0; windows && i < timeline->window_count; i++)
		windows[i] = (struct tfs_chart_window){
			(double)(timeline->windows[i].start_ns - start_ns),
			(double)(timeline->windows[i].end_ns - start_ns)};
	memory->windows = windows;
	memory->window_count = timeline->window_count;
}

void tfs_build_memory(struct tfs_build *build)
{
	struct tfs_chart_memory *memory = &build->model->charts.memory;
	const uint64_t start_ns = tfs_trace_header(build->trace)->start_ns;
	size_t count;
	struct tfs_memory_event *events =
		tfs_memory_events(build->timeline, 1u << TFS_MEMORY_DEVICE, &count);
	const uint64_t end_ns = events ? end_of(build->timeline, events, count) : 0;

	if (count && end_ns > start_ns) {
		struct parts parts = {.start_ns = start_ns,
			.width_ns = (double)(end_ns - start_ns) / PARTS,
			.most = tfs_arena_alloc(&build->model->arena, PARTS, sizeof(*parts.most))};

		if (parts.most)
			fill(memory, &parts, events, count, end_ns);
		set_windows(build, memory, start_ns);
		memory->parts = parts.most;
		memory->count = PARTS;
		memory->span_ns = (double)(end_ns - start_ns);
		memory->device_bytes = tfs_memory_of_device(build->timeline);
	}
	free(events);
}
