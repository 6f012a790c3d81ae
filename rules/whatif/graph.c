/* SPDX-License-Identifier: MIT */
#include "rules/whatif/graph.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rules/evidence/streams.h"
#include "rules/whatif/device_work.h"
#include "rules/whatif/step_thread.h"

#define MOST_STEPS 256u
#define MOST_CALLS 400000u
/* Of each run: its first one is no evidence. */
#define LEAST_STEPS 3u

/* When the CUDA call of a correlation id was made. */
struct made {
	uint32_t correlation;
	uint64_t start_ns;
};

struct builder {
	const struct tfs_steady *steady;
	struct made *made; /* by correlation */
	size_t made_count;
	uint64_t *events; /* handles, sorted */
	size_t event_count;
	uint16_t *idle; /* streams without work, between which events order others' work; sorted */
	size_t idle_count;
};

static int compare_made(const void *a, const void *b)
{
	uint32_t x = ((const struct made *)a)->correlation,
		 y = ((const struct made *)b)->correlation;

	return (x > y) - (x < y);
}

static int compare_numbers(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int compare_streams(const void *a, const void *b)
{
	return (int)*(const uint16_t *)a - (int)*(const uint16_t *)b;
}

/* The stream that a call is about, where that has no work; else TFS_NO_STREAM. */
static uint16_t idle_stream(const struct tfs_steady *steady, uint32_t position)
{
	const struct tfs_host_call *call = tfs_steady_call(steady, position);

	if (call->op_count || (call->family != TFS_FAMILY_event_record &&
				      call->family != TFS_FAMILY_stream_wait &&
				      call->family != TFS_FAMILY_stream_sync))
		return TFS_NO_STREAM;
	return tfs_stream_of(steady->timeline, call) == TFS_NONE ? call->record->stream
								 : (uint16_t)TFS_NO_STREAM;
}

static void list_idle(struct builder *builder)
{
	size_t unique = 0;

	for (uint32_t i = 0; i < builder->steady->call_count; i++) {
		const uint16_t stream = idle_stream(builder->steady, i);

		if (stream != TFS_NO_STREAM)
			builder->idle[builder->idle_count++] = stream;
	}
	qsort(builder->idle, builder->idle_count, sizeof(*builder->idle), compare_streams);
	for (size_t i = 0; i < builder->idle_count; i++)
		if (!unique || builder->idle[unique - 1] != builder->idle[i])
			builder->idle[unique++] = builder->idle[i];
	builder->idle_count = unique;
}

/* Where a call's stream is in the graph: those without work are behind the others. */
static uint32_t stream_index(const struct builder *builder, uint32_t position)
{
	const uint16_t stream = idle_stream(builder->steady, position);
	const uint16_t *found = bsearch(
		&stream, builder->idle, builder->idle_count, sizeof(stream), compare_streams);

	return found ? builder->steady->timeline->stream_count + (uint32_t)(found - builder->idle)
		     : builder->steady->waits[position].stream;
}

static int builder_init(struct builder *builder, const struct tfs_steady *steady)
{
	const struct tfs_trace *trace = steady->timeline->trace;
	size_t count = tfs_trace_count(trace, TFS_RECORD_device_api), unique = 0;

	memset(builder, 0, sizeof(*builder));
	builder->steady = steady;
	builder->made = malloc((count + 1) * sizeof(*builder->made));
	builder->events = malloc(((size_t)steady->call_count + 1) * sizeof(*builder->events));
	builder->idle = malloc(((size_t)steady->call_count + 1) * sizeof(*builder->idle));
	if (!builder->made || !builder->events || !builder->idle)
		return -ENOMEM;
	list_idle(builder);
	for (size_t i = 0; i < count; i++) {
		const struct tfs_device_api_record *api =
			tfs_trace_at(trace, TFS_RECORD_device_api, i);

		builder->made[i] = (struct made){api->correlation, api->start_ns};
	}
	builder->made_count = count;
	qsort(builder->made, count, sizeof(*builder->made), compare_made);
	for (uint32_t i = 0; i < steady->call_count; i++) {
		uint64_t event =
			tfs_steady_attribute(tfs_steady_call(steady, i), TFS_ATTRIBUTE_event, 0);

		if (event)
			builder->events[builder->event_count++] = event;
	}
	qsort(builder->events, builder->event_count, sizeof(*builder->events), compare_numbers);
	for (size_t i = 0; i < builder->event_count; i++)
		if (!unique || builder->events[unique - 1] != builder->events[i])
			builder->events[unique++] = builder->events[i];
	builder->event_count = unique;
	return 0;
}

static void builder_finish(struct builder *builder)
{
	free(builder->made);
	free(builder->events);
	free(builder->idle);
}

static uint32_t event_index(const struct builder *builder, uint64_t event)
{
	const uint64_t *found = bsearch(
		&event, builder->events, builder->event_count, sizeof(event), compare_numbers);

	return found ? (uint32_t)(found - builder->events) : TFS_NONE;
}

static double submitted(const struct builder *builder, const struct tfs_host_call *call,
	const struct tfs_device_op *op)
{
	struct made key = {.correlation = op->record->correlation};
	const struct made *made =
		bsearch(&key, builder->made, builder->made_count, sizeof(key), compare_made);

	if (!made || made->start_ns < call->start_ns || made->start_ns > call->end_ns)
		return 0;
	return (double)(made->start_ns - call->start_ns);
}

static double relative(uint64_t ns, uint64_t origin)
{
	return ns >= origin ? (double)(ns - origin) : -(double)(origin - ns);
}

static void add_call(
	const struct builder *builder, struct tfs_graph *graph, uint32_t position, uint64_t origin)
{
	const struct tfs_timeline *timeline = builder->steady->timeline;
	const struct tfs_host_call *call = tfs_steady_call(builder->steady, position);
	const struct tfs_waiting *waiting = &builder->steady->waits[position];
	struct tfs_graph_call *node = &graph->calls[graph->calls_count++];

	node->start_ns = relative(call->start_ns, origin);
	node->end_ns = relative(call->end_ns, origin);
	node->thread = call->thread;
	node->stream = stream_index(builder, position);
	node->event = event_index(builder, tfs_steady_attribute(call, TFS_ATTRIBUTE_event, 0));
	node->wait = waiting->wait;
	node->works = waiting->wait == TFS_WAIT_DEVICE && call->family != TFS_FAMILY_device_sync;
	if (call->family == TFS_FAMILY_event_record)
		node->action = TFS_ACTION_RECORD;
	if (call->family == TFS_FAMILY_stream_wait)
		node->action = TFS_ACTION_STREAM_WAIT;
	node->first_op = (uint32_t)graph->ops_count;
	for (uint32_t i = 0; i < call->op_count; i++) {
		const struct tfs_device_op *op =
			&timeline->ops[timeline->call_ops[call->first_op + i]];
		struct tfs_graph_op *operation = &graph->ops[graph->ops_count];

		if (!op->start_ns || op->end_ns < op->start_ns)
			continue;
		operation->start_ns = relative(op->start_ns, origin);
		operation->end_ns = relative(op->end_ns, origin);
		operation->submit_ns = submitted(builder, call, op);
		operation->stream = op->stream;
		/* A copy that waits for its stream lets another stream's pass, and is replayed in
		 * the order of the calls: it would hold that back. */
		operation->engine = op->record->operation == TFS_DEVICE_MEMCPY
					    ? TFS_NONE
					    : tfs_engine_of(timeline, op);
		graph->ops_count++;
	}
	node->ops = (uint32_t)graph->ops_count - node->first_op;
}

static uint32_t stream_flags(const struct builder *builder, uint32_t stream)
{
	const struct tfs_timeline *timeline = builder->steady->timeline;

	if (stream < timeline->stream_count)
		return timeline->streams[stream].flags;
	const struct tfs_stream_record *record = tfs_trace_find(
		timeline->trace, TFS_RECORD_stream, builder->idle[stream - timeline->stream_count]);

	return record ? record->flags : 0;
}

static int add_run(const struct builder *builder, struct tfs_run *run, uint32_t call_count)
{
	const struct tfs_steady *steady = builder->steady;
	const struct tfs_timeline *timeline = steady->timeline;
	struct tfs_graph *graph = &run->graph;
	uint64_t origin = timeline->steps[steady->steps[run->first_step]].start_ns;
	size_t ops = 0;

	for (uint32_t i = 0; i < call_count; i++)
		ops += tfs_steady_call(steady, run->first_call + i)->op_count;
	graph->calls = calloc((size_t)call_count + 1, sizeof(*graph->calls));
	graph->ops = calloc(ops + 1, sizeof(*graph->ops));
	graph->stream_count = timeline->stream_count + (uint32_t)builder->idle_count;
	graph->streams = calloc((size_t)graph->stream_count + 1, sizeof(*graph->streams));
	graph->busy_ns = calloc((size_t)graph->stream_count + 1, sizeof(*graph->busy_ns));
	graph->marks = calloc((size_t)run->steps + 1, sizeof(*graph->marks));
	if (!graph->calls || !graph->ops || !graph->streams || !graph->busy_ns || !graph->marks)
		return -ENOMEM;
	graph->thread_count = timeline->thread_count;
	graph->engine_count = tfs_engine_count(timeline);
	graph->event_count = (uint32_t)builder->event_count;
	for (uint32_t i = 0; i < graph->stream_count; i++) {
		const uint32_t flags = stream_flags(builder, i);

		graph->streams[i].legacy = flags & 1;
		graph->streams[i].blocking = !(flags & 4);
	}
	for (uint32_t i = 0; i < timeline->op_count; i++) {
		const struct tfs_device_op *op = &timeline->ops[i];
		bool before = op->call != TFS_NONE && timeline->calls[op->call].start_ns < origin;

		if (before && op->end_ns > origin &&
			relative(op->end_ns, origin) > graph->busy_ns[op->stream])
			graph->busy_ns[op->stream] = relative(op->end_ns, origin);
	}
	for (uint32_t i = 0; i < call_count; i++)
		add_call(builder, graph, run->first_call + i, origin);
	for (uint32_t i = 0; i <= run->steps; i++) {
		uint32_t last = i == run->steps;
		const struct tfs_step *step =
			&timeline->steps[steady->steps[run->first_step + i - last]];

		graph->marks[i] = relative(last ? step->end_ns : step->start_ns, origin);
	}
	graph->marks_count = (size_t)run->steps + 1;
	graph->main_thread = tfs_step_thread(steady, run->first_step, run->steps);
	return 0;
}

/* Steps follow each other when nothing lies between them. */
static bool follows(const struct tfs_timeline *timeline, uint32_t before, uint32_t after)
{
	return timeline->steps[before].end_ns == timeline->steps[after].start_ns;
}

/* Of so many steps that follow each other, those that are replayed: of all runs the same part, the
 * last ones. */
static uint32_t replayed(const struct tfs_steady *steady, uint32_t steps)
{
	const double part = fmin((double)MOST_STEPS / fmax(steady->step_count, 1),
		(double)MOST_CALLS / fmax(steady->call_count, 1));
	const uint32_t few = steps < LEAST_STEPS ? steps : LEAST_STEPS;

	return part < 1 ? (uint32_t)fmax(few, floor(part * steps)) : steps;
}

/* The first call from this one on that begins at a moment or behind it. */
static uint32_t pass_calls(const struct tfs_steady *steady, uint32_t call, uint64_t ns)
{
	while (call < steady->call_count && tfs_steady_call(steady, call)->start_ns < ns)
		call++;
	return call;
}

int tfs_runs_create(const struct tfs_steady *steady, struct tfs_run **out_runs, size_t *out_count)
{
	const struct tfs_timeline *timeline = steady->timeline;
	struct tfs_run *runs = calloc((size_t)steady->step_count + 1, sizeof(*runs));
	struct builder builder;
	uint32_t call = 0, step = 0;
	size_t count = 0;
	int err = runs ? builder_init(&builder, steady) : -ENOMEM;

	if (!runs)
		return err;
	while (!err && step < steady->step_count) {
		struct tfs_run *run = &runs[count++];

		run->first_step = step++;
		while (step < steady->step_count &&
			follows(timeline, steady->steps[step - 1], steady->steps[step]))
			step++;
		run->steps = replayed(steady, step - run->first_step);
		run->first_step = step - run->steps;
		run->first_call = call = pass_calls(
			steady, call, timeline->steps[steady->steps[run->first_step]].start_ns);
		call = pass_calls(steady, call, timeline->steps[steady->steps[step - 1]].end_ns);
		err = add_run(&builder, run, call - run->first_call);
	}
	builder_finish(&builder);
	if (err) {
		tfs_runs_destroy(runs, count);
		return err;
	}
	*out_runs = runs;
	*out_count = count;
	return 0;
}

void tfs_runs_destroy(struct tfs_run *runs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(runs[i].graph.calls);
		free(runs[i].graph.ops);
		free(runs[i].graph.streams);
		free(runs[i].graph.busy_ns);
		free(runs[i].graph.marks);
	}
	free(runs);
}
