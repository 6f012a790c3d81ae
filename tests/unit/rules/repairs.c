/* SPDX-License-Identifier: MIT */
/* What a recording says of rewrites: of each its own, in its last word, and why it is off. */
#include <math.h>
#include <string.h>

#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define BIG (UINT64_C(4) << 20)

static struct scene *scene;

/* Uploads pageable memory, which pinned-staging repairs, and waits. */
static void begin(void)
{
	scene = scene_create(false);
	const uint64_t device = scene_memory(scene, TFS_MEMORY_DEVICE, BIG);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_copy(scene, 10, SCENE_LEGACY, false, true, TFS_MEMORY_PAGEABLE, device, BIG,
			2000 + BIG / 6);
		scene_launch(scene, 11, SCENE_LEGACY, 100000, 1024, 1, &device);
		scene_device_sync(scene, 12);
		scene_host(scene, 20000);
	}
}

static void put_line(const char *name, struct tfs_rewrite_record record)
{
	record.name = builder_string(scene_builder(scene), name);
	record.class = 1;
	record.predicted_ns = NAN;
	builder_record(scene_builder(scene), TFS_RECORD_rewrite, &record, sizeof(record));
}

static void put_rewrite(const char *name, enum tfs_rewrite_state state, uint64_t applied)
{
	put_line(name, (struct tfs_rewrite_record){
			       .state = (uint16_t)state, .applied = applied, .realised_ns = NAN});
}

static uint32_t site_of(unsigned line)
{
	return scene_call(
		scene, line, SCENE_LEGACY, TFS_LIBRARY_cudart, TFS_FAMILY_copy, "cudaMemcpy")
		.site;
}

static void put_refusal(const char *name, enum tfs_check check, uint32_t site, uint64_t count)
{
	const struct tfs_refusal_record record = {
		.rewrite = builder_string(scene_builder(scene), name),
		.check = (uint16_t)check,
		.site = site,
		.count = count};

	builder_record(scene_builder(scene), TFS_RECORD_refusal, &record, sizeof(record));
}

static const struct tfs_repair *repair(void)
{
	scene_judge(scene, NULL);
	TEST_NEED(scene_finding(scene, "TFS101", 10));
	return &scene_finding(scene, "TFS101", 10)->repair;
}

/* Without a reason of its own the state is one. */
static void a_state_says_why(enum tfs_rewrite_state state, const char *why)
{
	begin();
	put_rewrite("pinned-staging", state, 0);
	TEST_EQ(repair()->state, TFS_REPAIR_OFF);
	TEST_STR(repair()->reason, why);
	scene_destroy(scene);
}

static void refusals_are_each_ones_own(void)
{
	const struct tfs_judgement *judgement;
	const struct tfs_rewrite_line *lines;

	begin();
	put_rewrite("sync-narrowing", TFS_REWRITE_APPLY, 7);
	put_rewrite("pinned-staging", TFS_REWRITE_APPLY, 5);
	put_refusal("pinned-staging", TFS_CHECK_not_capturing, site_of(10), 1);
	put_refusal("pinned-staging", TFS_CHECK_no_peers, site_of(10), 29);
	put_refusal("sync-narrowing", TFS_CHECK_no_peers, site_of(12), 3);
	/* The last word of one that is told again. */
	put_refusal("pinned-staging", TFS_CHECK_not_capturing, site_of(10), 4);
	put_refusal("pinned-staging", TFS_CHECK_not_capturing, site_of(12), 6);
	/* The one that came most often is told of a finding. */
	TEST_EQ(repair()->state, TFS_REPAIR_REFUSED);
	TEST_STR(repair()->reason, "another device may access the memory");
	judgement = scene_judgement(scene);
	lines = judgement->rewrites;
	TEST_NEED(judgement->rewrite_count == 2);
	TEST_STR(lines[0].name, "sync-narrowing");
	TEST_NEED(lines[0].refusal_count == 1 && lines[1].refusal_count == 3);
	TEST_EQ(lines[0].refusals[0].count, 3);
	TEST_EQ(lines[0].refusals[0].site, site_of(12));
	TEST_EQ(lines[1].refusals[0].count, 4);
	TEST_EQ(lines[1].refusals[1].count, 29);
	TEST_EQ(lines[1].refusals[2].count, 6);
	TEST_STR(lines[1].refusals[0].text, "a stream was being captured into a graph");
	scene_destroy(scene);
}

/* A gain that an A/B test measured is counted on; what it repairs is not to be fixed any more. */
static void gains(
	enum tfs_rewrite_state state, enum tfs_rewrite_outcome outcome, double ns, bool proven)
{
	const struct tfs_judgement *judgement;
	const struct tfs_rewrite_line *line;
	const struct tfs_finding *finding;

	begin();
	put_line("pinned-staging", (struct tfs_rewrite_record){.state = (uint16_t)state,
					   .outcome = (uint16_t)outcome,
					   .applied = STEPS,
					   .realised_ns = ns,
					   .realised_low_ns = ns - 200000,
					   .realised_high_ns = ns + 1000});
	judgement = scene_judge(scene, NULL);
	TEST_NEED(judgement->rewrite_count == 1);
	line = &judgement->rewrites[0];
	finding = scene_finding(scene, "TFS101", 10);
	TEST_NEED(finding && judgement->joint_findings == 2);
	if (!TEST_EQ(line->proof, proven ? TFS_PROOF_AB : TFS_PROOF_NONE))
		printf("  state %d, outcome %d, %g ns\n", (int)state, (int)outcome, ns);
	TEST_EQ(line->gain.ns, proven ? ns : 0);
	TEST_EQ(line->gain.low_ns, 0);
	TEST_EQ(line->gain.high_ns, proven ? ns + 1000 : 0);
	TEST_EQ(finding->repaired, proven);
	TEST_EQ(judgement->open_findings, proven ? 1 : 2);
	TEST_TRUE(judgement->joint.ns > finding->cost.ns);
	/* The copy's share is not open any more. */
	TEST_IN(judgement->joint.ns - judgement->open.ns, proven ? finding->cost.ns * 0.9 : 0,
		proven ? finding->cost.ns * 1.1 : 0);
	TEST_IN(judgement->open_least_ns, 100000, 100000 + BIG / 6.0 + 2000);
	scene_destroy(scene);
}

int main(void)
{
	a_state_says_why(TFS_REWRITE_OFF, "not switched on");
	a_state_says_why(TFS_REWRITE_REPORT, "in report mode");
	a_state_says_why(TFS_REWRITE_SHADOW, "not switched on");
	a_state_says_why(TFS_REWRITE_LOST, "its A/B test showed no gain");
	a_state_says_why(TFS_REWRITE_APPLY, "not applicable: no matching call");
	refusals_are_each_ones_own();
	gains(TFS_REWRITE_APPLY, TFS_REWRITE_FASTER, 100000, true);
	gains(TFS_REWRITE_APPLY, TFS_REWRITE_FASTER, -1, false);
	gains(TFS_REWRITE_APPLY, TFS_REWRITE_UNDECIDED, 100000, false);
	gains(TFS_REWRITE_REPORT, TFS_REWRITE_FASTER, 100000, false);
	return test_result();
}
