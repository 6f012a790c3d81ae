/* SPDX-License-Identifier: MIT */
#include "tests/reports/sample.h"

#include <math.h>
#include <string.h>

#include "reports/model/words.h"
#include "tests/reports/sample_charts.h"

const char *const sample_hostile_name = "</script><script>alert(1)</script><img src=x "
					"onerror='alert(2)'>\"&\x1b[31m\xff\xe2\x80\xa8"
					"\xe2\x80\xae]]>-->";

static const struct tfs_rule_text rules[] = {
	{.id = "TFS101",
		.slug = "pageable-copy",
		.title = "copy from or to pageable host memory",
		.why = "The driver stages such a copy through its own buffers, on the calling thread."},
	{.id = "TFS201",
		.slug = "sync-in-step",
		.title = "the host waits for the GPU inside the step",
		.why = "While the host waits it queues nothing, so the GPU runs dry afterwards."},
	{.id = "TFS202",
		.slug = "hidden-sync",
		.title = "a call that waits though its name does not say so",
		.why = "cudaFree waits for all work of the device."},
	{.id = "TFS301",
		.slug = "unfused-pointwise",
		.title = "elementwise operations one after the other",
		.why = "Each reads from memory what the last one wrote there."},
	{.id = "TFS402",
		.slug = "zero-then-write",
		.title = "memory is zeroed and then written whole",
		.why = "The zeros are never read."},
	{.id = "TFS601",
		.slug = "conv-algo-not-searched",
		.title = "convolution algorithm fixed without a search",
		.why = "Another one is faster."},
};

static const struct tfs_model_frame upload_frames[] = {
	{"upload", "/src/app/trainers/lenet_naive.c", NULL, 142, "lenet_naive", false, false},
	{"train_step", "/src/app/trainers/lenet_naive.c", NULL, 388, "lenet_naive", false, false},
	{"main", "/src/app/trainers/lenet_naive.c", NULL, 471, "lenet_naive", false, false},
	{NULL, NULL, NULL, 0, "libc.so.6+0x2724a", false, false},
};
static const struct tfs_model_frame loss_frames[] = {
	{"read_loss", "/src/app/trainers/lenet_naive.c", NULL, 301, "lenet_naive", true, false},
	{"train_step", "/src/app/trainers/lenet_naive.c", NULL, 401, "lenet_naive", false, false},
	{"main", "/src/app/trainers/lenet_naive.c", NULL, 471, "lenet_naive", false, false},
};
static const char *const loss_lines[] = {"", "    /* The loss of each step is shown. */",
	"    CUDA(cudaDeviceSynchronize());", "    return *net->loss_seen;", "}"};
static const struct tfs_model_frame bare_frames[] = {
	{NULL, NULL, NULL, 0, "libdata.so+0x1f04", false, false},
};

#define PLACE(stack, number)                                                                       \
	{                                                                                          \
		.frames = stack, .frame_count = sizeof(stack) / sizeof(stack[0]), .key = number    \
	}

