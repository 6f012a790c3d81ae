/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "reports/formats/text.h"
#include "reports/gate/gate.h"
#include "reports/gate/gate_cards.h"
#include "reports/model/words.h"
#include "reports/support/must.h"

#define MOST_CHANGES 20u /* of call sites that no rule points at */

static void print_change(enum tfs_change change, const struct tfs_spot *now,
	const struct tfs_paint *paint, struct tfs_arena *arena)
{
	printf("%si %-5s%s  ", paint->note, change == TFS_CHANGE_NEW ? "new" : "more",
		paint->reset);
	tfs_text_put(stdout, tfs_words_place(arena, &now->place));
	fputs("  ", stdout);
	tfs_text_put(stdout, now->function);
	if (change == TFS_CHANGE_NEW)
		printf("  %s, not in the baseline; breaks no rule\n",
			tfs_words_calls(arena, now->calls));
	else if (change == TFS_CHANGE_CALLS)
		printf("  %s, %s in the baseline; breaks no rule\n",
			tfs_words_calls(arena, now->calls),
			tfs_words_count(arena, now->other->calls));
	else
		printf("  %s/step, %s in the baseline; breaks no rule\n",
			tfs_words_bytes(arena, now->bytes),
			tfs_words_bytes(arena, now->other->bytes));
}

/* What rules point at is told by their findings. */
static void print_changes(const struct tfs_gate *gate, const struct tfs_comparison *comparison,
	const struct tfs_paint *paint, struct tfs_arena *arena)
{
	const struct tfs_pairing *pairing = &comparison->pairing;
	size_t count = 0;

	/* A few rules say nothing of the other calls. */
	if (gate->select)
		return;
	for (size_t i = 0; i < pairing->counts[TFS_NOW]; i++) {
		const struct tfs_spot *now = &pairing->spots[TFS_NOW][i];
		const enum tfs_change change = tfs_baseline_change(now);

		if (now->found || change == TFS_CHANGE_NONE)
			continue;
		if (count++ < MOST_CHANGES)
			print_change(change, now, paint, arena);
	}
	if (count > MOST_CHANGES)
		printf("  and %s, new or called more often\n",
			tfs_words_number(arena, (double)(count - MOST_CHANGES), "more call site",
				"more call sites"));
}

static const char *steps(struct tfs_arena *arena, const struct tfs_model *model)
{
	return tfs_words_number(arena, (double)model->steps.count, "step", "steps");
}

/* What is not fixed in the baseline may come back unseen. */
static void print_fixed(const struct tfs_comparison *comparison, const struct tfs_paint *paint,
	struct tfs_arena *arena)
{
	size_t less, unseen;
	const size_t fixed = tfs_baseline_fixed(comparison, &less, &unseen);

	const struct tfs_model *now = comparison->now, *before = comparison->before;

	if (unseen && tfs_baseline_shorter(now, before))
		printf("%s! note %s %zu of the baseline's findings not seen in the %s of this run; the baseline has %s, "
		       "so they may not be fixed\n",
			paint->warn, paint->reset, unseen, steps(arena, now),
			tfs_words_count(arena, (double)before->steps.count));
	else if (unseen)
		printf("%s! note %s %zu of the baseline's findings not judged: "
		       "their rules are not measurable in this run, so they may not be fixed\n",
			paint->warn, paint->reset, unseen);
	if (!fixed && !less)
		return;
	printf("%s+ good %s ", paint->good, paint->reset);
	if (fixed)
		printf("%zu fixed%s", fixed, less ? ", " : "");
	if (less)
		fputs(tfs_words_number(
			      arena, (double)less, "happens less often", "happen less often"),
			stdout);
	tfs_text_line(stdout, ": update the baseline, so that they cannot come back: cp %s %s",
		now->recording, before->recording);
}

/* What begins late is new against a run that ended before it. */
static void print_shorter(const struct tfs_comparison *comparison, const struct tfs_paint *paint,
	struct tfs_arena *arena)
{
	const struct tfs_model *now = comparison->now, *before = comparison->before;

	if (tfs_baseline_shorter(before, now))
		printf("%s! note %s the baseline has %s, this run %s: "
		       "new findings may begin after the baseline's last step\n",
			paint->warn, paint->reset, steps(arena, before),
			tfs_words_count(arena, (double)now->steps.count));
}

/* A rule that has not passed and is not broken must not be taken for either. */
static void print_rules(const struct tfs_model *model, const struct tfs_paint *paint)
{
	size_t passed = 0, unwritten = 0;
	const char *id, *slug;

	for (size_t i = 0; i < model->rule_count; i++) {
		const struct tfs_model_rule *line = &model->rules[i];

		passed += line->state == TFS_STATE_PASSED;
		if (line->state == TFS_STATE_NOT_MEASURABLE ||
			line->state == TFS_STATE_NOT_APPLICABLE) {
			printf("%s%s      %s %s %s  %s: ", paint->dim,
				tfs_words_state_sign(line->state), paint->reset, line->rule->id,
				line->rule->slug, tfs_words_state_text(line->state));
			tfs_text_line(stdout, "%s", line->reason ? line->reason : "");
		}
	}
	while (tfs_words_unwritten_at(unwritten, &id, &slug))
		unwritten++;
	printf("+       rules passed: %zu; not looked for: %zu ('tfshim rules' lists them)\n",
		passed, unwritten);
}

size_t tfs_gate_print(const struct tfs_gate *gate, const struct tfs_model *model,
	const struct tfs_comparison *comparison)
{
	const struct tfs_paint *paint = tfs_colour_choose(gate->colour, stdout);
	struct tfs_arena arena = {0};
	struct tfs_standing_of *of =
		tfs_must(tfs_arena_alloc(&arena, model->finding_count, sizeof(*of)));
	size_t broken = 0;
	size_t standing[TFS_STANDING_WORSE + 1] = {0};

	for (size_t i = 0; i < model->finding_count; i++) {
		const struct tfs_model_finding *finding = &model->findings[i];

		of[i] = (struct tfs_standing_of){.standing = TFS_STANDING_NEW};
		if (comparison)
			of[i] = tfs_baseline_standing(comparison, finding);
		standing[of[i].standing]++;
		broken += (unsigned)finding->level >= gate->fail_on &&
			  (of[i].standing == TFS_STANDING_NEW ||
				  of[i].standing == TFS_STANDING_WORSE);
	}
	if (!gate->quiet) {
		for (size_t i = 0; i < model->card_count; i++)
			tfs_gate_card_print(
				model, &model->cards[i], paint, comparison ? of : NULL, &arena);
		if (comparison) {
			print_changes(gate, comparison, paint, &arena);
			print_fixed(comparison, paint, &arena);
			if (standing[TFS_STANDING_NEW] || standing[TFS_STANDING_WORSE])
				print_shorter(comparison, paint, &arena);
		}
		print_rules(model, paint);
		printf("%s%s%s  ", broken ? paint->error : paint->good, broken ? "broken" : "clean",
			paint->reset);
		tfs_text_put(stdout, model->recording);
		printf("%s%s: causes: %zu, findings: %zu, failing the gate: %zu",
			*model->started ? " of " : "", model->started, model->card_count,
			model->finding_count, broken);
		if (comparison)
			printf("; known: %zu, new: %zu, worse: %zu",
				standing[TFS_STANDING_KNOWN] + standing[TFS_STANDING_SCALED],
				standing[TFS_STANDING_NEW], standing[TFS_STANDING_WORSE]);
		putchar('\n');
	}
	tfs_must_finish(&arena);
	return broken;
}
