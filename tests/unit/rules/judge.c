/* SPDX-License-Identifier: MIT */
/* Levels, groups, the joint saving, waivers, and rewrites that must not hide a finding. */
#include <errno.h>
#include <math.h>

#include "rules/evidence/findings.h"
#include "rules/judge/pricing.h"
#include "rules/timeline/timeline.h"
#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define BIG (UINT64_C(4) << 20)

/* Uploads `bytes` of pageable memory, waits twice, reads a loss. */
static struct scene *naive(bool simulated, uint64_t bytes, uint64_t work_ns)
{
	struct scene *scene = scene_create(simulated);
	uint64_t device = scene_memory(scene, TFS_MEMORY_DEVICE, BIG);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_copy(scene, 10, SCENE_LEGACY, false, true, TFS_MEMORY_PAGEABLE, device, bytes,
			2000 + bytes / 6);
		scene_launch(scene, 11, SCENE_LEGACY, work_ns, 1024, 1, &device);
		scene_copy(scene, 12, SCENE_LEGACY, false, false, TFS_MEMORY_PAGEABLE, device, 4,
			2000);
		scene_host(scene, 10000);
		scene_launch(scene, 13, SCENE_LEGACY, work_ns, 1024, 1, &device);
		scene_device_sync(scene, 14);
		scene_host(scene, 20000);
	}
	return scene;
}

static void levels_follow_costs(void)
{
	struct scene *large = naive(false, BIG, 100000), *small = naive(false, 1 << 18, 600000);
	struct scene *dust = naive(false, 1 << 17, 20000000);

	scene_judge(large, NULL);
	scene_judge(small, NULL);
	scene_judge(dust, NULL);
	TEST_EQ(scene_finding(large, "TFS101", 10)->level, TFS_LEVEL_ERROR);
	TEST_EQ(scene_finding(small, "TFS101", 10)->level, TFS_LEVEL_WARN);
	TEST_EQ(scene_finding(dust, "TFS101", 10)->level, TFS_LEVEL_NOTE);
	/* A row that keeps its level whatever the cost. */
	TEST_EQ(scene_finding(dust, "TFS201", 14)->level, TFS_LEVEL_ERROR);
	scene_destroy(large);
	scene_destroy(small);
	scene_destroy(dust);
}

/* On the simulated device only counts decide, and costs are modelled. */
static void simulated_costs_are_modelled(void)
{
	struct scene *scene = naive(true, 1 << 17, 20000000);
	const struct tfs_judgement *judgement = scene_judge(scene, NULL);
	const struct tfs_finding *finding = scene_finding(scene, "TFS101", 10);

	TEST_TRUE(judgement->simulated);
	TEST_NEED(finding);
	TEST_EQ(finding->level, TFS_LEVEL_ERROR);
	TEST_EQ(finding->cost.method, TFS_COST_MODELLED);
	TEST_EQ(judgement->joint.method, TFS_COST_MODELLED);
	scene_destroy(scene);
}

/* Three different costs: the joint saving is found by replaying them together. */
static void joint_saving(void)
{
	struct scene *scene = naive(false, BIG, 100000);
	const struct tfs_judgement *judgement = scene_judge(scene, NULL);
	double sum = 0, most = 0;

	/* The read-back of a loss is three of them. */
	TEST_EQ(judgement->finding_count, 5);
	TEST_EQ(judgement->joint_findings, 3);
	TEST_EQ(judgement->group_count, 1);
	for (size_t i = 0; i < judgement->finding_count; i++) {
		const struct tfs_finding *finding = &judgement->findings[i];

		if (!finding->group || !strcmp(finding->rule->id, "TFS202"))
			sum += finding->cost.ns;
		most = fmax(most, finding->cost.ns);
	}
	TEST_TRUE(judgement->joint.ns >= most);
	TEST_IN(judgement->joint.ns, most, judgement->steps.judged_median_ns);
	TEST_TRUE(judgement->joint.low_ns <= judgement->joint.ns &&
		  judgement->joint.ns <= judgement->joint.high_ns);
	/* Each of them was in nobody's way here. */
	TEST_IN(judgement->joint.ns, sum * 0.95, sum * 1.05);
	scene_destroy(scene);
}

