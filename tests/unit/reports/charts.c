/* SPDX-License-Identifier: MIT */
/* What is drawn: step times, what chosen steps looked like inside, shares of the GPU's time and the
 * tree of call sites, of recordings whose figures are known. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "tests/unit/reports/made_model.h"

#define MS UINT64_C(1000000)
#define ORIGIN_NS 1000 /* start of a made-up recording */
#define MANY 8001u
#define PACK 600u /* steps to a record */

/* Steps 1 to 4 outside of windows, with a rewrite on; step 4 is marked as well, and so are those up
 * to step 8. */
static void steps_in_their_order(void)
{
	static const float outside[] = {1e6f, 3e6f, 2e6f, 5e6f};
	static const struct {
		double start_ms, ms;
		enum tfs_chart_phase phase;
		bool in_window, rewritten;
	} known[] = {{10, 1, TFS_CHART_TRAINING, false, true},
		{11, 3, TFS_CHART_TRAINING, false, true}, {14, 2, TFS_CHART_TRAINING, false, true},
		{40, 4, TFS_CHART_TRAINING, true, false}, {44, 6, TFS_CHART_TRAINING, true, true},
		{50, 2, TFS_CHART_EVALUATION, true, false},
		{52, 7, TFS_CHART_WARMUP, false, false}};
	struct builder *builder = builder_create();
	struct made_model made;

	builder_window(builder, true, 1, 39 * MS, 3);
	builder_step(builder, 4, 40 * MS, TFS_PHASE_TRAINING, 0);
	builder_step(builder, 5, 44 * MS, TFS_PHASE_TRAINING, 1);
	builder_step(builder, 6, 50 * MS, TFS_PHASE_EVALUATION, 0);
	builder_step(builder, 7, 52 * MS, TFS_PHASE_WARMUP, 0);
	builder_step(builder, 8, 59 * MS, TFS_PHASE_OTHER, 0);
	builder_window(builder, false, 1, 53 * MS, 3);
	builder_steps(builder, 1, 10 * MS, 4, outside, 1);
	made_model_open(&made, builder);
	tfs_build_charts(&made.build);
	const struct tfs_model_charts *charts = &made.model.charts;

	TEST_NEED(charts->step_count == sizeof(known) / sizeof(known[0]));
	TEST_EQ(charts->steps_merged, 1);
	for (size_t i = 0; i < charts->step_count; i++) {
		const struct tfs_chart_step *step = &charts->steps[i];

		TEST_EQ(step->index, i + 1);
		TEST_EQ(step->start_ns, known[i].start_ms * MS - ORIGIN_NS);
		TEST_EQ(step->duration_ns, known[i].ms * MS);
		TEST_EQ(step->phase, known[i].phase);
		TEST_EQ(step->in_window, known[i].in_window);
		TEST_EQ(step->rewritten, known[i].rewritten);
	}
	made_model_close(&made);
}

static float duration_of(unsigned step)
{
	return (float)(1000 + step * 7919 % 97);
}

/* One of three in a row stands for them: the longest. */
static void many_steps_merged(void)
{
	struct builder *builder = builder_create();
	float durations[PACK];
	struct made_model made;

	for (unsigned first = 0; first < MANY; first += PACK) {
		const unsigned count = first + PACK < MANY ? PACK : MANY - first;

		for (unsigned i = 0; i < count; i++)
			durations[i] = duration_of(first + i);
		builder_steps(
			builder, first, 10 * MS + first * UINT64_C(2000), count, durations, 0);
	}
	made_model_open(&made, builder);
	tfs_build_charts(&made.build);
	const struct tfs_model_charts *charts = &made.model.charts;

	TEST_EQ(charts->steps_merged, 3);
	TEST_NEED(charts->step_count == MANY / 3);
	for (unsigned i = 0; i < MANY / 3; i++) {
		unsigned longest = 3 * i;

		for (unsigned j = 3 * i + 1; j < 3 * i + 3; j++)
			longest = duration_of(j) > duration_of(longest) ? j : longest;
		TEST_EQ(charts->steps[i].index, longest);
		TEST_EQ(charts->steps[i].duration_ns, duration_of(longest));
	}
	made_model_close(&made);
}