static const struct tfs_model_finding findings[] = {
	{.rule = &rules[0],
		.level = TFS_LEVEL_ERROR,
		.call = "cudaMemcpy",
		.stream = "legacy",
		.place = PLACE(upload_frames, 0x1111),
		.count_per_step = 2,
		.bytes_per_step = 1606144,
		.time_per_step_ns = 412e3,
		.count_total = 1280,
		.cost = {389e3, 341e3, 432e3, TFS_COST_REPLAY},
		.message = "cudaMemcpy from pageable memory moves 1.53 MiB in each step",
		.advice = "Allocate the host buffer with cudaHostAlloc once and keep it.",
		.evidence = "steps 20 to 69, 100 calls",
		.rewrite = "pinned-staging",
		.rewrite_state = "applied",
		.repaired = true},
	{.rule = &rules[1],
		.level = TFS_LEVEL_ERROR,
		.group = 1,
		.call = "cudaDeviceSynchronize",
		.place = PLACE(loss_frames, 0x2222),
		.source = {loss_lines, 5, 299, 301},
		.count_per_step = 1,
		.bytes_per_step = 0,
		.time_per_step_ns = 1.21e6,
		.count_total = 640,
		.cost = {264e3, 190e3, 310e3, TFS_COST_REPLAY},
		.message = "cudaDeviceSynchronize lets the GPU run dry in each step",
		.advice = "Remove the call, or wait for an event of the step before.",
		.rewrite_state = "none"},
	{.rule = &rules[2],
		.level = TFS_LEVEL_WARN,
		.group = 1,
		.call = "cudaFree",
		.place = PLACE(upload_frames, 0x1111),
		.count_per_step = 1,
		.bytes_per_step = NAN,
		.time_per_step_ns = 80e3,
		.count_total = 640,
		.cost = {264e3, 190e3, 310e3, TFS_COST_REPLAY},
		.message = "cudaFree waits for the device in each step",
		.advice = "Allocate the buffer once, before the loop.",
		.rewrite_state = "none"},
	{.rule = &rules[5],
		.level = TFS_LEVEL_WARN,
		.call = "cudnnConvolutionBackwardFilter",
		.place = PLACE(loss_frames, 0x3333),
		.count_per_step = 2,
		.bytes_per_step = 0,
		.time_per_step_ns = 22e3,
		.count_total = 1280,
		.cost = {96e3, 90e3, 101e3, TFS_COST_SEARCHED},
		.message = "algorithm 0 runs though algorithm 1 is 31 % faster on this device",
		.advice = "Call cudnnFindConvolutionForwardAlgorithmEx once.",
		.rewrite = "cudnn-search",
		.rewrite_state = "refused",
		.rewrite_reason = "an environment variable asks for deterministic algorithms"},
	{.rule = &rules[4],
		.level = TFS_LEVEL_NOTE,
		.call = "cudaMemsetAsync",
		.place = PLACE(bare_frames, 0x4444),
		.count_per_step = 8,
		.bytes_per_step = 1.7e6,
		.time_per_step_ns = 31e3,
		.count_total = 5120,
		.cost = {4e3, 0, 9e3, TFS_COST_BOUND},
		.doubt = "few steps",
		.message = "gradients are zeroed, then written with beta = 1",
		.advice = "Pass beta = 0.",
		.rewrite_state = "none"},
};

static const struct tfs_model_idle idles[] = {
	{"host", "cudnnConvolutionForward", "lenet_naive.c:88",
		"the host ran its own code after cudnnConvolutionForward, lenet_naive.c:88", NULL,
		98e3},
	{"queued", NULL, NULL, "work was queued: latency or dependencies", NULL, 31e3},
};

static const struct tfs_model_rule rule_lines[] = {
	{&rules[0], TFS_STATE_VIOLATED, "1 finding", 1},
	{&rules[1], TFS_STATE_VIOLATED, "1 finding", 1},
	{&rules[2], TFS_STATE_VIOLATED, "1 finding", 1},
	{&rules[3], TFS_STATE_NOT_MEASURABLE, "own kernels: what they read was not seen", 0},
	{&rules[4], TFS_STATE_VIOLATED, "1 finding", 1},
	{&rules[5], TFS_STATE_VIOLATED, "1 finding", 1},
};

static const struct tfs_model_rule clean_lines[] = {
	{&rules[0], TFS_STATE_PASSED, "2 copies per step, all pinned", 0},
	{&rules[1], TFS_STATE_PASSED, "no explicit wait in the step", 0},
	{&rules[3], TFS_STATE_WAIVED, "--ignore", 0},
	{&rules[4], TFS_STATE_NOT_APPLICABLE, "the program does not call cuDNN", 0},
};

static const struct tfs_model_refusal refusals[] = {
	{"determinism-not-asked", "an environment variable asks for deterministic algorithms", 2,
		PLACE(loss_frames, 0x3333)},
	{"size", "the size is outside the range that the rewrite handles", 640,
		PLACE(bare_frames, 0x4444)},
	{"idle-cores", "no core is idle", 1, PLACE(bare_frames, 0x4444)},
	{"size", "the size is outside the range that the rewrite handles", 12,
		PLACE(loss_frames, 0x3333)},
};