static void findings_are_ranked(void)
{
	struct scene *scene = naive(false, BIG, 100000);
	const struct tfs_judgement *judgement = scene_judge(scene, NULL);

	for (size_t i = 1; i < judgement->finding_count; i++) {
		const struct tfs_finding *a = &judgement->findings[i - 1], *b = a + 1;

		TEST_TRUE(
			a->level > b->level || (a->level == b->level && a->cost.ns >= b->cost.ns));
	}
	scene_destroy(scene);
}

/* By time, then by level, rule and call site. */
static void ranks(void)
{
	const struct tfs_rule *const copies = tfs_rule_find("TFS101");
	const struct tfs_rule *const waits = tfs_rule_find("TFS201");
	const struct tfs_finding found[] = {{waits, TFS_LEVEL_WARN, .site = 1, .cost = {.ns = 5}},
		{copies, TFS_LEVEL_WARN, .site = 9, .cost = {.ns = 5}},
		{waits, TFS_LEVEL_NOTE, .site = 8, .cost = {.ns = 9}},
		{copies, TFS_LEVEL_WARN, .site = 3, .cost = {.ns = 5}},
		{waits, TFS_LEVEL_ERROR, .site = 7, .cost = {.ns = 5}}};
	static const uint32_t want[] = {8, 7, 3, 9, 1};
	struct tfs_draft drafts[5] = {0};
	struct tfs_findings findings = {.items = drafts, .count = 5};

	for (size_t i = 0; i < 5; i++)
		drafts[i].finding = found[i];
	tfs_findings_rank(&findings);
	for (size_t i = 0; i < 5; i++)
		TEST_EQ(drafts[i].finding.site, want[i]);
}

static void waivers(void)
{
	const struct tfs_judge_options ignore = {.ignore = "TFS101,hidden-sync"};
	const struct tfs_judge_options select = {.select = "TFS2"};
	const struct tfs_judge_options wrong = {.ignore = "TFS101,TFS1234"};
	struct scene *scene = naive(false, BIG, 100000);
	struct tfs_judgement *none = NULL;

	scene_judge(scene, &ignore);
	TEST_EQ(scene_state(scene, "TFS101"), TFS_STATE_WAIVED);
	TEST_EQ(scene_state(scene, "TFS202"), TFS_STATE_WAIVED);
	TEST_EQ(scene_state(scene, "TFS203"), TFS_STATE_VIOLATED);
	TEST_EQ(scene_findings(scene, "TFS101"), 0);
	TEST_EQ(tfs_judge(scene_judgement(scene)->timeline, &wrong, &none), -EINVAL);
	TEST_TRUE(!none);
	scene_destroy(scene);
	scene = naive(false, BIG, 100000);
	scene_judge(scene, &select);
	TEST_EQ(scene_state(scene, "TFS101"), TFS_STATE_WAIVED);
	TEST_EQ(scene_state(scene, "TFS201"), TFS_STATE_VIOLATED);
	scene_destroy(scene);
	TEST_TRUE(tfs_rule_list_valid("tfs101,TFS9,pageable-copy"));
	TEST_TRUE(!tfs_rule_list_valid("TFS8"));
	TEST_TRUE(!tfs_rule_list_valid("T"));
	TEST_TRUE(tfs_rule_find("PAGEABLE-copy") == tfs_rule_find("tfs101"));
	TEST_TRUE(!tfs_rule_find("TFS999"));
}

static void put_rewrite(struct scene *scene, enum tfs_rewrite_state state, uint64_t applied)
{
	struct tfs_rewrite_record record = {.state = (uint16_t)state,
		.name = builder_string(scene_builder(scene), "pinned-staging"),
		.applied = applied,
		.predicted_ns = NAN,
		.realised_ns = NAN,
		.class = 1};

	builder_record(scene_builder(scene), TFS_RECORD_rewrite, &record, sizeof(record));
}