/* A call, and work of the device that it causes. */
struct call {
	enum tfs_family family;
	const char *name;
	double start_ms, end_ms;
	uint16_t operation; /* 0 = none */
	uint16_t copy_kind;
	double work_ms, until_ms;
	enum tfs_lane lane, work_lane;
	const char *work; /* its name */
	unsigned site;
};

/* The fourth step, from its start on. It takes 12 ms. */
static const struct call calls[] = {
	{TFS_FAMILY_copy_async, "cudaMemcpyAsync", 0.1, 0.2, TFS_DEVICE_MEMCPY, 1, 0.5, 1.5,
		TFS_LANE_HOST, TFS_LANE_H2D, "copy", 1},
	{TFS_FAMILY_launch, "cudaLaunchKernel", 0.2, 0.3, TFS_DEVICE_KERNEL, 0, 1, 3, TFS_LANE_HOST,
		TFS_LANE_COMPUTE, "scale", 2},
	{TFS_FAMILY_copy_async, "cudaMemcpyAsync", 0.3, 0.4, TFS_DEVICE_MEMCPY, 2, 4, 5,
		TFS_LANE_HOST, TFS_LANE_D2H, "copy", 1},
	{TFS_FAMILY_copy_async, "cudaMemcpyAsync", 0.4, 0.5, TFS_DEVICE_MEMCPY, 8, 2, 5.5,
		TFS_LANE_HOST, TFS_LANE_D2D, "copy", 1},
	{TFS_FAMILY_set_async, "cudaMemsetAsync", 0.5, 0.6, TFS_DEVICE_MEMSET, 0, 6, 6.5,
		TFS_LANE_HOST, TFS_LANE_D2D, "memset", 3},
	{TFS_FAMILY_graph_launch, "cudaGraphLaunch", 0.6, 0.7, TFS_DEVICE_GRAPH, 0, 6.5, 7,
		TFS_LANE_HOST, TFS_LANE_COMPUTE, "graph", 4},
	{TFS_FAMILY_collective, "ncclAllReduce", 0.7, 0.8, TFS_DEVICE_KERNEL, 0, 7, 8,
		TFS_LANE_HOST, TFS_LANE_NCCL, "scale", 5},
	{TFS_FAMILY_device_sync, "cudaDeviceSynchronize", 1, 8.5, 0, 0, 0, 0, TFS_LANE_SYNC, 0,
		NULL, 6},
	{TFS_FAMILY_stream_sync, "cudaStreamSynchronize", 8.6, 8.7, 0, 0, 0, 0, TFS_LANE_SYNC, 0,
		NULL, 6},
	{TFS_FAMILY_event_sync, "cudaEventSynchronize", 8.7, 8.8, 0, 0, 0, 0, TFS_LANE_SYNC, 0,
		NULL, 6},
	/* It ends 1 ms within the next step. */
	{TFS_FAMILY_launch, "cudaLaunchKernel", 9, 9.1, TFS_DEVICE_KERNEL, 0, 11, 13, TFS_LANE_HOST,
		TFS_LANE_COMPUTE, "scale", 7},
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))
#define SITES 8u

static const struct {
	double ms;
	const char *title;
} steps[] = {{10, "first"}, {14, "95th percentile"}, {30, "worst"}, {12, "median"}, {11, "last"}};
#define STEPS (sizeof(steps) / sizeof(steps[0]))
#define FIRST_MS 100.0

static uint64_t ns_of(double ms)
{
	return (uint64_t)llround(ms * (double)MS);
}

static double step_start_ms(size_t nth)
{
	double ms = FIRST_MS;

	for (size_t i = 0; i < nth; i++)
		ms += steps[i].ms;
	return ms;
}