static const struct tfs_model_rewrite rewrites[] = {
	{.name = "pinned-staging",
		.class_name = "exact",
		.state = "apply",
		.measured = "faster",
		.acts = true,
		.proof = "A/B test",
		.gain = {351e3, 322e3, 377e3},
		.where = "TFS101 at lenet_naive.c:142",
		.off = "TFSHIM_REWRITE=safe,pinned-staging=off",
		.applied = 1272,
		.bytes = 1021508608,
		.predicted_ns = 380e3,
		.realised_ns = 351e3,
		.realised_low_ns = 322e3,
		.realised_high_ns = 377e3,
		.refusals = &refusals[1],
		.refusal_count = 3},
	{.name = "cudnn-search",
		.class_name = "rounding",
		.state = "apply",
		.reason = "not measured, too few training steps were found",
		.predicted_ns = 96e3,
		.realised_ns = NAN,
		.realised_low_ns = NAN,
		.realised_high_ns = NAN,
		.refusals = refusals,
		.refusal_count = 1},
};

static const struct tfs_model_layer layers[] = {
	{"forward", "", 0, 1, 12, 1.1e6, 0.9e6},
	{"conv 1", "", 1, 2, 4, 0.5e6, 0.4e6},
	{"batch #", "loader", 0, 1, 0, 0.2e6, NAN},
};

static const struct tfs_model_seen seen[] = {
	{"cudaMemcpy", 120, 360, true},
	{"__cudaLaunchKernel", 2400, 2400, false},
};

static const struct tfs_model_fact visibility[] = {
	{"steps", "training steps", "found", false},
	{"device", "GPU activity of these steps", "recorded", false},
	{"library.cudnn", "cudnn", "version 91900, calls seen", false},
	{"library.nccl", "nccl", "a static copy inside the program, not seen", true},
};

static const struct tfs_model_fact method[] = {
	{"windows", "recording windows", "1 window with 50 training steps, of which 50 were judged",
		false},
	{"overhead", "cost of recording",
		"a step takes 0.9 % to 1.7 % longer inside windows (median 2.51 ms inside, 2.48 ms outside)",
		false},
	{"replay", "costs",
		"what-if replay of the judged steps; "
		"replayed with median delays, they differ by at most 1.8 % from the measured steps (step 31)",
		false},
};

static const struct tfs_model_loss losses[] = {
	{"cupti_dropped", "activity records dropped by CUPTI", 12},
};

static const struct tfs_model_call calls[] = {
	{"cudaMemcpy", PLACE(upload_frames, 0x1111), 1280, 1027932160, 2, 1606144, {0}},
	{"cudaDeviceSynchronize", PLACE(loss_frames, 0x2222), 640, 0, 1, 0, {0}},
};

/* 2.51 ms as written, 351 us less by a rewrite, and 264 us less by what is to be fixed. */
static void make_headline(struct tfs_model *model)
{
	const struct tfs_span written = {2.51e6, 2.47e6, 2.55e6};
	struct tfs_model_headline *headline = &model->headline;

	headline->gained = rewrites[0].gain;
	headline->open = (struct tfs_span){264e3, 190e3, 310e3};
	headline->causes = 2;
	headline->as_written = tfs_headline_state(written, (struct tfs_span){0, 0, 0});
	headline->now = tfs_headline_state(written, headline->gained);
	headline->possible =
		tfs_headline_state(written, tfs_headline_sum(headline->gained, headline->open));
	headline->as_written.from = "50 recorded steps with rewrites off";
	headline->now.from = "1 rewrite with a proven gain";
	headline->possible.from = "the fix of 2 causes, replayed together";
	headline->text = tfs_words_headline(&model->arena, model);
}

/* Nothing is on, and nothing is to be fixed. */
static void make_clean_headline(struct tfs_model *model)
{
	struct tfs_model_headline *headline = &model->headline;

	headline->causes = 0;
	headline->gained = headline->open = (struct tfs_span){0, 0, 0};
	headline->now = headline->possible = headline->as_written;
	headline->now.from = "no rewrite was applied";
	headline->possible =
		tfs_headline_unknown("no GPU activity of the judged steps was recorded");
	headline->rewrites =
		"Rewrites are off; TFSHIM_REWRITE=report would add which calls they apply "
		"to, their predicted gain and why they refuse (there is no finding to "
		"repair).";
	headline->text = tfs_words_headline(&model->arena, model);
}

