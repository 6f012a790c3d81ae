/* SPDX-License-Identifier: MIT */
#include "reports/build/build.h"

#include <stdlib.h>
#include <string.h>

#include "reports/symbols/demangle.h"

#define MOST_DETAILS 5u

/* Numbers names so that spans stay small; ids of functions and kernels are dense. */
struct names {
	struct tfs_build *build;
	uint32_t *of_function;
	uint32_t *of_kernel;
	uint32_t functions;
	uint32_t kernels;
	const char **list;
	size_t count;
};

static uint32_t add_name(struct names *names, const char *text)
{
	const char **list = tfs_arena_grow(
		&names->build->model->arena, names->list, names->count, sizeof(*list));

	if (!list)
		return 0;
	names->list = list;
	names->list[names->count] = tfs_arena_string(&names->build->model->arena, text);
	return (uint32_t)names->count++;
}

static uint32_t function_name(struct names *names, uint32_t id)
{
	if (id >= names->functions)
		return 0;
	if (!names->of_function[id])
		names->of_function[id] =
			add_name(names, tfs_trace_function(names->build->trace, id));
	return names->of_function[id];
}

static uint32_t kernel_name(struct names *names, uint32_t id)
{
	if (id >= names->kernels)
		return 0;
	if (!names->of_kernel[id]) {
		const char *name = tfs_trace_kernel(names->build->trace, id);
		char *readable = tfs_demangle(name, false);
		names->of_kernel[id] = add_name(names, readable ? readable : name);
		free(readable);
	}
	return names->of_kernel[id];
}

static bool is_wait(uint16_t family)
{
	return family == TFS_FAMILY_device_sync || family == TFS_FAMILY_stream_sync ||
	       family == TFS_FAMILY_event_sync;
}

static enum tfs_lane op_lane(const struct tfs_timeline *timeline, const struct tfs_device_op *op)
{
	uint32_t copy_kind = op->record->copy_kind;
	if (op->call != TFS_NONE && timeline->calls[op->call].family == TFS_FAMILY_collective)
		return TFS_LANE_NCCL;
	if (op->record->operation == TFS_DEVICE_MEMSET)
		return TFS_LANE_D2D;
	if (op->record->operation != TFS_DEVICE_MEMCPY)
		return TFS_LANE_COMPUTE;
	return copy_kind == 1 ? TFS_LANE_H2D : copy_kind == 2 ? TFS_LANE_D2H : TFS_LANE_D2D;
}

struct spans {
	struct tfs_chart_span *items; /* malloc'd */
	size_t count;
	const struct tfs_step *step;
	struct tfs_arena *arena;
};

static void add_span(
	struct spans *spans, uint64_t start_ns, uint64_t end_ns, uint32_t name, enum tfs_lane lane)
{
	const struct tfs_step *step = spans->step;
	if (end_ns <= step->start_ns || start_ns >= step->end_ns || end_ns < start_ns)
		return;
	uint64_t start = start_ns < step->start_ns ? step->start_ns : start_ns;
	uint64_t end = end_ns > step->end_ns ? step->end_ns : end_ns;
	struct tfs_chart_span *items =
		tfs_arena_grow(spans->arena, spans->items, spans->count, sizeof(*items));
	if (!items)
		return;
	spans->items = items;
	spans->items[spans->count++] = (struct tfs_chart_span){(double)(start - step->start_ns),
		(double)(end - step->start_ns), name, (uint8_t)lane};
}

static int by_lane(const void *a, const void *b)
{
	const struct tfs_chart_span *one = a;
	const struct tfs_chart_span *two = b;
	if (one->lane != two->lane)
		return one->lane < two->lane ? -1 : 1;
	return one->start_ns < two->start_ns ? -1 : one->start_ns > two->start_ns;
}

