/* SPDX-License-Identifier: MIT */
/* What a report lists: the GPU's idle time that no finding is about, the most expensive call sites
 * of a run, and calls with the sizes that a baseline compares. */
#include <math.h>
#include <string.h>

#include "reports/formats/colour.h"
#include "reports/formats/text_tables.h"
#include "rules/timeline/pairs.h"
#include "tests/test.h"
#include "tests/unit/reports/made_model.h"

#define MS UINT64_C(1000000)
#define SITES 12u

/* A recording with a few call sites; which of them read alike, is said where they are made. */
struct made {
	struct builder *builder;
	uint16_t copy, launch;
	uint32_t sites[SITES];
	struct made_model of;
};

/* All but the last site have a line of their own; the last is the first one's, called by another.
 */
static void begin(struct made *made)
{
	memset(made, 0, sizeof(*made));
	made->builder = builder_create();
	made->copy =
		builder_function(made->builder, TFS_LIBRARY_cudart, TFS_FAMILY_copy, "cudaMemcpy");
	made->launch = builder_function(
		made->builder, TFS_LIBRARY_cudart, TFS_FAMILY_launch, "cudaLaunchKernel");
	for (unsigned i = 0; i < SITES; i++) {
		const unsigned line = i % (SITES - 1);
		char place[32];

		snprintf(place, sizeof(place), "train.py:%u", 10 + line);
		const uint64_t frames[] = {TFS_FRAME(builder_string(made->builder, "step"),
						   builder_string(made->builder, place)),
			TFS_FRAME(builder_string(made->builder, i < SITES - 1 ? "one" : "other"),
				builder_string(made->builder, "main.py:1"))};

		made->sites[i] = builder_site(made->builder, 2, frames);
	}
}

/* Of 1 ms idle; the sites 0 and 11 read alike. */
static void idle_time_that_is_left(void)
{
	static const struct tfs_chart_share shares[] = {
		{"computing", 3e6, true}, {"idle", 4e5, false}, {"idle too", 6e5, false}};
	struct made made;

	begin(&made);
	made_model_open(&made.of, made.builder);
	struct tfs_idle_owner owners[] = {{.why = TFS_IDLE_CALL,
						  .site = made.sites[3],
						  .function = made.copy,
						  .ns = 5e5,
						  .explained = true},
		{.why = TFS_IDLE_HOST, .site = made.sites[0], .function = made.launch, .ns = 1e5},
		{.why = TFS_IDLE_QUEUED, .ns = 2e5},
		{.why = TFS_IDLE_HOST,
			.site = made.sites[11],
			.function = made.launch,
			.ns = 1.5e5,
			.samples = "it slept"},
		{.why = TFS_IDLE_DRAINED, .ns = 9e3},
		{.why = TFS_IDLE_HOST, .site = made.sites[0], .function = made.copy, .ns = 2e4}};

	made.of.judgement.idle = (struct tfs_idle_summary){owners, 6, 9.79e5, 5e5};
	made.of.model.charts.shares = shares;
	made.of.model.charts.share_count = 3;
	tfs_build_idle(&made.of.build);
	const struct tfs_model *model = &made.of.model;

	TEST_EQ(model->idle_ns, 1000000);
	TEST_EQ(1000 * model->idle_explained, 500);
	/* What is less than a hundredth is left out. */
	if (TEST_EQ(model->idle_count, 3)) {
		TEST_EQ(model->idles[0].ns, 250000);
		TEST_STR(model->idles[0].key, "host");
		TEST_STR(model->idles[0].function, "cudaLaunchKernel");
		TEST_STR(model->idles[0].where, "train.py:10");
		TEST_STR(model->idles[0].text,
			"the host made no CUDA call after cudaLaunchKernel, train.py:10: it slept");
		TEST_EQ(model->idles[1].ns, 200000);
		TEST_STR(model->idles[1].text, "work was queued: latency or dependencies");
		TEST_TRUE(!model->idles[1].function && !model->idles[1].where);
		TEST_STR(model->idles[2].text,
			"the host ran its own code after cudaMemcpy, train.py:10");
	}
	/* Three at most; and no more is explained than there is. */
	owners[0].explained = false;
	made.of.judgement.idle.explained_ns = 2e6;
	tfs_build_idle(&made.of.build);
	TEST_EQ(1000 * model->idle_explained, 1000);
	if (TEST_EQ(model->idle_count, 3)) {
		TEST_STR(model->idles[0].text, "the host was inside cudaMemcpy, train.py:13");
		TEST_EQ(model->idles[2].ns, 200000);
	}
	/* Where the GPU is never idle, nothing explains it. */
	made.of.model.charts.share_count = 1;
	made.of.model.idle_count = 0;
	tfs_build_idle(&made.of.build);
	TEST_EQ(model->idle_ns, 0);
	TEST_EQ(model->idle_count, 0);
	made.of.model.charts.share_count = 0;
	tfs_build_idle(&made.of.build);
	TEST_TRUE(isnan(model->idle_ns));
	made_model_close(&made.of);
}