static void make_naive(struct tfs_model *model)
{
	model->program = "/src/app/build/lenet_naive";
	model->program_name = "lenet_naive";
	model->version = "0.1.0";
	model->started = "2026-11-21T10:15:00Z";
	model->recording = "tfshim-out/lenet_naive-r0-4242.tfs";
	model->pid = 4242;
	model->duration_ns = 3.41e9;
	model->finished = true;
	model->whole = true;
	model->usable = true;
	model->verdict = "2 errors, 2 warnings, 1 note";
	model->sight = "CUDA runtime, cuDNN and cuBLAS calls and GPU activity were seen; "
		       "NCCL is linked statically and was not.";
	model->device = "Simulated GPU";
	model->simulated = true;
	model->device_memory = UINT64_C(16) << 30;
	model->steps = (struct tfs_model_steps){.count = 640,
		.warmup = 12,
		.judged = 50,
		.median_ns = 2.48e6,
		.p95_ns = 2.63e6,
		.judged_ns = 2.51e6,
		.written_ns = 2.51e6,
		.source = "loops",
		.replay_error = 0.018,
		.gpu_busy = 0.61,
		.copy_overlap = 0.08};
	model->idle_ns = 0.39 * 2.51e6;
	model->idle_explained = 0.67;
	model->idles = idles;
	model->idle_count = 2;
	model->rules = rule_lines;
	model->rule_count = 6;
	model->findings = findings;
	model->finding_count = 5;
	model->levels[TFS_LEVEL_ERROR] = 2;
	model->levels[TFS_LEVEL_WARN] = 2;
	model->levels[TFS_LEVEL_NOTE] = 1;
	model->joint_count = 3;
	model->joint = (struct tfs_cost){653e3, 540e3, 733e3, TFS_COST_REPLAY};
	make_headline(model);
	model->rewrites = rewrites;
	model->rewrite_count = 2;
	model->visibility = visibility;
	model->visibility_count = 4;
	model->layers = layers;
	model->layer_count = 3;
	model->layers_more = 2;
	model->seen = seen;
	model->seen_count = 2;
	model->method = method;
	model->method_count = 3;
	model->losses = losses;
	model->loss_count = 1;
	model->calls = calls;
	model->call_count = 2;
}

static void make_clean(struct tfs_model *model)
{
	make_naive(model);
	model->verdict = "no rule is broken";
	model->device = "NVIDIA H200";
	model->simulated = false;
	model->findings = NULL;
	model->finding_count = 0;
	memset(model->levels, 0, sizeof(model->levels));
	model->joint_count = 0;
	model->joint = (struct tfs_cost){0};
	model->rules = clean_lines;
	model->rule_count = sizeof(clean_lines) / sizeof(clean_lines[0]);
	model->rewrite_count = 0;
	model->loss_count = 0;
	model->steps.gpu_busy = NAN;
	model->idle_ns = NAN;
	model->idle_count = 0;
	model->steps.copy_overlap = NAN;
	make_clean_headline(model);
}

/* One of each thing. */
static void make_single(struct tfs_model *model)
{
	static struct tfs_model_frame frames[7];
	static struct tfs_model_finding finding;
	static struct tfs_model_rewrite rewrite;
	static struct tfs_model_refusal refusal;
	static struct tfs_model_loss loss;

	make_naive(model);
	sample_make_charts(model, 1, 1);
	for (unsigned i = 0; i < 7; i++)
		frames[i] = upload_frames[0];
	finding = findings[0];
	finding.place.frames = frames;
	finding.place.frame_count = 7;
	finding.count_per_step = 1;
	finding.count_total = 1;
	rewrite = rewrites[0];
	rewrite.applied = 1;
	refusal = refusals[2];
	rewrite.refusals = &refusal;
	rewrite.refusal_count = 1;
	loss = losses[0];
	loss.count = 1;
	model->verdict = "1 error, 0 warnings, 0 notes";
	model->steps.count = model->steps.warmup = model->steps.judged = 1;
	model->findings = &finding;
	model->finding_count = 1;
	memset(model->levels, 0, sizeof(model->levels));
	model->levels[TFS_LEVEL_ERROR] = 1;
	model->joint_count = 1;
	model->rewrites = &rewrite;
	model->rewrite_count = 1;
	model->losses = &loss;
	model->visibility = &visibility[3];
	model->visibility_count = 1;
	model->layers_more = 1;
}