static void put_calls(struct builder *builder)
{
	const double base_ms = step_start_ms(3);
	const uint32_t kernel = builder_kernel(builder, "scale");
	const uint16_t stream = builder_stream(builder, 0, 7, 1);
	uint16_t functions[CALLS];
	uint32_t sites[SITES];

	for (unsigned i = 0; i < SITES; i++) {
		/* Sites 1 and 2 are called by one function, the others by another. */
		const uint64_t frames[] = {
			0x401000 + i * 16, i < 3 ? 0x500000 : 0x600000, 0x700000};

		sites[i] = builder_site(builder, 3, frames);
	}
	for (size_t i = 0; i < CALLS; i++) {
		const struct call *from = &calls[i];
		size_t first = 0;

		while (strcmp(calls[first].name, from->name) != 0)
			first++;
		functions[i] = first < i ? functions[first]
					 : builder_function(builder, TFS_LIBRARY_cudart,
						   from->family, from->name);
		const struct builder_call call = {.function = functions[i],
			.stream = stream,
			.site = sites[from->site],
			.start_ns = ns_of(base_ms + from->start_ms),
			.duration_ns = ns_of(from->end_ms - from->start_ms),
			.amount = 100};
		const uint32_t unit = builder_call(builder, &call);
		const struct tfs_aggregate sum = {.site = call.site,
			.function = call.function,
			.count = 2,
			.amount = 200,
			.ticks = 2 * call.duration_ns,
			.first_ticks = call.start_ns};

		builder_aggregate(builder, &sum);
		if (!from->operation)
			continue;
		builder_link(builder, unit, (uint32_t)i + 1);
		builder_device_op(builder, from->operation,
			from->operation == TFS_DEVICE_KERNEL ? kernel : from->copy_kind, 7,
			(uint32_t)i + 1, ns_of(base_ms + from->work_ms),
			ns_of(base_ms + from->until_ms), 100);
	}
}

static void make_run(struct made_model *made)
{
	struct builder *builder = builder_create();

	builder_device(builder, 0, "a device", false);
	builder_window(builder, true, 1, ns_of(FIRST_MS - 1), 3);
	for (size_t i = 0; i < STEPS; i++)
		builder_step(builder, i + 1, ns_of(step_start_ms(i)), TFS_PHASE_TRAINING, 2);
	builder_step(builder, STEPS + 1, ns_of(step_start_ms(STEPS)), TFS_PHASE_OTHER, 2);
	builder_window(builder, false, 1, ns_of(step_start_ms(STEPS) + 1), 3);
	put_calls(builder);
	made_model_open(made, builder);
	TEST_NEED(made->timeline->judged_count == STEPS);
}

/* How many spans of a step are on a lane, from and to, with this name. */
static unsigned spans_like(const struct tfs_model_charts *charts,
	const struct tfs_chart_detail *detail, enum tfs_lane lane, double from_ms, double to_ms,
	const char *name)
{
	unsigned count = 0;

	for (size_t i = 0; i < detail->span_count; i++) {
		const struct tfs_chart_span *span = &detail->spans[i];

		count += span->lane == lane && llround(span->start_ns) == llround(from_ms * 1e6) &&
			 llround(span->end_ns) == llround(to_ms * 1e6) &&
			 span->name < charts->name_count &&
			 !strcmp(charts->names[span->name], name);
	}
	return count;
}

