/* SPDX-License-Identifier: MIT */
/* TFS902 to TFS906 and what a judgement says of its own evidence. */
#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

struct run {
	unsigned steps;
	uint64_t work_ns; /* 0 = the device's side is missing */
	uint32_t library_flags;
	const char *unseen;
	unsigned loss; /* of this kind, if not 0 */
};

static struct scene *make(const struct run *run)
{
	struct scene *scene = scene_create(false);
	uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);
	struct tfs_file_header *header;
	size_t size;

	builder_library(scene_builder(scene), TFS_LIBRARY_cudart, "/somewhere/libcudart.so", 13000,
		run->library_flags);
	if (run->unseen)
		builder_fact(scene_builder(scene), TFS_FACT_deepbind, run->unseen, 0);
	scene_watch(scene);
	for (unsigned i = 0; i < run->steps; i++) {
		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, run->work_ns, 1024, 1, &memory);
		scene_device_sync(scene, 11);
	}
	header = (struct tfs_file_header *)builder_bytes(scene_builder(scene), &size);
	header->lost[run->loss] = run->loss ? 7 : 0;
	scene_judge(scene, NULL);
	return scene;
}

static void check(const struct run *run, const char *id, enum tfs_state state)
{
	struct scene *scene = make(run);

	if (!TEST_EQ(scene_state(scene, id), state)) {
		printf("%s:\n", id);
		scene_print(scene);
	}
	scene_destroy(scene);
}

static void a_whole_recording(void)
{
	const struct run run = {30, 100000, 1, NULL, 0};
	struct scene *scene = make(&run);
	const struct tfs_judgement *judgement = scene_judgement(scene);

	TEST_EQ(scene_state(scene, "TFS902"), TFS_STATE_PASSED);
	TEST_EQ(scene_state(scene, "TFS903"), TFS_STATE_PASSED);
	TEST_EQ(scene_state(scene, "TFS904"), TFS_STATE_PASSED);
	TEST_EQ(scene_state(scene, "TFS905"), TFS_STATE_PASSED);
	TEST_TRUE(judgement->usable);
	TEST_EQ(judgement->steps.judged, 30);
	TEST_STR(judgement->steps.source, "loops");
	TEST_STR(judgement->device_name, "Scene device");
	TEST_IN(judgement->steps.replay_error * 1e6, 0, 1000);
	TEST_EQ(judgement->loss_count, 0);
	TEST_EQ(judgement->visibility.library_count, 1);
	scene_destroy(scene);
}

/* Nothing of the device: counts stand, costs are bounds, and what needs more says so. */
static void without_the_device(void)
{
	const struct run run = {30, 0, 1, NULL, 0};
	struct scene *scene = make(&run);
	const struct tfs_finding *finding = scene_finding(scene, "TFS201", 11);

	TEST_TRUE(!scene_judgement(scene)->usable);
	TEST_EQ(scene_state(scene, "TFS903"), TFS_STATE_VIOLATED);
	TEST_EQ(scene_finding(scene, "TFS903", 0)->level, TFS_LEVEL_ERROR);
	TEST_TRUE(scene_judgement(scene)->steps.replay_error < 0);
	TEST_NEED(finding);
	TEST_EQ(finding->cost.low_ns, 0);
	TEST_IN(finding->cost.high_ns, finding->time_per_step_ns, finding->time_per_step_ns);
	TEST_EQ(finding->cost.method, TFS_COST_BOUND);
	scene_destroy(scene);
}

/* A run of `recorded` steps in its window, where every sixth holds an evaluation too, or not, and
 * of `others` behind it. */
static void few_steps(
	unsigned recorded, bool mixed, unsigned others, const char *says, const char *advice)
{
	float durations[64];
	struct scene *scene = scene_create(false);
	uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);
	const struct tfs_finding *finding;

	for (unsigned i = 0; i < recorded; i++) {
		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, 100000, 1024, 1, &memory);
		if (!mixed || i % 6 != 5)
			continue;
		scene_device_sync(scene, 11);
		scene_launch(scene, 12, SCENE_LEGACY, 300000, 1024, 1, &memory);
		scene_device_sync(scene, 13);
	}
	for (unsigned i = 0; i < others; i++)
		durations[i] = 150000;
	if (others) {
		const uint64_t now = scene_now(scene);

		builder_step(scene_builder(scene), recorded + 1, now, TFS_PHASE_TRAINING, 0);
		builder_steps(scene_builder(scene), recorded + 1, now, others, durations, 0);
		scene_host(scene, others * UINT64_C(150000));
	}
	scene_judge(scene, NULL);
	finding = scene_finding(scene, "TFS905", 0);
	TEST_NEED(finding);
	if (!TEST_TRUE(strstr(finding->message, says)) ||
		!TEST_TRUE(strncmp(finding->advice, advice, strlen(advice)) == 0))
		printf("  %s: %s\n", finding->message, finding->advice);
	scene_destroy(scene);
}