static void add_detail(struct tfs_build *build, struct names *names, uint32_t step_at,
	const char *title, struct tfs_chart_detail *out_detail)
{
	const struct tfs_timeline *timeline = build->timeline;
	struct spans spans = {.step = &timeline->steps[step_at], .arena = &build->model->arena};

	for (uint32_t thread = 0; thread < timeline->thread_count; thread++) {
		const struct tfs_host_call *calls;
		uint32_t count = tfs_timeline_step_calls(timeline, step_at, thread, &calls);
		for (uint32_t i = 0; i < count; i++)
			add_span(&spans, calls[i].start_ns, calls[i].end_ns,
				function_name(names, calls[i].function),
				is_wait(calls[i].family) ? TFS_LANE_SYNC : TFS_LANE_HOST);
	}
	for (uint32_t i = 0; i < timeline->op_count; i++) {
		const struct tfs_device_op *op = &timeline->ops[i];
		uint32_t kind = op->record->operation;
		uint32_t name = kind == TFS_DEVICE_KERNEL
					? kernel_name(names, op->record->kernel)
					: (kind == TFS_DEVICE_MEMCPY          ? 1
						  : kind == TFS_DEVICE_MEMSET ? 2
									      : 3);
		add_span(&spans, op->start_ns, op->end_ns, name, op_lane(timeline, op));
	}
	if (spans.count)
		qsort(spans.items, spans.count, sizeof(*spans.items), by_lane);
	out_detail->title = title;
	out_detail->index = spans.step->index;
	out_detail->duration_ns = (double)(spans.step->end_ns - spans.step->start_ns);
	out_detail->spans = spans.items;
	out_detail->span_count = spans.count;
}

struct ranked {
	uint64_t duration_ns;
	uint32_t step;
};

static int by_duration(const void *a, const void *b)
{
	const struct ranked *one = a;
	const struct ranked *two = b;
	if (one->duration_ns != two->duration_ns)
		return one->duration_ns < two->duration_ns ? -1 : 1;
	return one->step < two->step ? -1 : one->step > two->step;
}

/* First, median, 95th percentile, worst and last of the judged steps, each once. */
static size_t choose(const struct tfs_timeline *timeline, struct ranked *ranked,
	uint32_t out_steps[MOST_DETAILS], const char *out_titles[MOST_DETAILS])
{
	uint32_t n = timeline->judged_count;
	size_t count = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct tfs_step *step = &timeline->steps[timeline->judged[i]];
		ranked[i] = (struct ranked){step->end_ns - step->start_ns, timeline->judged[i]};
	}
	qsort(ranked, n, sizeof(*ranked), by_duration);
	const struct {
		uint32_t step;
		const char *title;
	} wanted[MOST_DETAILS] = {
		{ranked[(n - 1) / 2].step, "median"},
		{ranked[(n - 1) * 95u / 100].step, "95th percentile"},
		{ranked[n - 1].step, "worst"},
		{timeline->judged[0], "first"},
		{timeline->judged[n - 1], "last"},
	};
	for (size_t i = 0; i < MOST_DETAILS; i++) {
		bool again = false;
		for (size_t j = 0; j < count; j++)
			again = again || out_steps[j] == wanted[i].step;
		if (again)
			continue;
		out_steps[count] = wanted[i].step;
		out_titles[count++] = wanted[i].title;
	}
	return count;
}

void tfs_build_lanes(struct tfs_build *build)
{
	const struct tfs_timeline *timeline = build->timeline;
	struct tfs_model *model = build->model;
	struct tfs_arena *arena = &model->arena;
	uint32_t steps[MOST_DETAILS];
	const char *titles[MOST_DETAILS];

	if (!timeline->judged_count)
		return;
	struct ranked *ranked = tfs_arena_alloc(arena, timeline->judged_count, sizeof(*ranked));
	struct tfs_chart_detail *details = tfs_arena_alloc(arena, MOST_DETAILS, sizeof(*details));
	struct names names = {.build = build};
	names.functions = tfs_trace_limit(build->trace, TFS_RECORD_function);
	names.kernels = tfs_trace_limit(build->trace, TFS_RECORD_kernel);
	names.of_function = tfs_arena_alloc(arena, names.functions, sizeof(uint32_t));
	names.of_kernel = tfs_arena_alloc(arena, names.kernels, sizeof(uint32_t));
	add_name(&names, "unknown");
	add_name(&names, "copy");
	add_name(&names, "memset");
	add_name(&names, "graph");
	if (arena->failed)
		return;
	size_t count = choose(timeline, ranked, steps, titles);
	for (size_t i = 0; i < count; i++)
		add_detail(build, &names, steps[i], titles[i], &details[i]);
	model->charts.details = details;
	model->charts.detail_count = count;
	model->charts.names = names.list;
	model->charts.name_count = names.count;
}