static void inside_chosen_steps(void)
{
	static const size_t chosen[] = {3, 1, 2, 0, 4};
	size_t spans = CALLS;
	struct made_model made;

	make_run(&made);
	tfs_build_lanes(&made.build);
	const struct tfs_model_charts *charts = &made.model.charts;

	TEST_NEED(charts->detail_count == STEPS);
	for (size_t i = 0; i < STEPS; i++) {
		TEST_STR(charts->details[i].title, steps[chosen[i]].title);
		TEST_EQ(charts->details[i].index, chosen[i] + 1);
		TEST_EQ(charts->details[i].duration_ns, steps[chosen[i]].ms * 1e6);
	}
	const struct tfs_chart_detail *detail = &charts->details[0];

	for (size_t i = 0; i < CALLS; i++) {
		const struct call *call = &calls[i];

		if (TEST_EQ(spans_like(charts, detail, call->lane, call->start_ms, call->end_ms,
				    call->name),
			    1) &&
			call->operation &&
			!TEST_EQ(spans_like(charts, detail, call->work_lane, call->work_ms,
					 fmin(call->until_ms, 12), call->work),
				1))
			printf("the work of %s\n", call->name);
		spans += call->operation != 0;
	}
	TEST_EQ(detail->span_count, spans);
	for (size_t i = 1; i < detail->span_count; i++) {
		const struct tfs_chart_span *one = &detail->spans[i - 1], *next = one + 1;

		TEST_TRUE(one->lane < next->lane ||
			  (one->lane == next->lane && one->start_ns <= next->start_ns));
	}
	/* What is left of the last kernel. */
	TEST_EQ(charts->details[4].span_count, 1);
	TEST_EQ(spans_like(charts, &charts->details[4], TFS_LANE_COMPUTE, 0, 1, "scale"), 1);
	TEST_EQ(charts->details[1].span_count, 0);
	made_model_close(&made);
}

/* A step that is chosen for two reasons is shown once. */
static void steps_chosen_once(void)
{
	struct builder *builder = builder_create();
	struct made_model made;

	builder_window(builder, true, 1, 9 * MS, 3);
	for (unsigned i = 0; i < 2; i++)
		builder_step(builder, i + 1, (10 + i) * MS, TFS_PHASE_TRAINING, 2);
	builder_step(builder, 3, 13 * MS, TFS_PHASE_OTHER, 2);
	builder_window(builder, false, 1, 14 * MS, 3);
	made_model_open(&made, builder);
	tfs_build_lanes(&made.build);
	const struct tfs_model_charts *charts = &made.model.charts;

	TEST_EQ(charts->detail_count, 2);
	TEST_STR(charts->details[0].title, "median");
	TEST_EQ(charts->details[0].index, 1);
	TEST_STR(charts->details[1].title, "worst");
	TEST_EQ(charts->details[1].index, 2);
	made_model_close(&made);
}

#define SHARES 5u

/* Of 77 ms in five steps. */
static void shares_of_the_gpu(void)
{
	/* The fourth step's are 3 ms behind the wait, and half a millisecond before the memset. */
	static const struct {
		const char *name;
		double ms;
	} known[SHARES] = {{"computing", 6}, {"only copying", 3},
		{"idle, queue empty after the host synchronised", 3},
		{"idle, with work queued (latency, dependencies)", 0.5},
		{"idle, reason unknown", 64.5}};
	struct made_model made;

	make_run(&made);
	tfs_build_charts(&made.build);
	const struct tfs_model_charts *charts = &made.model.charts;

	/* Kernels, memset and graph take 2, 0.5, 0.5, 1 and 2 ms; copies alone 0.5 and 2.5. */
	TEST_EQ(1e6 * made.model.steps.gpu_busy, 1e6 * 9 / 77);
	/* 2 ms between host and device, of which a kernel runs beside half a millisecond. */
	TEST_EQ(1e6 * made.model.steps.copy_overlap, 250000);
	TEST_EQ(charts->share_count, SHARES);
	for (size_t i = 0; i < charts->share_count && i < SHARES; i++) {
		TEST_STR(charts->shares[i].name, known[i].name);
		TEST_EQ(charts->shares[i].busy, i < 2);
		TEST_IN(charts->shares[i].ns_per_step, known[i].ms * 1e6 / STEPS - 1,
			known[i].ms * 1e6 / STEPS + 1);
	}
	made_model_close(&made);

	/* The host's steps are not the device's where it runs ahead. */
	make_run(&made);
	made.model.steps.ahead = true;
	made.model.steps.gpu_busy = 0.5;
	tfs_build_charts(&made.build);
	TEST_EQ(made.model.charts.share_count, 0);
	TEST_EQ(100 * made.model.steps.gpu_busy, 50);
	made_model_close(&made);
}

