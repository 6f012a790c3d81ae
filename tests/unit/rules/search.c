/* SPDX-License-Identifier: MIT */
/* TFS601: what measured searches say of convolutions. */
#include <math.h>

#include "rules/device/searches.h"
#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 60u
#define ALGORITHM_SLOW 0u
#define ALGORITHM_FAST 1u
#define ALGORITHM_WILD 6u

struct run {
	unsigned steps;
	bool search;                                                       /* by the shim */
	enum { NONE, FIRST, BOTH, FAILED, UNSEEN, UNREADABLE } own_search; /* by the program */
	bool second; /* convolution of another shape, by which each step begins */
	float asked_ms, other_ms;
	unsigned ran; /* what the calls ran, if not what they asked for */
	bool told;    /* and the recording says which rewrite had it so */
	/* What sets the faster one apart from what is asked for, not from what was asked for first.
	 */
	bool varies;
	bool transform;
	uint32_t math;
};

static void candidate(struct scene *scene, uint32_t problem, unsigned algorithm, float ms,
	uint32_t flags, uint32_t math)
{
	struct tfs_search_record record = {.algorithm = (uint16_t)algorithm,
		.problem = problem,
		.time_ms = ms,
		.workspace = 1 << 20,
		.math = math,
		.flags = flags};

	builder_record(scene_builder(scene), TFS_RECORD_search, &record, sizeof(record));
}

/* The program's own search, before its steps. */
static void find(struct scene *scene, const struct run *run, uint32_t problem)
{
	struct builder_call call = scene_call(scene, 9, SCENE_LEGACY, TFS_LIBRARY_cudnn,
		TFS_FAMILY_conv_find, "cudnnFindConvolutionForwardAlgorithmEx");
	const struct tfs_aggregate total = {
		.function = call.function, .site = call.site, .count = 1, .ticks = 1000};

	if (run->own_search == UNSEEN) {
		builder_aggregate(scene_builder(scene), &total);
		return;
	}
	if (run->own_search != UNREADABLE)
		builder_attribute(&call, TFS_ATTRIBUTE_problem, problem);
	if (run->own_search == FAILED)
		call.status = 9;
	scene_make(scene, &call, 0);
}

static void convolve(struct scene *scene, unsigned line, uint32_t problem, uint64_t memory)
{
	struct builder_call call = scene_call(scene, line, SCENE_LEGACY, TFS_LIBRARY_cudnn,
		TFS_FAMILY_conv_forward, "cudnnConvolutionForward");

	builder_operand(&call, TFS_ROLE_READ, memory, 1 << 20);
	builder_attribute(&call, TFS_ATTRIBUTE_problem, problem);
	builder_attribute(&call, TFS_ATTRIBUTE_algorithm, ALGORITHM_SLOW);
	scene_make(scene, &call, 100000);
}

static struct scene *make(const struct run *run)
{
	const int32_t fields[] = {TFS_FAMILY_conv_forward, 0, 0, 0, 1, 0, 64, 16, 28, 28, 32};
	const int32_t others[] = {TFS_FAMILY_conv_forward, 0, 0, 0, 1, 0, 32, 16, 28, 28, 32};
	struct scene *scene = scene_create(false);
	uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 1 << 20);
	uint32_t problem = builder_problem(scene_builder(scene), fields, 11);
	uint32_t second = builder_problem(scene_builder(scene), others, 11);

	if (run->own_search)
		find(scene, run, problem);
	if (run->own_search == BOTH)
		find(scene, run, second);
	if (run->search) {
		candidate(scene, problem, ALGORITHM_SLOW, run->asked_ms, 1 | 2 | 8, 0);
		candidate(scene, problem, run->transform ? ALGORITHM_WILD : ALGORITHM_FAST,
			run->other_ms, run->varies ? 8 : 1 | 8, run->math);
		/* Faster still, but outside the fences. */
		candidate(scene, problem, ALGORITHM_WILD, run->other_ms / 4, 1, 0);
		candidate(scene, problem, 5, -1, 1 | 8, 0);
	}
	for (unsigned i = 0; i < run->steps; i++) {
		struct builder_call call;

		scene_step(scene);
		if (run->second)
			convolve(scene, 12, second, memory);
		call = scene_call(scene, 10, SCENE_LEGACY, TFS_LIBRARY_cudnn,
			TFS_FAMILY_conv_forward, "cudnnConvolutionForward");
		builder_operand(&call, TFS_ROLE_READ, memory, 1 << 20);
		builder_attribute(&call, TFS_ATTRIBUTE_problem, problem);
		builder_attribute(&call, TFS_ATTRIBUTE_algorithm, run->ran);
		if (run->ran != ALGORITHM_SLOW)
			builder_attribute(&call, TFS_ATTRIBUTE_asked_algorithm, ALGORITHM_SLOW);
		scene_make(scene, &call, run->ran ? 100000 : 200000);
		scene_device_sync(scene, 11);
	}
	if (run->told) {
		const struct tfs_rewrite_record record = {.state = TFS_REWRITE_APPLY,
			.name = builder_string(scene_builder(scene), "cudnn-search"),
			.applied = run->steps,
			.predicted_ns = NAN,
			.realised_ns = NAN,
			.class = 2};

		builder_record(scene_builder(scene), TFS_RECORD_rewrite, &record, sizeof(record));
	}
	scene_judge(scene, NULL);
	return scene;
}