/* No sentence ends before the name that is missing. */
static void idle_time_of_unknown_calls(void)
{
	static const struct tfs_chart_share share = {"idle", 1e6, false};
	static const struct {
		struct tfs_idle_owner owner;
		const char *text;
	} cases[] = {
		{{.why = TFS_IDLE_CALL},
			"the host was inside a CUDA call whose call site is not known"},
		{{.why = TFS_IDLE_HOST},
			"the host ran its own code; the call before it is not known"},
		{{.why = TFS_IDLE_HOST, .samples = "it slept"},
			"the host made no CUDA call: it slept"},
		{{.why = TFS_IDLE_DRAINED}, "no work was queued after the host synchronised"},
	};
	struct made made;

	begin(&made);
	made_model_open(&made.of, made.builder);
	made.of.model.charts.shares = &share;
	made.of.model.charts.share_count = 1;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tfs_idle_owner owner = cases[i].owner;

		owner.ns = 1e6;
		made.of.judgement.idle = (struct tfs_idle_summary){&owner, 1, 1e6, 0};
		tfs_build_idle(&made.of.build);
		if (TEST_EQ(made.of.model.idle_count, 1))
			TEST_STR(made.of.model.idles[0].text, cases[i].text);
	}
	made_model_close(&made.of);
}

/* What the text report says of them. */
static void check_text(const struct made *made, const char *want)
{
	struct tfs_arena arena = {0};
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	TEST_NEED(out);
	tfs_text_expenses(&made->of.model, out, &tfs_paint_plain, &arena);
	fclose(out);
	TEST_STR(text, want);
	free(text);
	TEST_EQ(tfs_arena_finish(&arena), 0);
}

/* Twelve call sites, of which two read alike: ten are listed, and one is not. */
static void expensive_call_sites(void)
{
	struct tfs_expense items[SITES];
	struct made made;

	begin(&made);
	made_model_open(&made.of, made.builder);
	/* 2, 4, 6 ... ms; the first and the last are 26 together. */
	for (unsigned i = 0; i < SITES; i++)
		items[i] = (struct tfs_expense){
			made.sites[i], made.copy, i + 1, (i + 1) * 2.0 * (double)MS};
	made.of.judgement.expenses[TFS_EXPENSE_DEVICE] =
		(struct tfs_expenses){items, SITES, 2e8, 5 * (double)MS};
	made.of.judgement.expenses[TFS_EXPENSE_BYTES] = (struct tfs_expenses){items, 1, 0, 0};
	tfs_build_expenses(&made.of.build);
	const struct tfs_model *model = &made.of.model;

	/* No call blocked. */
	TEST_NEED(model->expense_count == 2);
	const struct tfs_model_expenses *list = &model->expenses[0];

	TEST_STR(list->key, "gpu");
	TEST_TRUE(!list->bytes && model->expenses[1].bytes);
	TEST_EQ(list->count, 10);
	TEST_STR(list->items[0].where, "train.py:10");
	TEST_EQ(list->items[0].sites, 2);
	TEST_EQ(list->items[0].calls, 13);
	TEST_EQ(list->items[0].amount, 26 * MS);
	for (unsigned i = 1; i < list->count; i++)
		TEST_EQ(list->items[i].amount, (24 - 2 * i) * MS);
	TEST_EQ(list->more, 1);
	TEST_EQ(list->more_amount, 4 * MS);
	TEST_EQ(list->unowned, 5 * MS);
	TEST_EQ(list->whole, 200 * MS);
	TEST_STR(model->verdict,
		"no steps were found; the whole run: cudaMemcpy at train.py:10 takes 26.0 ms of the "
		"GPU time, which is 13 % of the time in which GPU activity was recorded");
	TEST_TRUE(isnan(model->expenses[1].whole));
	check_text(&made,
		"\n"
		"WHOLE RUN most expensive call sites\n"
		"  GPU time, with the share of the time in which GPU activity was recorded\n"
		"     26.0 ms    13 %        13  cudaMemcpy  train.py:10 (2 callers)\n"
		"     22.0 ms    11 %        11  cudaMemcpy  train.py:20\n"
		"     20.0 ms    10 %        10  cudaMemcpy  train.py:19\n"
		"     18.0 ms   9.0 %         9  cudaMemcpy  train.py:18\n"
		"     16.0 ms   8.0 %         8  cudaMemcpy  train.py:17\n"
		"     14.0 ms   7.0 %         7  cudaMemcpy  train.py:16\n"
		"     12.0 ms   6.0 %         6  cudaMemcpy  train.py:15\n"
		"     10.0 ms   5.0 %         5  cudaMemcpy  train.py:14\n"
		"     8.00 ms   4.0 %         4  cudaMemcpy  train.py:13\n"
		"     6.00 ms   3.0 %         3  cudaMemcpy  train.py:12\n"
		"     4.00 ms   2.0 %            1 more call site\n"
		"     5.00 ms   2.5 %            of calls that are not in the recording\n"
		"  bytes copied and set, with the share of all bytes\n"
		"    1.91 MiB       ?         1  cudaMemcpy  train.py:10\n");
	made_model_close(&made.of);
}