static size_t node_called(const struct tfs_model_charts *charts, size_t parent, const char *name)
{
	for (size_t i = charts->nodes[parent].first_child; i; i = charts->nodes[i].next)
		if (!strcmp(charts->nodes[i].name, name))
			return i;
	TEST_TRUE(!"there is such a node");
	return 0;
}

static void a_tree_of_calls(void)
{
	struct made_model made;

	make_run(&made);
	tfs_build_tree(&made.build);
	const struct tfs_model_charts *charts = &made.model.charts;
	const struct tfs_chart_node *root = &charts->nodes[0];
	double host_ms = 0, gpu_ms = 0;

	for (size_t i = 0; i < CALLS; i++) {
		host_ms += 2 * (calls[i].end_ms - calls[i].start_ms);
		gpu_ms += calls[i].until_ms - calls[i].work_ms;
	}
	TEST_STR(root->name, "whole program");
	TEST_EQ(root->calls, 2 * CALLS);
	TEST_EQ(root->bytes, 200 * CALLS);
	TEST_IN(root->host_ns, host_ms * 1e6 - 9, host_ms * 1e6 + 9);
	TEST_IN(root->gpu_ns, gpu_ms * 1e6 - 9, gpu_ms * 1e6 + 9);
	TEST_EQ(root->own_host_ns, 0);
	const size_t outer = node_called(charts, 0, "0x700000");
	const size_t copies = node_called(charts, outer, "0x500000");
	const size_t site = node_called(charts, copies, "0x401010");
	const size_t copy = node_called(charts, site, "cudaMemcpyAsync");

	TEST_EQ(charts->nodes[0].first_child, outer);
	TEST_EQ(charts->nodes[outer].next, 0);
	/* 15 ms of waits are in the other function. */
	TEST_STR(charts->nodes[charts->nodes[outer].first_child].name, "0x600000");
	TEST_EQ(charts->nodes[copies].calls, 8);
	TEST_EQ(charts->nodes[copies].own_host_ns, 0);
	TEST_EQ(charts->nodes[site].calls, 6);
	TEST_IN(charts->nodes[site].gpu_ns, 5.5e6 - 9, 5.5e6 + 9);
	TEST_IN(charts->nodes[site].own_gpu_ns, 5.5e6 - 9, 5.5e6 + 9);
	TEST_IN(charts->nodes[site].own_host_ns, 6e5 - 9, 6e5 + 9);
	TEST_TRUE(charts->nodes[copy].is_call && !charts->nodes[site].is_call);
	TEST_STR(charts->nodes[copy].place, "0x401010");
	TEST_EQ(charts->nodes[copy].calls, 6);
	made_model_close(&made);
}

static void a_tree_without_a_gpu(void)
{
	struct builder *builder = builder_create();
	const uint64_t frame = 0x401000;
	const struct tfs_aggregate sum = {.site = builder_site(builder, 1, &frame),
		.function = builder_function(
			builder, TFS_LIBRARY_cudart, TFS_FAMILY_launch, "cudaLaunchKernel"),
		.count = 3,
		.ticks = 900,
		.first_ticks = 5000};
	struct made_model made;

	builder_aggregate(builder, &sum);
	made_model_open(&made, builder);
	tfs_build_tree(&made.build);
	TEST_NEED(made.model.charts.node_count == 3);
	for (size_t i = 0; i < 3; i++) {
		TEST_EQ(made.model.charts.nodes[i].calls, 3);
		TEST_EQ(made.model.charts.nodes[i].host_ns, 900);
		TEST_TRUE(isnan(made.model.charts.nodes[i].gpu_ns));
	}
	made_model_close(&made);
}

int main(void)
{
	steps_in_their_order();
	many_steps_merged();
	inside_chosen_steps();
	steps_chosen_once();
	shares_of_the_gpu();
	a_tree_of_calls();
	a_tree_without_a_gpu();
	return test_result();
}