static void check(const struct run *run, enum tfs_state state, const char *reason)
{
	struct scene *scene = make(run);
	bool held = TEST_EQ(scene_state(scene, "TFS601"), state);

	held &= TEST_STR(scene_reason(scene, "TFS601"), reason);
	if (!TEST_EQ(scene_findings(scene, "TFS601"), state == TFS_STATE_VIOLATED) || !held)
		scene_print(scene);
	scene_destroy(scene);
}

static void slow_choice(void)
{
	const struct run run = {.steps = STEPS, .search = true, .asked_ms = 0.2f, .other_ms = 0.1f};
	struct scene *scene = make(&run);
	const struct tfs_finding *finding = scene_finding(scene, "TFS601", 10);

	TEST_NEED(finding);
	TEST_EQ(finding->level, TFS_LEVEL_WARN);
	TEST_IN(finding->cost.ns, 98000, 102000);
	TEST_EQ(finding->cost.method, TFS_COST_REPLAY);
	TEST_STR(finding->message,
		"runs IMPLICIT_GEMM in 200 \xc2\xb5s where a measured search found IMPLICIT_PRECOMP_GEMM in 100 \xc2\xb5s");
	TEST_TRUE(strstr(finding->advice, "a workspace of 1.00 MiB or more"));
	TEST_TRUE(strstr(finding->advice, "cudnnFindConvolutionForwardAlgorithmEx"));
	scene_destroy(scene);
}

/* A rewrite that chose for the program does not make it right. */
static void rewritten_choice(void)
{
	const struct run run = {.steps = STEPS,
		.search = true,
		.asked_ms = 0.2f,
		.other_ms = 0.1f,
		.ran = ALGORITHM_FAST};
	struct scene *scene = make(&run);
	const struct tfs_finding *finding = scene_finding(scene, "TFS601", 10);

	TEST_NEED(finding);
	TEST_IN(finding->cost.ns, 98000, 102000);
	TEST_EQ(finding->cost.method, TFS_COST_REPLAY);
	TEST_IN(scene_judgement(scene)->joint.ns, 98000, 115000);
	scene_destroy(scene);
}

/* What it gained is known from the search, and is not to be gained again. */
static void proven_choice(void)
{
	const struct run run = {.steps = STEPS,
		.search = true,
		.asked_ms = 0.2f,
		.other_ms = 0.1f,
		.ran = ALGORITHM_FAST,
		.told = true};
	struct scene *scene = make(&run);
	const struct tfs_judgement *judgement = scene_judgement(scene);

	TEST_NEED(judgement->rewrite_count == 1);
	TEST_EQ(judgement->rewrites[0].proof, TFS_PROOF_SEARCH);
	TEST_IN(judgement->rewrites[0].gain.ns, 98000, 102000);
	TEST_IN(judgement->rewrites[0].gain.low_ns, 90000, 98000);
	TEST_IN(judgement->rewrites[0].gain.high_ns, 102000, 110000);
	TEST_NEED(scene_finding(scene, "TFS601", 10));
	TEST_TRUE(scene_finding(scene, "TFS601", 10)->repaired);
	TEST_IN(judgement->joint.ns, 98000, 115000);
	TEST_IN(judgement->open.ns, 0, 15000);
	scene_destroy(scene);
}

static void not_measured(const struct run *run, const char *why)
{
	struct scene *scene = make(run);

	TEST_EQ(scene_state(scene, "TFS601"), TFS_STATE_NOT_MEASURABLE);
	if (!TEST_TRUE(strstr(scene_reason(scene, "TFS601"), why)))
		scene_print(scene);
	scene_destroy(scene);
}

