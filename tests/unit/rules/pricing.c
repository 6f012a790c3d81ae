/* SPDX-License-Identifier: MIT */
/* Which findings share a cost, what it is, and how much is made of it. */
#include "rules/judge/pricing.h"

#include <math.h>

#include "rules/evidence/findings.h"
#include "rules/whatif/whatif_private.h"
#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define MOST 4u
#define US 1000.0
#define WORK 100000u

static struct scene *scene;
static struct tfs_steady steady;
static struct tfs_arena arena;
static struct tfs_draft drafts[MOST];
static struct tfs_hit hits[MOST][STEPS];
static struct tfs_findings findings;
static struct tfs_group *groups;
static size_t group_count;

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
	steady.whatif = tfs_whatif_create(&steady);
	TEST_NEED(steady.whatif && !steady.whatif->doubt);
	steady.whatif->error = steady.whatif->inflation = steady.whatif->load_ns = 0;
	findings = (struct tfs_findings){.steady = &steady, .arena = &arena, .items = drafts};
}

static void end(void)
{
	tfs_whatif_destroy(steady.whatif);
	tfs_steady_finish(&steady);
	tfs_arena_finish(&arena);
	scene_destroy(scene);
}

/* A finding at a place, which changes the first `count` calls of a family so. */
static struct tfs_draft *add(
	uint32_t site, enum tfs_family family, uint32_t count, struct tfs_edit edit)
{
	const uint32_t nth = (uint32_t)findings.count++;
	struct tfs_draft *draft = &drafts[nth];

	*draft = (struct tfs_draft){.hits = hits[nth],
		.most = TFS_LEVEL_ERROR,
		.parent = nth,
		.finding = {.rule = tfs_rule_find("TFS101"), .site = site, .function = 1}};
	for (uint32_t i = 0; i < steady.call_count && draft->hit_count < count; i++)
		if (tfs_steady_call(&steady, i)->family == family)
			hits[nth][draft->hit_count++] =
				(struct tfs_hit){.call = steady.calls[i], .edit = edit};
	return draft;
}

static struct tfs_draft *add_scale(uint32_t site, float scale)
{
	return add(site, TFS_FAMILY_launch, STEPS, (struct tfs_edit){.scale = scale});
}

static struct tfs_draft *add_wait(uint32_t site, uint32_t count)
{
	return add(site, TFS_FAMILY_device_sync, count, (struct tfs_edit){.no_wait = true});
}

/* And forgets the findings, which can still be looked at. */
static void price(void)
{
	TEST_EQ(tfs_findings_price(&steady, &findings, &groups, &group_count), 0);
	findings.count = 0;
}

static void is_near(const char *what, double got, double want)
{
	if (!TEST_IN(got, want - 100, want + 100))
		printf("  %s\n", what);
}

static void levels(void)
{
	begin();
	add_scale(1, 0.5f);
	add_scale(2, 0.95f);
	add_scale(3, 0.99f);
	add_scale(4, 0.5f)->most = TFS_LEVEL_WARN;
	price();
	TEST_EQ(drafts[0].finding.level, TFS_LEVEL_ERROR);
	TEST_EQ(drafts[1].finding.level, TFS_LEVEL_WARN);
	TEST_EQ(drafts[2].finding.level, TFS_LEVEL_NOTE);
	TEST_EQ(drafts[3].finding.level, TFS_LEVEL_WARN);
	TEST_EQ(group_count, 0);
	add_scale(1, 0.5f)->finding.doubt = "why";
	add_scale(2, 0.5f)->unsure = true;
	/* Of a rule whose findings are no warnings. */
	add_scale(3, 0.95f)->finding.rule = tfs_rule_find("TFS104");
	/* About the whole program. */
	add_scale(4, 0.5f)->hit_count = 0;
	price();
	TEST_EQ(drafts[0].finding.level, TFS_LEVEL_WARN);
	TEST_EQ(drafts[1].finding.level, TFS_LEVEL_NOTE);
	TEST_EQ(drafts[2].finding.level, TFS_LEVEL_NOTE);
	TEST_EQ(drafts[3].finding.level, TFS_LEVEL_ERROR);
	TEST_TRUE(!drafts[1].finding.doubt);
	/* Of few steps, of a run in which none is known. */
	steady.min_steps = STEPS + 1;
	add_scale(1, 0.5f);
	add_scale(2, 0.5f)->hit_count = 0;
	price();
	TEST_STR(drafts[0].finding.doubt, "few steps");
	TEST_TRUE(!drafts[1].finding.doubt);
	TEST_EQ(drafts[0].finding.level, TFS_LEVEL_WARN);
	steady.run = true;
	add_scale(1, 0.5f);
	add_scale(2, 0.5f)->hit_count = 0;
	price();
	TEST_TRUE(!drafts[0].finding.doubt);
	TEST_EQ(drafts[0].finding.level, TFS_LEVEL_NOTE);
	TEST_EQ(drafts[1].finding.level, TFS_LEVEL_ERROR);
	end();
}

