/* SPDX-License-Identifier: MIT */
/* Cards of findings made up for it: what is one cause, what it costs, and in which order. */
#include <string.h>

#include "reports/build/build.h"
#include "tests/test.h"

#define STEP_NS 1000.0

/* At a line of main(), in a group or in none, at a cost and from and to so much. */
struct found {
	unsigned line, group;
	enum tfs_level level;
	double ns, low_ns, high_ns;
};

static void build(struct tfs_model *model, const struct found *found, size_t count)
{
	static struct tfs_model_frame frames[8];
	static struct tfs_model_finding findings[8];
	static struct tfs_finding judged[8];
	static struct tfs_timeline timeline;
	static struct tfs_judgement judgement;
	struct tfs_build build = {.timeline = &timeline, .judgement = &judgement, .model = model};

	memset(model, 0, sizeof(*model));
	for (size_t i = 0; i < count; i++) {
		frames[i] = (struct tfs_model_frame){.file = "train.c", .line = found[i].line};
		findings[i] = (struct tfs_model_finding){.level = found[i].level,
			.group = found[i].group,
			.place = {.frames = &frames[i], .frame_count = 1, .key = 7},
			.cost = {found[i].ns, found[i].low_ns, found[i].high_ns, TFS_COST_REPLAY}};
		judged[i] = (struct tfs_finding){.site = (uint32_t)i + 1};
	}
	judgement.findings = judged;
	judgement.finding_count = model->finding_count = count;
	model->findings = findings;
	model->steps.written_ns = STEP_NS;
	tfs_build_cards(&build);
}

static void order_and_cost(void)
{
	static const struct found found[] = {
		{10, 0, TFS_LEVEL_NOTE, 50, 40, 60},  /* A: one line with B */
		{20, 1, TFS_LEVEL_WARN, 70, 60, 75},  /* C: one group with D */
		{10, 0, TFS_LEVEL_WARN, 90, 80, 100}, /* B */
		{30, 1, TFS_LEVEL_NOTE, 70, 60, 75},  /* D */
		{40, 0, TFS_LEVEL_ERROR, 5, 4, 6},    /* alone */
	};
	struct tfs_model model;

	build(&model, found, 5);
	TEST_EQ(model.card_count, 3);
	/* By what can be had back, never by level. */
	TEST_EQ(model.cards[0].finding_count, 2);
	TEST_EQ(model.cards[0].lead, 2);
	TEST_EQ(model.cards[0].level, TFS_LEVEL_WARN);
	TEST_EQ(model.cards[1].lead, 1);
	TEST_EQ(model.cards[2].lead, 4);
	/* Two causes at one line cost what the more expensive one does, or up to both. */
	TEST_EQ(model.cards[0].cost.ns, 90);
	TEST_EQ(model.cards[0].cost.low_ns, 80);
	TEST_EQ(model.cards[0].cost.high_ns, 160);
	/* One group costs once. */
	TEST_EQ(model.cards[1].cost.ns, 70);
	TEST_EQ(model.cards[1].cost.high_ns, 75);
	tfs_arena_finish(&model.arena);
}

/* No card costs more than the step has, though two of its findings together might. */
static void most(void)
{
	static const struct found found[] = {
		{10, 0, TFS_LEVEL_WARN, 600, 500, 700},
		{10, 0, TFS_LEVEL_WARN, 500, 400, 600},
	};
	struct tfs_model model;

	build(&model, found, 2);
	TEST_EQ(model.card_count, 1);
	TEST_EQ(model.cards[0].cost.ns, 600);
	TEST_EQ(model.cards[0].cost.high_ns, STEP_NS);
	tfs_arena_finish(&model.arena);
}

int main(void)
{
	order_and_cost();
	most();
	return test_result();
}