/* Bytes are no time: no verdict is made of them; nor are there lists where steps are judged. */
static void expenses_without_time(void)
{
	struct tfs_expense item;
	struct made made;

	begin(&made);
	made_model_open(&made.of, made.builder);
	item = (struct tfs_expense){made.sites[0], made.copy, 1, 1e6};
	made.of.judgement.expenses[TFS_EXPENSE_BYTES] = (struct tfs_expenses){&item, 1, 1e6, 0};
	made.of.judgement.expenses[TFS_EXPENSE_BLOCKED] = (struct tfs_expenses){&item, 0, 1e6, 7};
	tfs_build_expenses(&made.of.build);
	TEST_EQ(made.of.model.expense_count, 2);
	TEST_TRUE(!made.of.model.verdict);
	made.of.model.steps.judged = 1;
	made.of.model.expense_count = 0;
	tfs_build_expenses(&made.of.build);
	TEST_EQ(made.of.model.expense_count, 0);
	made_model_close(&made.of);
}

static struct builder_call call_of(
	const struct made *made, uint16_t function, unsigned site, uint64_t ms)
{
	return (struct builder_call){.function = function,
		.site = made->sites[site],
		.start_ns = ms * MS,
		.duration_ns = 1000,
		.amount = 64};
}

static const struct tfs_model_call *called(const struct tfs_model *model, const char *function)
{
	for (size_t i = 0; i < model->call_count; i++)
		if (!strcmp(model->calls[i].function, function))
			return &model->calls[i];
	TEST_TRUE(!"there is such a call");
	exit(1);
}

static void count(struct made *made, const struct builder_call *call, uint64_t calls)
{
	const struct tfs_aggregate sum = {.site = call->site,
		.function = call->function,
		.count = calls,
		.amount = calls * call->amount,
		.first_ticks = call->start_ns};

	builder_aggregate(made->builder, &sum);
}

/* Two steps are judged, in which each call is made twice, or a launch once. */
static void put_sized_calls(struct made *made)
{
	const int32_t fields[TFS_PROBLEM_n + 1] = {[TFS_PROBLEM_n] = 32};
	const uint32_t problem = builder_problem(made->builder, fields, TFS_PROBLEM_n + 1);
	const uint16_t gemm = builder_function(
		made->builder, TFS_LIBRARY_cublas, TFS_FAMILY_gemm, "cublasSgemm_v2");
	const uint16_t conv = builder_function(made->builder, TFS_LIBRARY_cudnn,
		TFS_FAMILY_conv_forward, "cudnnConvolutionForward");
	const uint16_t old = builder_function(
		made->builder, TFS_LIBRARY_cuda, TFS_FAMILY_launch, "cuLaunchKernel");

	for (unsigned step = 0; step < 2; step++) {
		const uint64_t ms = 10 + step * 10;

		for (unsigned i = 0; i < 2; i++) {
			struct builder_call call = call_of(made, gemm, 0, ms + 1 + i);

			builder_attribute(&call, TFS_ATTRIBUTE_shape_m, 100 + step);
			builder_attribute(&call, TFS_ATTRIBUTE_shape_n, 20);
			builder_attribute(&call, TFS_ATTRIBUTE_shape_k, 3);
			builder_operand(&call, TFS_ROLE_READ, 0x10000, 1000);
			builder_operand(&call, TFS_ROLE_WRITE, 0x20000, 2000);
			builder_call(made->builder, &call);
			call = call_of(made, conv, 1, ms + 3 + i);
			builder_attribute(&call, TFS_ATTRIBUTE_problem, problem);
			builder_call(made->builder, &call);
		}
		struct builder_call call = call_of(made, made->launch, 2, ms + 6);

		builder_attribute(&call, TFS_ATTRIBUTE_grid, UINT64_C(5) | UINT64_C(7) << 32);
		builder_attribute(&call, TFS_ATTRIBUTE_kernel, 1);
		builder_operand(&call, TFS_ROLE_READ, 0x10000, 1000);
		builder_call(made->builder, &call);
		call = call_of(made, old, 3, ms + 7);
		builder_attribute(&call, TFS_ATTRIBUTE_launch,
			UINT64_C(9) | UINT64_C(70000) << 16 | UINT64_C(256) << 48);
		builder_call(made->builder, &call);
	}
	const struct builder_call all[] = {call_of(made, gemm, 0, 11), call_of(made, conv, 1, 13),
		call_of(made, made->launch, 2, 16), call_of(made, old, 3, 17)};

	/* Most of the run is not recorded. */
	for (unsigned i = 0; i < 4; i++)
		count(made, &all[i], 1000 + i);
	/* No step has these; what differs in lines alone is one. */
	const struct builder_call one = call_of(made, made->copy, 4, 5),
				  other = call_of(made, made->copy, 5, 6);

	count(made, &one, 3);
	count(made, &other, 4);
}

