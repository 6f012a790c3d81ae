/* SPDX-License-Identifier: MIT */
#include "rules/judge/layers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rules/support/intervals.h"
#include "rules/support/pages.h"
#include "rules/timeline/timeline_build.h"
#include "shim/nvtx/nvtx_family.h"

#define MOST 100u

/* A range inside a judged step. */
struct span {
	const struct tfs_range_record *record;
	uint64_t start_ns, end_ns;
	uint32_t step;
	uint32_t thread; /* TFS_NONE = it made no calls */
	const char *name;
};

struct search {
	const struct tfs_steady *steady;
	struct tfs_arena *arena;
	struct span *spans;
	size_t count;
	struct tfs_intervals device;
};

static bool *judged_steps(const struct tfs_steady *steady)
{
	bool *judged = calloc((size_t)steady->timeline->step_count + 1, sizeof(*judged));

	for (uint32_t i = 0; judged && i < steady->step_count; i++)
		judged[steady->steps[i]] = true;
	return judged;
}

static uint32_t thread_of(const struct tfs_timeline *timeline, uint32_t tid)
{
	for (uint32_t i = 0; i < timeline->thread_count; i++)
		if (timeline->threads[i].tid == tid && timeline->threads[i].call_count)
			return i;
	return TFS_NONE;
}

static bool make_span(const struct search *search, const bool *judged,
	const struct tfs_range_record *record, struct span *out)
{
	const struct tfs_timeline *timeline = search->steady->timeline;
	const uint64_t start_ns = tfs_trace_ns(timeline->trace, record->start_ticks);
	const uint32_t step = tfs_timeline_step_at(timeline, start_ns);
	uint64_t end_ns;

	if (record->range == TFS_RANGE_MARK || step == TFS_NONE || !judged[step] ||
		!(record->duration_ticks > 0))
		return false;
	/* The range that opens a step is the step. */
	if (timeline->step_source == TFS_STEP_NVTX && start_ns == timeline->steps[step].start_ns)
		return false;
	end_ns = tfs_trace_ns(
		timeline->trace, record->start_ticks + (uint64_t)record->duration_ticks);
	if (end_ns > timeline->steps[step].end_ns)
		end_ns = timeline->steps[step].end_ns;
	*out = (struct span){.record = record,
		.start_ns = start_ns,
		.end_ns = end_ns,
		.step = step,
		.thread = thread_of(timeline, record->tid),
		.name = tfs_trace_string(timeline->trace, record->name)};
	return *out->name && end_ns >= start_ns;
}

static int compare_names(const void *left, const void *right)
{
	const struct span *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	if (!order && a->record->domain != b->record->domain)
		order = a->record->domain < b->record->domain ? -1 : 1;
	if (!order && a->start_ns != b->start_ns)
		order = a->start_ns < b->start_ns ? -1 : 1;
	return order;
}

/* How many of the spans from here on are one layer; they are sorted. */
static size_t group(const struct span *spans, size_t count)
{
	size_t same = 1;

	while (same < count && !strcmp(spans[same].name, spans->name) &&
		spans[same].record->domain == spans->record->domain)
		same++;
	return same;
}

/* What has another number in each step is one layer. */
static void join_families(struct search *search)
{
	for (size_t i = 0, same; i < search->count; i += same) {
		const char *name = search->spans[i].name;
		const size_t length = strlen(name), family = tfs_nvtx_family_length(name, length);
		const char *joined;

		same = group(&search->spans[i], search->count - i);
		if (family == length || search->spans[i].step != search->spans[i + same - 1].step ||
			search->steady->step_count < 2)
			continue;
		joined = tfs_arena_print(search->arena, "%.*s #", (int)family, name);
		for (size_t j = i; j < i + same; j++)
			search->spans[j].name = joined;
	}
	qsort(search->spans, search->count, sizeof(*search->spans), compare_names);
}

