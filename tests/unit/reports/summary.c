/* SPDX-License-Identifier: MIT */
/* What a program's last lines on the terminal say of its recording. */
#include "reports/support/save.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

#define CARDS 5u

static const struct tfs_rule_text rule = {.id = "TFS101", .slug = "pageable-copy"};
static const struct tfs_model_frame frame = {.function = "load", .file = "/src/a.c", .line = 3};
static const size_t numbers[CARDS] = {0, 1, 2, 3, 4};
static struct tfs_model_finding findings[CARDS];
static struct tfs_model_card cards[CARDS];

/* Five causes, the second of which costs nothing. */
static struct tfs_model make(void)
{
	for (unsigned i = 0; i < CARDS; i++) {
		findings[i] = (struct tfs_model_finding){.rule = &rule,
			.call = i ? "cudaMemcpy" : NULL,
			.place = {.frames = &frame, .frame_count = 1}};
		cards[i] = (struct tfs_model_card){.findings = &numbers[i],
			.finding_count = 1,
			.lead = i,
			.level = TFS_LEVEL_ERROR,
			.cost = {.ns = i == 1 ? 0 : 5e4}};
	}
	return (struct tfs_model){.recording = "x/run.tfs",
		.verdict = "5 errors",
		.usable = true,
		.headline = {.text = "2.00 ms as written"},
		.findings = findings,
		.finding_count = CARDS,
		.cards = cards,
		.card_count = CARDS,
		.open_cards = CARDS};
}

static void check(const struct tfs_model *model, const char *want)
{
	FILE *const terminal = stderr;
	char *text = NULL;
	size_t bytes = 0;

	stderr = open_memstream(&text, &bytes);
	TEST_NEED(stderr);
	tfs_save_summary(model);
	fclose(stderr);
	stderr = terminal;
	TEST_STR(text, want);
	free(text);
}

static void causes(void)
{
	struct tfs_model model = make();

	check(&model,
		"tfshim: 2.00 ms as written\n"
		"tfshim: 5 errors\n"
		"  x error TFS101 pageable-copy        a.c:3    50.0 \xc2\xb5s per step\n"
		"  x error TFS101 pageable-copy        a.c:3  cudaMemcpy\n"
		"  x error TFS101 pageable-copy        a.c:3  cudaMemcpy  50.0 \xc2\xb5s per step\n"
		"  and 2 more\n"
		"tfshim: report x/run.html (.txt and .json beside it)\n");
	model.open_cards = 1;
	model.simulated = true;
	model.loss_count = 1;
	check(&model,
		"tfshim: 2.00 ms as written\n"
		"tfshim: 5 errors\n"
		"  x error TFS101 pageable-copy        a.c:3    50.0 \xc2\xb5s per step, modelled\n"
		"tfshim: data was dropped while recording; the report says what\n"
		"tfshim: report x/run.html (.txt and .json beside it)\n");
}

static void rewrites(void)
{
	static const struct tfs_model_rewrite some[] = {{.name = "proven",
								.acts = true,
								.applied = 3,
								.proof = "A/B test",
								.gain = {1e6, 0, 2e6}},
		{.name = "idle", .acts = true}, {.name = "off", .applied = 3},
		{.name = "doubtful", .acts = true, .applied = 1}};
	struct tfs_model model = make();

	model.open_cards = 0;
	model.rewrites = some;
	model.rewrite_count = 4;
	check(&model, "tfshim: 2.00 ms as written\n"
		      "tfshim: 5 errors\n"
		      "  fixed for you: proven (1.00 ms per step, A/B test), doubtful (gain not "
		      "proven)\n"
		      "tfshim: report x/run.html (.txt and .json beside it)\n");
	model.headline.rewrites = "Rewrites are off.";
	model.rewrite_count = 0;
	check(&model, "tfshim: 2.00 ms as written\n"
		      "tfshim: 5 errors\n"
		      "  Rewrites are off.\n"
		      "tfshim: report x/run.html (.txt and .json beside it)\n");
}

/* A page is only of what was judged, or found, or of a program that computes. */
static void without_a_page(void)
{
	static const char page[] = "tfshim: no steps\n"
				   "tfshim: report x/run.html (.txt and .json beside it)\n";
	struct tfs_model model = make();

	model.usable = false;
	model.open_cards = 0;
	model.verdict = "no steps";
	model.levels[TFS_LEVEL_NOTE] = 5;
	check(&model, "tfshim: no steps\n"
		      "tfshim: report x/run.txt (.json beside it)\n");
	model.expense_count = 1;
	check(&model, "tfshim: no steps\n"
		      "tfshim: report x/run.txt (.json beside it)\n");
	model.computes = true;
	check(&model, page);
	model.computes = false;
	model.expense_count = 0;
	model.levels[TFS_LEVEL_WARN] = 1;
	check(&model, page);
}

int main(void)
{
	setenv("NO_COLOR", "1", 1);
	causes();
	rewrites();
	without_a_page();
	return test_result();
}
