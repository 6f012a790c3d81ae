/* SPDX-License-Identifier: MIT */
/* What all fixes save together, what is left of it beside proven rewrites, and which are proven. */
#include "rules/judge/joint.h"

#include "rules/whatif/whatif_private.h"
#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define MOST 4u
#define US 1000.0
#define WORK 100000u
#define QUARTER 25000.0 /* what a kernel of three quarters saves */

static struct scene *scene;
static struct tfs_steady steady;
static struct tfs_draft drafts[MOST];
static struct tfs_hit hits[MOST][STEPS];
static struct tfs_finding kept[MOST];
static struct tfs_rewrite_line lines[2];
static struct tfs_findings findings;
static struct tfs_judgement judgement;

/* A kernel of 100 us, a wait, and 50 us of own code, which could be beside the next kernel. */
static void begin(void)
{
	const uint64_t memory = UINT64_C(0x7e0000000000);

	scene = scene_create(false);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, WORK, 1024, 1, &memory);
		scene_device_sync(scene, 11);
		scene_host(scene, 50000);
	}
	TEST_EQ(tfs_steady_init(&steady, scene_judge(scene, NULL)->timeline, 0), 0);
}

/* Nothing is found yet, and nothing kept. */
static void anew(void)
{
	tfs_whatif_destroy(steady.whatif);
	steady.whatif = tfs_whatif_create(&steady);
	TEST_NEED(steady.whatif && !steady.whatif->doubt);
	steady.whatif->error = steady.whatif->inflation = steady.whatif->load_ns = 0;
	memset(drafts, 0, sizeof(drafts));
	memset(kept, 0, sizeof(kept));
	memset(lines, 0, sizeof(lines));
	findings = (struct tfs_findings){.steady = &steady, .items = drafts};
	judgement = (struct tfs_judgement){.findings = kept, .rewrites = lines};
}

static void end(void)
{
	tfs_whatif_destroy(steady.whatif);
	tfs_steady_finish(&steady);
	scene_destroy(scene);
}

static struct tfs_draft *add(enum tfs_family family, struct tfs_edit edit)
{
	const size_t nth = findings.count++;
	struct tfs_draft *draft = &drafts[nth];

	*draft = (struct tfs_draft){.hits = hits[nth]};
	for (uint32_t i = 0; i < steady.call_count; i++)
		if (tfs_steady_call(&steady, i)->family == family)
			hits[nth][draft->hit_count++] =
				(struct tfs_hit){.call = steady.calls[i], .edit = edit};
	return draft;
}

/* The kernel takes three quarters of its time; or the wait is not needed. */
static struct tfs_draft *add_scale(void)
{
	return add(TFS_FAMILY_launch, (struct tfs_edit){.scale = 0.75f});
}

static struct tfs_draft *add_wait(void)
{
	return add(TFS_FAMILY_device_sync, (struct tfs_edit){.no_wait = true});
}

static struct tfs_rewrite_line *add_rewrite(const char *name)
{
	struct tfs_rewrite_line *line = &lines[judgement.rewrite_count++];

	line->name = name;
	line->state = TFS_REWRITE_APPLY;
	line->applied = 1;
	return line;
}

static struct tfs_rewrite_line *add_faster(const char *name)
{
	struct tfs_rewrite_line *line = add_rewrite(name);

	line->outcome = TFS_REWRITE_FASTER;
	line->realised_ns = 10 * US;
	line->realised_high_ns = 11 * US;
	return line;
}

static void repaired_by(size_t nth, const char *name, enum tfs_repair_state state)
{
	kept[nth].repair = (struct tfs_repair){name, state, ""};
}

static void find(uint32_t causes)
{
	judgement.finding_count = findings.count;
	for (size_t i = 0; i < findings.count; i++)
		kept[i].group = drafts[i].finding.group;
	TEST_EQ(tfs_joint_find(&steady, &findings, &judgement), 0);
	TEST_EQ(judgement.joint_findings, causes);
}

static void is_near(const char *what, double got, double want)
{
	if (!TEST_IN(got, want - 100, want + 100))
		printf("  %s\n", what);
}

/* What the replay cannot know widens the interval, no further than from nothing to a step. */
static void widened(void)
{
	struct tfs_cost alone;

	anew();
	add_scale();
	find(1);
	alone = judgement.joint;
	is_near("alone", alone.ns, QUARTER);
	is_near("open", judgement.open.ns, QUARTER);
	anew();
	add_scale()->less_ns = 3 * US;
	drafts[0].more_ns = 5 * US;
	drafts[0].beside_ns = 7 * US;
	find(1);
	is_near("the same", judgement.joint.ns, alone.ns);
	is_near("less", judgement.joint.low_ns, alone.low_ns - 3 * US);
	is_near("more", judgement.joint.high_ns, alone.high_ns + 12 * US);
	anew();
	add_scale()->less_ns = 1e9;
	drafts[0].beside_ns = 1e9;
	find(1);
	TEST_EQ(judgement.joint.low_ns, 0);
	is_near("a step", judgement.joint.high_ns, tfs_whatif_step_ns(&steady));
}