/* The calls of a span, and what the device did for them. */
static int add_calls(struct search *search, const struct span *span, struct tfs_layer *layer)
{
	const struct tfs_timeline *timeline = search->steady->timeline;
	const struct tfs_host_thread *thread;
	uint32_t nth;
	int err = 0;

	if (span->thread == TFS_NONE)
		return 0;
	thread = &timeline->threads[span->thread];
	nth = tfs_timeline_call_before(timeline, span->thread, span->start_ns - 1);
	nth = nth == TFS_NONE ? thread->first_call : nth + 1;
	for (; nth < thread->first_call + thread->call_count &&
		timeline->calls[nth].start_ns < span->end_ns && !err;
		nth++) {
		const struct tfs_host_call *call = &timeline->calls[nth];

		layer->calls++;
		for (uint32_t i = 0; i < call->op_count && !err; i++) {
			const struct tfs_device_op *op =
				&timeline->ops[timeline->call_ops[call->first_op + i]];

			err = tfs_intervals_add(&search->device, op->start_ns, op->end_ns);
		}
	}
	return err;
}

static int fill(
	struct search *search, const struct span *spans, size_t count, struct tfs_layer *layer)
{
	const struct tfs_timeline *timeline = search->steady->timeline;
	const double steps = search->steady->step_count;
	uint32_t latest = TFS_NONE;
	int err = 0;

	*layer = (struct tfs_layer){.name = spans->name,
		.domain = tfs_trace_string(timeline->trace, spans->record->domain),
		.level = UINT32_MAX};
	tfs_intervals_clear(&search->device);
	for (size_t i = 0; i < count && !err; i++) {
		layer->steps += spans[i].step != latest;
		latest = spans[i].step;
		if (spans[i].record->level < layer->level)
			layer->level = spans[i].record->level;
		layer->host_ns += (double)(spans[i].end_ns - spans[i].start_ns) / steps;
		err = add_calls(search, &spans[i], layer);
	}
	tfs_intervals_unite(&search->device);
	layer->device_ns = search->steady->activity
				   ? (double)tfs_intervals_total(&search->device) / steps
				   : NAN;
	layer->count = (double)count / steps;
	layer->calls /= steps;
	return err;
}

/* A layer's first span, and how long it takes, for choosing and for sorting. */
struct place {
	uint64_t offset_ns; /* in its step */
	double longest_ns;
	struct tfs_layer layer;
};

static int by_length(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	return a->longest_ns > b->longest_ns ? -1 : a->longest_ns < b->longest_ns;
}

static int by_place(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->offset_ns != b->offset_ns)
		return a->offset_ns < b->offset_ns ? -1 : 1;
	if (a->layer.level != b->layer.level)
		return a->layer.level < b->layer.level ? -1 : 1;
	return strcmp(a->layer.name, b->layer.name);
}

static int list(struct search *search, struct tfs_layers *out)
{
	struct place *places = calloc(search->count + 1, sizeof(*places));
	size_t count = 0;
	int err = places ? 0 : -ENOMEM;

	for (size_t i = 0, same; i < search->count && !err; i += same) {
		const struct span *first = &search->spans[i];
		struct place *place = &places[count++];

		same = group(first, search->count - i);
		err = fill(search, first, same, &place->layer);
		place->offset_ns =
			first->start_ns - search->steady->timeline->steps[first->step].start_ns;
		place->longest_ns = fmax(place->layer.host_ns, place->layer.device_ns);
	}
	if (!err) {
		qsort(places, count, sizeof(*places), by_length);
		out->count = count < MOST ? count : MOST;
		out->more = count - out->count;
		qsort(places, out->count, sizeof(*places), by_place);
		out->items = tfs_arena_alloc(search->arena, out->count, sizeof(*out->items));
		err = out->items ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < out->count && !err; i++)
		out->items[i] = places[i].layer;
	free(places);
	return err;
}

int tfs_layers_find(
	const struct tfs_steady *steady, struct tfs_arena *arena, struct tfs_layers *out_layers)
{
	const struct tfs_trace *trace = steady->timeline->trace;
	const size_t records = tfs_trace_count(trace, TFS_RECORD_range);
	struct search search = {.steady = steady,
		.arena = arena,
		.spans = tfs_pages_alloc(records + 1, sizeof(*search.spans))};
	bool *judged = judged_steps(steady);
	int err = search.spans && judged ? 0 : -ENOMEM;

	*out_layers = (struct tfs_layers){0};
	for (size_t i = 0; i < records && !err; i++)
		search.count += make_span(&search, judged, tfs_trace_at(trace, TFS_RECORD_range, i),
			&search.spans[search.count]);
	if (!err && search.count) {
		qsort(search.spans, search.count, sizeof(*search.spans), compare_names);
		join_families(&search);
		err = list(&search, out_layers);
	}
	tfs_intervals_finish(&search.device);
	free(search.spans);
	free(judged);
	return err;
}