/* Every text that a program can choose is as bad as it can be. */
static void make_hostile(struct tfs_model *model)
{
	static struct tfs_model_frame frames[3];
	static struct tfs_model_finding finding;
	static struct tfs_chart_node tree[2];
	static const char *bad[1];

	make_naive(model);
	sample_make_charts(model, 30, 4);
	for (unsigned i = 0; i < 3; i++)
		frames[i] = (struct tfs_model_frame){sample_hostile_name, sample_hostile_name, NULL,
			i + 1, sample_hostile_name, false, false};
	finding = findings[0];
	finding.place.frames = frames;
	finding.place.frame_count = 3;
	finding.call = sample_hostile_name;
	finding.message = sample_hostile_name;
	finding.source = (struct tfs_model_source){&sample_hostile_name, 1, 1, 1};
	tree[0] = model->charts.nodes[0];
	tree[0].first_child = 1;
	tree[1] = (struct tfs_chart_node){.name = sample_hostile_name,
		.place = sample_hostile_name,
		.calls = 1,
		.is_call = true};
	bad[0] = sample_hostile_name;
	model->program = model->program_name = model->recording = sample_hostile_name;
	model->device = model->verdict = model->sight = sample_hostile_name;
	model->findings = &finding;
	model->finding_count = 1;
	model->charts.nodes = tree;
	model->charts.node_count = 2;
	model->charts.names = bad;
	model->charts.name_count = 1;
}

/* As much of everything as a recording can hold. */
static void make_huge(struct tfs_model *model)
{
	size_t count = 400;
	size_t tree = 20000;
	make_naive(model);
	sample_make_charts(model, 4000, 60000);
	struct tfs_model_finding *many = tfs_arena_alloc(&model->arena, count, sizeof(*many));
	for (size_t i = 0; i < count; i++) {
		many[i] = findings[i % 5];
		many[i].group = many[i].group ? (unsigned)(1 + i / 5) : 0;
	}
	struct tfs_chart_node *deep = tfs_arena_alloc(&model->arena, tree, sizeof(*deep));
	for (size_t i = 0; i < tree; i++) {
		deep[i] = model->charts.nodes[2];
		deep[i].first_child = i % 200 == 199 || i + 1 == tree ? 0 : i + 1;
		deep[i].next = i && i + 200 < tree ? i + 200 : 0;
	}
	model->findings = many;
	model->finding_count = count;
	model->charts.nodes = deep;
	model->charts.node_count = tree;
}

/* So many findings, each a cause of its own, most expensive first. */
static void make_many(struct tfs_model *model, size_t count)
{
	make_naive(model);
	sample_make_charts(model, 652, 24);
	struct tfs_model_finding *many = tfs_arena_alloc(&model->arena, count, sizeof(*many));
	for (size_t i = 0; i < count; i++) {
		many[i] = findings[1 + i % 4];
		many[i].group = 0;
		many[i].cost.ns = 264e3 * (double)(count - i) / (double)count;
	}
	model->findings = many;
	model->finding_count = count;
}

/* Members of a group stand behind each other; what is repaired comes last. */
static void make_cards(struct tfs_model *model)
{
	const size_t count = model->finding_count;
	struct tfs_model_card *cards = tfs_arena_alloc(&model->arena, count, sizeof(*cards));
	size_t *members = tfs_arena_alloc(&model->arena, count, sizeof(*members));

	model->card_count = 0;
	for (unsigned repaired = 0; repaired < 2; repaired++) {
		for (size_t i = 0; i < count; i++) {
			const struct tfs_model_finding *finding = &model->findings[i];

			members[i] = i;
			if (finding->repaired != repaired)
				continue;
			if (i && finding->group && finding->group == model->findings[i - 1].group) {
				cards[model->card_count - 1].finding_count++;
				continue;
			}
			cards[model->card_count++] = (struct tfs_model_card){&members[i], 1, i,
				finding->level, finding->cost, finding->repaired};
			model->open_cards += !repaired;
		}
	}
	model->cards = cards;
}

bool sample_make(const char *name, struct tfs_model *out_model)
{
	if (!strcmp(name, "hostile")) {
		make_hostile(out_model);
	} else if (!strcmp(name, "huge")) {
		make_huge(out_model);
	} else if (!strcmp(name, "many")) {
		make_many(out_model, 1000);
	} else if (!strcmp(name, "most")) {
		make_many(out_model, 10000);
	} else if (!strcmp(name, "clean")) {
		make_clean(out_model);
	} else if (!strcmp(name, "single")) {
		make_single(out_model);
	} else if (!strcmp(name, "naive")) {
		make_naive(out_model);
		sample_make_charts(out_model, 652, 24);
	} else {
		return false;
	}
	make_cards(out_model);
	return true;
}