static void few_steps_are_of_several_causes(void)
{
	few_steps(12, false, 0, "12 training steps were judged, of 12 in total; an error needs 20",
		"Train for more steps");
	few_steps(12, false, 60, "training steps were judged, of 72 in total; an error needs 20",
		"Record more steps");
	few_steps(21, true, 0, "3 more hold work of another phase", "Train for more steps");
	few_steps(0, false, 0, "no training step was found", "Mark where each step begins");
}

/* What is advised is for what became of CUPTI. */
static void advice_on_cupti(enum tfs_fact_code fact, uint64_t number, const char *advice)
{
	struct scene *scene = scene_create(false);
	uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);
	const struct tfs_finding *finding;

	if (fact != TFS_FACT_none)
		builder_fact(scene_builder(scene), fact, "another.so", number);
	for (unsigned i = 0; i < 30; i++) {
		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, 0, 1024, 1, &memory);
	}
	scene_judge(scene, NULL);
	finding = scene_finding(scene, "TFS903", 0);
	TEST_NEED(finding);
	if (!TEST_TRUE(strstr(finding->advice, advice)))
		printf("  of %d: %s\n", fact, finding->advice);
	/* That helps where it is what was missing, and nowhere else. */
	TEST_EQ(strstr(finding->advice, "findable") != NULL,
		fact == TFS_FACT_cupti_none || fact == TFS_FACT_cupti_incomplete);
	scene_destroy(scene);
}

/* A machine without a driver: every call fails, and none gives a device work. */
static void where_all_calls_fail(void)
{
	struct scene *scene = scene_create(false);

	for (unsigned i = 0; i < 30; i++) {
		struct builder_call call = scene_call(scene, 10, SCENE_LEGACY, TFS_LIBRARY_cudart,
			TFS_FAMILY_launch, "__cudaLaunchKernel");

		scene_step(scene);
		call.status = 35;
		scene_make(scene, &call, 0);
	}
	scene_judge(scene, NULL);
	TEST_EQ(scene_state(scene, "TFS903"), TFS_STATE_NOT_MEASURABLE);
	scene_destroy(scene);
}

static void few_steps_lower_the_confidence(void)
{
	const struct run run = {12, 100000, 1, NULL, 0};
	struct scene *scene = make(&run);
	const struct tfs_finding *finding = scene_finding(scene, "TFS201", 11);

	TEST_EQ(scene_state(scene, "TFS905"), TFS_STATE_VIOLATED);
	TEST_EQ(scene_finding(scene, "TFS905", 0)->level, TFS_LEVEL_NOTE);
	TEST_NEED(finding);
	TEST_STR(finding->doubt, "few steps");
	TEST_EQ(finding->level, TFS_LEVEL_WARN);
	scene_destroy(scene);
}

/* One of something is not told as several, and none of it not at all. */
static void numbers_agree(void)
{
	const struct run run = {1, 100000, 1, NULL, 0};
	struct scene *scene = make(&run);
	const struct tfs_judgement *judgement = scene_judgement(scene);
	const struct tfs_finding *steps = scene_finding(scene, "TFS905", 0);

	TEST_NEED(steps);
	TEST_STR(steps->message, "1 training step was judged, of 1 in total; an error needs 20");
	for (size_t i = 0; i < judgement->rule_count; i++) {
		const char *reason = judgement->rules[i].verdict.reason;

		TEST_TRUE(!strstr(reason, " 0 "));
		if (!strcmp(judgement->rules[i].rule->id, "TFS903"))
			TEST_STR(reason,
				"GPU activity was recorded: of 1 launch, 1 has a kernel record");
	}
	scene_destroy(scene);
}