/* Of two convolutions, both searched by the program, one was measured by the shim as well. */
static void one_measured_choice(void)
{
	const struct run run = {.steps = STEPS,
		.search = true,
		.own_search = BOTH,
		.second = true,
		.asked_ms = 0.2f,
		.other_ms = 0.1f};
	struct scene *scene = make(&run);

	TEST_EQ(scene_findings(scene, "TFS601"), 1);
	TEST_TRUE(scene_finding(scene, "TFS601", 10));
	scene_destroy(scene);
}

/* What an algorithm is called, and which function searches it, hangs on what the call computes. */
static void names(enum tfs_family family, const char *function, uint32_t number,
	const char *algorithm, uint32_t behind)
{
	TEST_STR(tfs_search_function(family), function);
	TEST_STR(tfs_algorithm_name(family, number), algorithm);
	TEST_STR(tfs_algorithm_name(family, behind), "another algorithm");
	TEST_TRUE(tfs_search_family(family));
}

static void names_of_all(void)
{
	names(TFS_FAMILY_conv_forward, "cudnnFindConvolutionForwardAlgorithmEx", 7,
		"WINOGRAD_NONFUSED", 8);
	names(TFS_FAMILY_conv_fused, "cudnnFindConvolutionForwardAlgorithmEx", 1,
		"IMPLICIT_PRECOMP_GEMM", 8);
	names(TFS_FAMILY_conv_backward_data, "cudnnFindConvolutionBackwardDataAlgorithmEx", 4,
		"BWD_DATA_ALGO_WINOGRAD", 6);
	names(TFS_FAMILY_conv_backward_filter, "cudnnFindConvolutionBackwardFilterAlgorithmEx", 3,
		"BWD_FILTER_ALGO_3", 7);
	TEST_TRUE(!tfs_search_family(TFS_FAMILY_conv_backward_bias));
}

int main(void)
{
	static const struct run passed[] = {
		{.steps = STEPS, .search = true, .asked_ms = 0.2f, .other_ms = 0.195f},
		{.steps = STEPS, .search = true, .asked_ms = 0.1f, .other_ms = 0.2f},
		{.steps = STEPS, .own_search = FIRST},
		{.steps = STEPS, .own_search = BOTH, .second = true},
		{.steps = 40, .search = true, .asked_ms = 0.2f, .other_ms = 0.1f},
		{.steps = STEPS,
			.search = true,
			.asked_ms = 0.2f,
			.other_ms = 0.1f,
			.varies = true},
		{.steps = STEPS,
			.search = true,
			.asked_ms = 0.2f,
			.other_ms = 0.1f,
			.transform = true},
		{.steps = STEPS, .search = true, .asked_ms = 0.2f, .other_ms = 0.1f, .math = 2},
	};
	static const char *const reasons[] = {
		"searched; 60 calls are within 5 % of the best",
		"searched; 60 calls are within 5 % of the best",
		"searched; 60 calls are of shapes that the program searched",
		"searched; 120 calls are of shapes that the program searched",
		"nothing to search; 40 calls are of rare shapes",
		"searched; 60 calls are within 5 % of the best",
		"searched; 60 calls are within 5 % of the best",
		"searched; 60 calls are within 5 % of the best",
	};
	static const struct {
		struct run run;
		const char *why;
	} unsearched[] = {
		{{.steps = STEPS},
			"no measured search exists for the shapes of 60 convolution calls"},
		{{.steps = STEPS, .own_search = FIRST, .second = true},
			"no measured search exists for the shapes of 60 convolution calls"},
		{{.steps = STEPS, .own_search = FAILED},
			"no measured search exists for the shapes of 60 convolution calls"},
		{{.steps = STEPS, .own_search = UNSEEN},
			"1 search by the program was made where calls were only counted"},
		{{.steps = STEPS, .own_search = UNREADABLE},
			"1 search by the program was made where calls were only counted"},
		{{.steps = STEPS,
			 .own_search = FIRST,
			 .second = true,
			 .search = true,
			 .asked_ms = 0.2f,
			 .other_ms = 0.195f},
			"no measured search exists for the shapes of 60 convolution calls"},
	};

	names_of_all();
	slow_choice();
	rewritten_choice();
	proven_choice();
	one_measured_choice();
	for (size_t i = 0; i < sizeof(passed) / sizeof(*passed); i++)
		check(&passed[i], TFS_STATE_PASSED, reasons[i]);
	for (size_t i = 0; i < sizeof(unsearched) / sizeof(*unsearched); i++)
		not_measured(&unsearched[i].run, unsearched[i].why);
	return test_result();
}