/* What is needed, or has a price of its own, or is about the whole program, saves nothing here. */
static void left_out(void)
{
	struct tfs_draft *draft;

	for (unsigned why = 0; why < 3; why++) {
		anew();
		add_scale();
		draft = add_wait();
		draft->more_ns = draft->less_ns = 4 * US;
		draft->needed = why == 0;
		draft->priced = why == 1;
		draft->hit_count = why == 2 ? 0 : draft->hit_count;
		find(1);
		is_near("joint", judgement.joint.ns, QUARTER);
		TEST_TRUE(judgement.joint.high_ns - judgement.joint.ns < 4 * US);
		TEST_EQ(judgement.open_findings, 1);
	}
}

/* What may not be fixable is in the upper end of what is open, and no cause. */
static void unsure(void)
{
	anew();
	add_scale();
	add_wait()->unsure = true;
	find(1);
	is_near("joint", judgement.joint.ns, QUARTER);
	is_near("open", judgement.open.ns, QUARTER);
	TEST_TRUE(judgement.open.high_ns > judgement.open.ns + 30 * US);
	TEST_TRUE(judgement.joint.high_ns < judgement.joint.ns + 5 * US);
}

/* Those of a group are one cause, and the first of them that is fixed has it. */
static void groups(void)
{
	for (int needed = 0; needed < 2; needed++) {
		anew();
		for (unsigned i = 0; i < 3; i++)
			add_scale()->finding.group = 1;
		drafts[0].needed = needed;
		add_wait();
		find(2);
		TEST_EQ(judgement.open_findings, 2);
	}
}

/* The first one is repaired, the second one is not. */
static void repair_one(double less_ns)
{
	anew();
	add_scale()->less_ns = less_ns;
	add_wait();
	add_faster("sync-narrowing");
	repaired_by(0, "sync-narrowing", TFS_REPAIR_APPLIED);
	repaired_by(1, "sync-narrowing", TFS_REPAIR_REFUSED);
	find(2);
}

/* A finding is repaired by a rewrite of that name that acts there and is proven. */
static void repaired(void)
{
	struct tfs_cost joint, open;

	repair_one(0);
	joint = judgement.joint;
	open = judgement.open;
	TEST_TRUE(kept[0].repaired && !kept[1].repaired);
	TEST_EQ(judgement.open_findings, 1);
	is_near("the rest", joint.ns - open.ns, QUARTER);
	is_near("least", judgement.open_least_ns, 0.75 * WORK);
	/* What is repaired is no guess any more. */
	repair_one(3 * US);
	is_near("a guess", judgement.joint.low_ns, joint.low_ns - 3 * US);
	is_near("no guess", judgement.open.low_ns, open.low_ns);
	anew();
	add_scale();
	add_faster("sync-narrowing");
	add_rewrite("pinned-staging");
	repaired_by(0, "pinned-staging", TFS_REPAIR_APPLIED);
	find(1);
	TEST_TRUE(!kept[0].repaired);
	TEST_EQ(judgement.open_findings, 1);
	is_near("all of it", judgement.open.ns, QUARTER);
}

/* Searches prove the gain of the rewrite whose choice they are, where it acted. */
static void searched(uint64_t applied, double written_ns, enum tfs_gain_proof proof)
{
	const char *search = tfs_rule_find("TFS601")->rewrite;
	struct tfs_cost cost;

	anew();
	steady.whatif->written_ns = steady.whatif->replayed_ns + written_ns;
	cost = tfs_whatif_searched(steady.whatif);
	add_rewrite("sync-narrowing");
	add_rewrite(search)->applied = applied;
	find(0);
	TEST_EQ(lines[0].proof, TFS_PROOF_NONE);
	TEST_EQ(lines[1].proof, proof);
	TEST_EQ(lines[1].gain.ns, proof ? cost.ns : 0);
	TEST_EQ(lines[1].gain.low_ns, proof ? cost.low_ns : 0);
	TEST_EQ(lines[1].gain.high_ns, proof ? cost.high_ns : 0);
	TEST_EQ(judgement.joint.method, TFS_COST_NONE);
}

/* Where no cost can be told, none is; what rewrites gained was measured all the same. */
static void in_doubt(void)
{
	anew();
	add_scale();
	add_faster("sync-narrowing");
	steady.whatif->doubt = "why";
	find(0);
	TEST_EQ(judgement.joint.method, TFS_COST_NONE);
	TEST_EQ(judgement.open.method, TFS_COST_NONE);
	TEST_EQ(lines[0].proof, TFS_PROOF_AB);
	TEST_EQ(lines[0].gain.ns, 10 * US);
}

int main(void)
{
	begin();
	widened();
	left_out();
	unsure();
	groups();
	repaired();
	searched(1, 8 * US, TFS_PROOF_SEARCH);
	searched(0, 8 * US, TFS_PROOF_NONE);
	searched(1, 0, TFS_PROOF_NONE);
	in_doubt();
	end();
	return test_result();
}