/* What is advised can be done: of another tool's recording, with that tool. */
static void no_steps_at_all(bool imported)
{
	struct scene *scene = scene_create(false);
	const struct tfs_finding *finding;
	uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);

	if (imported)
		builder_fact(scene_builder(scene), TFS_FACT_imported, "Nsight Systems", 0);
	for (unsigned i = 0; i < 30; i++)
		scene_launch(scene, 10, SCENE_LEGACY, 100000, 1024, 1, &memory);
	builder_window(scene_builder(scene), true, 1, 0, 3);
	builder_window(scene_builder(scene), false, 1, scene_now(scene), 3);
	scene_judge(scene, NULL);
	TEST_TRUE(!scene_judgement(scene)->usable);
	/* What was recorded was, though no step can be judged. */
	TEST_STR(scene_judgement(scene)->visibility.text,
		"calls recorded, GPU activity recorded, training steps not found");
	TEST_EQ(scene_state(scene, "TFS905"), TFS_STATE_VIOLATED);
	finding = scene_finding(scene, "TFS905", 0);
	TEST_NEED(finding);
	TEST_EQ(!strstr(finding->advice, "TFSHIM_STEP()"), imported);
	TEST_EQ(!strstr(finding->advice, "NVTX range named step"), !imported);
	/* The run has none of what these are about, and memory was allocated in it. */
	TEST_EQ(scene_state(scene, "TFS101"), TFS_STATE_PASSED);
	TEST_EQ(scene_state(scene, "TFS201"), TFS_STATE_PASSED);
	TEST_EQ(scene_state(scene, "TFS401"), TFS_STATE_NOT_MEASURABLE);
	scene_destroy(scene);
}

static void losses_are_told(void)
{
	const struct run run = {30, 100000, 1, NULL, TFS_LOSS_cupti_dropped};
	struct scene *scene = make(&run);

	TEST_EQ(scene_state(scene, "TFS902"), TFS_STATE_VIOLATED);
	TEST_NEED(scene_judgement(scene)->loss_count == 1);
	TEST_EQ(scene_judgement(scene)->losses[0].count, 7);
	TEST_STR(scene_judgement(scene)->losses[0].name, "cupti_dropped");
	scene_destroy(scene);
}

/* Each loss has an advice of its own, and none that is for another. */
static void advice_on_losses(void)
{
	static const struct {
		enum tfs_loss loss;
		const char *advice;
	} cases[] = {
		{TFS_LOSS_records_dropped, "Record less or raise the size limit"},
		{TFS_LOSS_aggregates_full, "A table was full"},
		{TFS_LOSS_sites_full, "A table was full"},
		{TFS_LOSS_cupti_dropped, "CUPTI's buffers were full"},
		{TFS_LOSS_cupti_unknown, "CUPTI may be newer"},
		{TFS_LOSS_threads_failed, "Leave the process more memory"},
		{TFS_LOSS_ranges_full, "A table was full"},
		{TFS_LOSS_steps_dropped, "Mark the steps from one thread only"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct scene *scene = scene_create(false);
		size_t size;

		scene_memory(scene, TFS_MEMORY_DEVICE, 4096);
		((struct tfs_file_header *)builder_bytes(scene_builder(scene), &size))
			->lost[cases[i].loss] = 7;
		scene_judge(scene, NULL);

		const struct tfs_finding *finding = scene_finding(scene, "TFS902", 0);

		TEST_NEED(finding);
		if (!TEST_EQ(strncmp(finding->advice, cases[i].advice, strlen(cases[i].advice)), 0))
			printf("  of loss %d: %s\n", cases[i].loss, finding->advice);
		TEST_EQ(strstr(finding->advice, "ulimit") != NULL,
			cases[i].loss == TFS_LOSS_records_dropped);
		scene_destroy(scene);
	}
}

/* An undecided A/B test says how many more steps it would take, where the recording has that. */
static void an_undecided_test(double more, const char *says)
{
	struct scene *scene = scene_create(false);
	struct tfs_rewrite_record record = {.class = 1,
		.outcome = TFS_REWRITE_UNDECIDED,
		.reason = {.code = TFS_REASON_undecided, .numbers = {10, 8}, .values = {more}}};

	record.name = builder_string(scene_builder(scene), "some-rewrite");
	builder_record(scene_builder(scene), TFS_RECORD_rewrite, &record, sizeof(record));
	scene_judge(scene, NULL);
	TEST_NEED(scene_judgement(scene)->rewrite_count == 1);
	TEST_STR(scene_judgement(scene)->rewrites[0].reason, says);
	scene_destroy(scene);
}

/* A recording that lost its end, or that was damaged on the way, was not lost for want of room. */
static void advice_on_damage(bool cut)
{
	struct scene *scene = scene_create(false);
	struct tfs_file_header *header;
	struct tfs_chunk *chunk;
	size_t size;

	scene_memory(scene, TFS_MEMORY_DEVICE, 4096);
	header = (void *)builder_bytes(scene_builder(scene), &size);
	chunk = (void *)((char *)header + header->header_bytes);
	header->finished = true;
	header->chunks_taken += cut ? 100 : 0;
	chunk->committed += cut ? 0 : UINT64_C(1) << 40;
	scene_judge(scene, NULL);
	TEST_EQ(scene_state(scene, "TFS902"), TFS_STATE_VIOLATED);

	const struct tfs_finding *finding = scene_finding(scene, "TFS902", 0);

	TEST_NEED(finding);
	TEST_STR(finding->advice, "Let the program exit normally, and copy the whole recording.");
	scene_destroy(scene);
}

static void a_shadow(bool differs, enum tfs_state state)
{
	struct scene *scene = scene_create(false);
	struct builder *builder = scene_builder(scene);
	struct tfs_rewrite_record record = {.applied = 3, .class = 1};
	struct tfs_refusal_record refusal = {.count = 1};

	record.state = differs ? TFS_REWRITE_OFF : TFS_REWRITE_SHADOW;
	record.name = refusal.rewrite = builder_string(builder, "some-rewrite");
	record.reason.code = differs ? TFS_REASON_written_after_free : TFS_REASON_none;
	record.reason.numbers[0] = 7;
	refusal.check = TFS_CHECK_shadow_differs;
	builder_record(builder, TFS_RECORD_rewrite, &record, sizeof(record));
	if (differs)
		builder_record(builder, TFS_RECORD_refusal, &refusal, sizeof(refusal));
	scene_judge(scene, NULL);
	TEST_EQ(scene_state(scene, "TFS906"), state);
	scene_destroy(scene);
}

/* Steps that CUPTI saw and steps that it did not are not judged together. */
static void seen_in_part(unsigned sighted, unsigned blind, unsigned judged, bool device)
{
	struct scene *scene = scene_create(false);
	uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);

	for (unsigned i = 0; i < sighted + blind; i++) {
		if (i == sighted)
			builder_window(scene_builder(scene), true, 2, scene_now(scene), 1);
		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, i < sighted ? 100000 : 0, 1024, 1, &memory);
		scene_device_sync(scene, 11);
	}
	scene_judge(scene, NULL);
	TEST_IN(scene_judgement(scene)->steps.judged, judged - 1, judged);
	TEST_EQ(scene_judgement(scene)->visibility.device, device);
	scene_destroy(scene);
}