static void calls_and_their_sizes(void)
{
	struct made made;

	begin(&made);
	builder_window(made.builder, true, 1, 9 * MS, 3);
	builder_step(made.builder, 1, 10 * MS, TFS_PHASE_TRAINING, 2);
	builder_step(made.builder, 2, 20 * MS, TFS_PHASE_TRAINING, 2);
	builder_step(made.builder, 3, 30 * MS, TFS_PHASE_OTHER, 2);
	builder_window(made.builder, false, 1, 31 * MS, 3);
	put_sized_calls(&made);
	made_model_open(&made.of, made.builder);
	TEST_NEED(made.of.timeline->judged_count == 2);
	tfs_build_calls(&made.of.build);
	TEST_EQ(made.of.model.call_count, 5);
	const struct tfs_model_call *call = called(&made.of.model, "cublasSgemm_v2");

	TEST_EQ(call->count, 1000);
	TEST_EQ(call->amount, 64000);
	TEST_EQ(call->per_step, 2);
	TEST_EQ(call->bytes_per_step, 128);
	TEST_EQ(call->sizes[TFS_MODEL_SIZE_M], 201);
	TEST_EQ(call->sizes[TFS_MODEL_SIZE_N], 40);
	TEST_EQ(call->sizes[TFS_MODEL_SIZE_K], 6);
	TEST_EQ(call->sizes[TFS_MODEL_SIZE_OPERANDS], 2000);
	TEST_EQ(call->sizes[TFS_MODEL_SIZE_OPERANDS + 1], 4000);
	TEST_EQ(call->sizes[TFS_MODEL_SIZE_IMAGES], 0);
	call = called(&made.of.model, "cudnnConvolutionForward");
	TEST_EQ(call->sizes[TFS_MODEL_SIZE_IMAGES], 64);
	call = called(&made.of.model, "cudaLaunchKernel");
	TEST_EQ(call->per_step, 1);
	TEST_EQ(call->sizes[TFS_MODEL_SIZE_BLOCKS], 35);
	TEST_EQ(call->sizes[TFS_MODEL_SIZE_OPERANDS], 0);
	call = called(&made.of.model, "cuLaunchKernel");
	TEST_EQ(call->sizes[TFS_MODEL_SIZE_BLOCKS], 70000);
	call = called(&made.of.model, "cudaMemcpy");
	TEST_EQ(call->count, 7);
	TEST_EQ(call->amount, 7 * 64);
	TEST_EQ(call->per_step, 0);
	TEST_EQ(call->bytes_per_step, 0);
	TEST_TRUE(made.of.model.works && made.of.model.computes);
	made_model_close(&made.of);
}

/* What the shim says of itself is listed under a name, not under the key that it is recorded by. */
static void facts_and_their_names(void)
{
	static const char *const names[][2] = {{"cupti", "GPU activity (CUPTI)"},
		{"steps", "search for steps"}, {"steps.warmup", "warm-up of the search"},
		{"nvtx", "NVTX"}, {"cudnn-search live", "cudnn-search, compared"},
		{"memory.free_bytes", "memory free bytes"}};
	static const struct tfs_pairs none;
	struct tfs_fact_line lines[6];
	struct made made;

	begin(&made);
	made_model_open(&made.of, made.builder);
	for (unsigned i = 0; i < 6; i++)
		lines[i] = (struct tfs_fact_line){names[i][0], "text"};
	made.of.judgement.visibility.facts = lines;
	made.of.judgement.visibility.fact_count = 6;
	made.of.judgement.visibility.pairs = &none;
	tfs_build_head(&made.of.build, "made.tfs");
	const struct tfs_model_fact *last = made.of.model.method + made.of.model.method_count;

	TEST_NEED(made.of.model.method_count > 6);
	for (unsigned i = 0; i < 6; i++) {
		TEST_STR(last[(int)i - 6].key, names[i][0]);
		TEST_STR(last[(int)i - 6].name, names[i][1]);
	}
	made_model_close(&made.of);
}

int main(void)
{
	idle_time_that_is_left();
	idle_time_of_unknown_calls();
	facts_and_their_names();
	expensive_call_sites();
	expenses_without_time();
	calls_and_their_sizes();
	return test_result();
}