/* The rewrite staged the copy, so CUPTI saw pinned memory: the program is as pageable as before. */
static void rewrites_hide_nothing(bool flagged)
{
	struct scene *scene = scene_create(false);
	uint64_t device = scene_memory(scene, TFS_MEMORY_DEVICE, BIG);
	uint32_t name = builder_string(scene_builder(scene), "pinned-staging");

	for (unsigned i = 0; i < STEPS; i++) {
		struct builder_call call;

		scene_phase_step(scene, TFS_PHASE_TRAINING, flagged);
		call = scene_call(scene, 10, SCENE_LEGACY, TFS_LIBRARY_cudart,
			TFS_FAMILY_copy_async, "cudaMemcpyAsync");
		call.amount = BIG;
		builder_operand(
			&call, TFS_ROLE_WRITE | TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE), device, BIG);
		builder_operand(
			&call, TFS_ROLE_READ | TFS_ROLE_MEMORY(TFS_MEMORY_HOST), 0x1000, BIG);
		builder_attribute(&call, TFS_ATTRIBUTE_copy_kind, 1);
		builder_attribute(&call, TFS_ATTRIBUTE_rewritten, name);
		scene_make(scene, &call, BIG / 12);
	}
	put_rewrite(scene, TFS_REWRITE_REPORT, 0);
	put_rewrite(scene, TFS_REWRITE_APPLY, STEPS);
	scene_judge(scene, NULL);
	TEST_EQ(scene_state(scene, "TFS101"), TFS_STATE_VIOLATED);
	TEST_NEED(scene_finding(scene, "TFS101", 10));
	TEST_EQ(scene_finding(scene, "TFS101", 10)->repair.state, TFS_REPAIR_APPLIED);
	TEST_EQ(scene_finding(scene, "TFS101", 10)->doubt != NULL, flagged);
	TEST_EQ(scene_judgement(scene)->rewrite_count, 1);
	scene_destroy(scene);
}

/* A rewrite of which a recording says nothing did not run only if the recording is whole. */
static void rewrites_are_not_denied(bool whole, bool told)
{
	struct scene *scene = naive(false, BIG, 100000);
	size_t size;

	if (!whole)
		((struct tfs_file_header *)(void *)builder_bytes(scene_builder(scene), &size))
			->finished = 0;
	if (told)
		put_rewrite(scene, TFS_REWRITE_APPLY, 0);
	scene_judge(scene, NULL);
	TEST_NEED(scene_finding(scene, "TFS101", 10));
	TEST_EQ(scene_finding(scene, "TFS101", 10)->repair.state,
		whole ? TFS_REPAIR_OFF : TFS_REPAIR_NOT_KNOWN);
	scene_destroy(scene);
}

/* Some refusals do not undo what was done at the site's other calls. */
static void refusals_name_their_check(uint64_t count, bool refused)
{
	struct scene *scene = naive(false, BIG, 100000);
	struct tfs_refusal_record refusal = {
		.rewrite = builder_string(scene_builder(scene), "pinned-staging"),
		.check = TFS_CHECK_not_capturing,
		.count = count};
	struct builder_call call = scene_call(
		scene, 10, SCENE_LEGACY, TFS_LIBRARY_cudart, TFS_FAMILY_copy, "cudaMemcpy");

	put_rewrite(scene, TFS_REWRITE_APPLY, 5);
	refusal.site = call.site;
	builder_record(scene_builder(scene), TFS_RECORD_refusal, &refusal, sizeof(refusal));
	scene_judge(scene, NULL);
	TEST_NEED(scene_finding(scene, "TFS101", 10));
	TEST_EQ(scene_finding(scene, "TFS101", 10)->repair.state,
		refused ? TFS_REPAIR_REFUSED : TFS_REPAIR_APPLIED);
	TEST_STR(scene_finding(scene, "TFS101", 10)->repair.reason,
		refused ? "a stream was being captured into a graph" : "");
	scene_destroy(scene);
}

/* What does not fit is cut between characters: U+00B5 has two bytes. */
static void a_long_reason_is_cut_whole(void)
{
	struct tfs_findings findings = {0};
	struct tfs_verdict verdict;
	const size_t room = sizeof(verdict.reason) - 1;

	for (size_t blanks = room - 3; blanks <= room; blanks++) {
		tfs_verdict_set(
			&verdict, &findings, 0, TFS_STATE_PASSED, "%*s\302\265s", (int)blanks, "");
		const size_t bytes = strlen(verdict.reason);

		TEST_EQ(bytes, blanks + (blanks + 2 < room ? 3 : 0));
		TEST_TRUE(bytes == blanks || verdict.reason[bytes - 1] == 's');
	}
}