int main(void)
{
	an_undecided_test(120,
		"A/B over 10 pairs of blocks of 8 steps: undecided (needs about 120 more steps), off; "
		"the next run continues the measurement");
	an_undecided_test(0, "A/B over 10 pairs of blocks of 8 steps: undecided, off; "
			     "the next run continues the measurement");
	static const struct {
		enum tfs_fact_code fact;
		const char *advice;
	} cupti[] = {
		{TFS_FACT_none, "cupti=0, remove it"},
		{TFS_FACT_cupti_in_windows, "train for more steps"},
		{TFS_FACT_cupti_not_built, "built with CUPTI"},
		{TFS_FACT_cupti_no_driver, "a machine with NVIDIA's driver"},
		{TFS_FACT_cupti_none, "LD_LIBRARY_PATH or CUDA_HOME"},
		{TFS_FACT_cupti_taken, "Stop the other profiler"},
		{TFS_FACT_cupti_gave_way, "without the other profiler"},
		{TFS_FACT_cupti_lent, "Remove cupti_off from TFSHIM_OPTIONS"},
		{TFS_FACT_cupti_given_back, "TFSHIM_CUPTI(1)"},
		{TFS_FACT_cupti_failed, "tfshim doctor"},
	};
	static const struct run statically = {30, 100000, 2, NULL, 0};
	static const struct run seen = {30, 100000, 3, NULL, 0};
	static const struct run unseen = {30, 100000, 1, "libplugin.so", 0};
	static const struct run short_stacks = {30, 100000, 1, NULL, TFS_LOSS_stacks_short};

	seen_in_part(30, 30, 30, true);
	seen_in_part(25, 60, 25, true);
	seen_in_part(5, 40, 40, false);
	seen_in_part(8, 4, 8, true);
	a_whole_recording();
	without_the_device();
	for (size_t i = 0; i < sizeof(cupti) / sizeof(*cupti); i++)
		advice_on_cupti(cupti[i].fact, 12, cupti[i].advice);
	where_all_calls_fail();
	few_steps_lower_the_confidence();
	few_steps_are_of_several_causes();
	numbers_agree();
	no_steps_at_all(false);
	no_steps_at_all(true);
	losses_are_told();
	advice_on_losses();
	advice_on_damage(false);
	advice_on_damage(true);
	check(&statically, "TFS904", TFS_STATE_VIOLATED);
	check(&seen, "TFS904", TFS_STATE_PASSED);
	check(&unseen, "TFS904", TFS_STATE_VIOLATED);
	check(&short_stacks, "TFS902", TFS_STATE_PASSED);
	a_shadow(false, TFS_STATE_PASSED);
	a_shadow(true, TFS_STATE_VIOLATED);
	return test_result();
}