/* Those of one call, unless each has a cause of its own, and those that wait for the same. */
static void shared(void)
{
	begin();
	add_scale(1, 0.75f);
	add_scale(1, 0.75f)->apart = true;
	add_scale(2, 0.5f);
	add_scale(2, 0.5f)->finding.function = 2;
	price();
	TEST_EQ(group_count, 0);
	add_scale(1, 0.75f)->finding.function = 0;
	add_scale(1, 0.75f)->finding.function = 0;
	add_wait(2, STEPS);
	/* A change of the wait's work is no change of the wait. */
	add(3, TFS_FAMILY_device_sync, STEPS, (struct tfs_edit){.scale = 0.5f});
	price();
	TEST_EQ(group_count, 0);
	add_wait(1, STEPS);
	add_wait(2, STEPS / 3);
	add(3, TFS_FAMILY_device_sync, STEPS / 3, (struct tfs_edit){.gone = true});
	price();
	TEST_NEED(group_count == 1);
	TEST_EQ(groups[0].findings, 3);
	TEST_EQ(drafts[1].finding.group, 1);
	TEST_EQ(drafts[1].finding.cost.ns, drafts[0].finding.cost.ns);
	/* The most expensive group is the first. */
	add_scale(1, 0.9f);
	add_scale(2, 0.8f);
	add_scale(1, 0.9f);
	add_scale(2, 0.8f);
	price();
	TEST_NEED(group_count == 2);
	TEST_TRUE(groups[0].cost.ns > groups[1].cost.ns);
	TEST_EQ(drafts[0].finding.group, 2);
	TEST_EQ(drafts[3].finding.group, 1);
	TEST_EQ(groups[0].id, 1);
	is_near("twice the same", drafts[0].finding.cost.ns, 10 * US);
	end();
}

/* What is needed saves nothing, what is unsure perhaps, and guesses are in the interval. */
static void costs(void)
{
	struct tfs_cost alone, cost;

	begin();
	add_scale(1, 0.75f);
	price();
	alone = drafts[0].finding.cost;
	is_near("alone", alone.ns, 25 * US);
	TEST_EQ(alone.method, TFS_COST_REPLAY);
	add_scale(1, 0.75f);
	add_wait(1, STEPS)->needed = true;
	price();
	is_near("needed", drafts[1].finding.cost.ns, alone.ns);
	add_scale(1, 0.75f)->less_ns = 3 * US;
	add_wait(1, STEPS)->unsure = true;
	price();
	cost = drafts[0].finding.cost;
	TEST_TRUE(cost.ns > alone.ns + 30 * US);
	is_near("certain", cost.low_ns, alone.low_ns - 3 * US);
	TEST_EQ(drafts[0].finding.level, TFS_LEVEL_ERROR);
	TEST_EQ(drafts[1].finding.level, TFS_LEVEL_NOTE);
	add_scale(1, 0.75f)->less_ns = 2 * US;
	drafts[0].more_ns = 5 * US;
	drafts[0].beside_ns = 7 * US;
	price();
	cost = drafts[0].finding.cost;
	is_near("the same", cost.ns, alone.ns);
	is_near("less", cost.low_ns, alone.low_ns - 2 * US);
	is_near("more", cost.high_ns, alone.high_ns + 12 * US);
	add_scale(1, 0.75f)->beside_ns = 1e9;
	price();
	is_near("no more than a step", drafts[0].finding.cost.high_ns, tfs_whatif_step_ns(&steady));
	add_scale(1, 0.75f)->priced = true;
	drafts[0].finding.cost = (struct tfs_cost){7, 5, 9, TFS_COST_SEARCHED};
	price();
	TEST_EQ(drafts[0].finding.cost.ns, 7);
	TEST_EQ(drafts[0].finding.cost.method, TFS_COST_SEARCHED);
	end();
}

static void bound(double blocked_ns, double step_ns, enum tfs_cost_method method)
{
	const struct tfs_cost *cost = &drafts[0].finding.cost;
	const double high_ns = fmin(blocked_ns, step_ns);

	steady.step_ns = step_ns;
	add_wait(1, STEPS)->finding.time_per_step_ns = blocked_ns;
	add_wait(1, STEPS)->finding.time_per_step_ns = blocked_ns / 2;
	add_wait(1, STEPS)->finding.time_per_step_ns = 1e6;
	drafts[2].needed = true;
	price();
	TEST_EQ(cost->method, method);
	is_near("bound", cost->high_ns, high_ns);
	is_near("half", cost->ns, high_ns / 2);
	TEST_EQ(cost->low_ns, 0);
}

/* Where nothing can be replayed a cost is no more than the time in which the host is blocked. */
static void bounds(void)
{
	struct tfs_whatif *whatif;

	begin();
	whatif = steady.whatif;
	steady.whatif = NULL;
	bound(80 * US, 150 * US, TFS_COST_BOUND);
	bound(80 * US, 60 * US, TFS_COST_BOUND);
	steady.simulated = true;
	bound(80 * US, 150 * US, TFS_COST_MODELLED);
	add_wait(1, 0)->finding.time_per_step_ns = 80 * US;
	price();
	TEST_EQ(drafts[0].finding.cost.method, TFS_COST_NONE);
	steady.whatif = whatif;
	end();
}

int main(void)
{
	levels();
	shared();
	costs();
	bounds();
	return test_result();
}