/* Of what is left out of a list the verdict tells; each rule has room for some. */
static void a_list_that_is_full(void)
{
	struct tfs_arena arena = {0};
	struct tfs_findings findings = {.arena = &arena};
	struct tfs_verdict verdict;
	size_t before = 0;

	for (unsigned nth = 0; nth < 3; nth++) {
		static const unsigned found[] = {1010, 25, 20};
		static const char *const says[] = {"1,000 findings; more are not listed",
			"20 findings; more are not listed", "20 findings"};

		findings.rule = tfs_rule_at(nth);
		for (unsigned i = 0; i < found[nth]; i++)
			tfs_findings_note(&findings, "what");
		tfs_verdict_set(&verdict, &findings, before, TFS_STATE_PASSED, "none");
		TEST_EQ(verdict.state, TFS_STATE_VIOLATED);
		TEST_STR(verdict.reason, says[nth]);
		before = findings.count;
	}
	/* The next one has nothing that is not listed. */
	findings.rule = tfs_rule_at(3);
	tfs_verdict_set(&verdict, &findings, before, TFS_STATE_PASSED, "none");
	TEST_EQ(verdict.state, TFS_STATE_PASSED);
	TEST_EQ(findings.count, 1040);
	free(findings.items);
	tfs_arena_finish(&arena);
}

/* Programs that call the driver alone are seen as well as those that call the runtime. */
static void the_driver_is_enough(enum tfs_library library, enum tfs_state state)
{
	struct scene *scene = scene_create(false);

	for (unsigned i = 0; i < STEPS; i++) {
		struct builder_call call = scene_call(
			scene, 10, SCENE_LEGACY, library, TFS_FAMILY_launch, "cuLaunchKernel");

		scene_step(scene);
		scene_make(scene, &call, 100000);
		scene_host(scene, 20000);
	}
	scene_judge(scene, NULL);
	TEST_EQ(scene_state(scene, "TFS101"), state);
	TEST_EQ(scene_state(scene, "TFS201"), state);
	scene_destroy(scene);
}

/* Where iterations stand for steps, nothing is judged, and what breaks a rule is a note. */
static void iterations_are_not_judged(void)
{
	struct scene *scene = scene_create(false);
	const uint64_t from = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);
	const uint64_t to = scene_memory(scene, TFS_MEMORY_DEVICE, 8192);
	const struct tfs_judgement *judgement;

	builder_window(scene_builder(scene), true, 1, scene_now(scene) - 100, 3);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_gemm(scene, 10, from, to, 4096, false, 50000);
		scene_gemm(scene, 11, from, to + 4096, 4096, false, 50000);
		scene_device_sync(scene, 12);
		scene_host(scene, 50000);
	}
	judgement = scene_judge(scene, NULL);
	TEST_STR(judgement->steps.source, "iterations");
	TEST_TRUE(!judgement->usable);
	TEST_TRUE(!strncmp(judgement->verdict, "not judged: no weight update was seen", 37));
	TEST_EQ(scene_state(scene, "TFS201"), TFS_STATE_VIOLATED);
	TEST_NEED(scene_finding(scene, "TFS201", 12));
	TEST_EQ(scene_finding(scene, "TFS201", 12)->level, TFS_LEVEL_NOTE);
	TEST_EQ(judgement->levels[TFS_LEVEL_ERROR] + judgement->levels[TFS_LEVEL_WARN], 0);
	scene_destroy(scene);
}

int main(void)
{
	a_list_that_is_full();
	the_driver_is_enough(TFS_LIBRARY_cuda, TFS_STATE_PASSED);
	the_driver_is_enough(TFS_LIBRARY_cublas, TFS_STATE_NOT_MEASURABLE);
	iterations_are_not_judged();
	a_long_reason_is_cut_whole();
	levels_follow_costs();
	simulated_costs_are_modelled();
	joint_saving();
	findings_are_ranked();
	ranks();
	waivers();
	rewrites_hide_nothing(false);
	rewrites_hide_nothing(true);
	for (int i = 0; i < 4; i++)
		rewrites_are_not_denied((i & 1) != 0, (i & 2) != 0);
	refusals_name_their_check(STEPS, true);
	refusals_name_their_check(1, false);
	return test_result();
}
