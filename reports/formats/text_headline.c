/* SPDX-License-Identifier: MIT */
#include "reports/formats/text_headline.h"

#include <math.h>
#include <string.h>

#include "reports/formats/text.h"
#include "reports/model/reasons.h"
#include "reports/model/words.h"

static void write_state(
	FILE *out, const char *name, const struct tfs_model_time *state, struct tfs_arena *arena)
{
	const char *text;

	if (state->why)
		text = tfs_arena_print(arena, "not measurable: %s", state->why);
	else
		text = tfs_arena_print(arena, "%s (%s)%s; %s", tfs_words_time(arena, state->ns),
			tfs_words_span(arena, state->low_ns, state->high_ns),
			state->factor > 1 ? tfs_arena_print(arena, ", %s of as written",
						    tfs_words_share(arena, 1 / state->factor))
					  : "",
			state->from);
	fprintf(out, "  %-12s", name);
	tfs_text_wrapped(out, text, 14);
}

static void write_step(
	FILE *out, const struct tfs_span *saved, const char *what, struct tfs_arena *arena)
{
	fprintf(out, "%14s", "");
	tfs_text_wrapped(out,
		tfs_arena_print(arena, "\xe2\x88\x92 %s (%s) %s", tfs_words_time(arena, saved->ns),
			tfs_words_span(arena, saved->low_ns, saved->high_ns), what),
		16);
}

void tfs_text_states(const struct tfs_model *model, FILE *out, const struct tfs_paint *paint,
	struct tfs_arena *arena)
{
	const struct tfs_model_headline *headline = &model->headline;

	if (!headline->text && model->per_run)
		return;
	fprintf(out, "\n%s%s TIME%s%s, with 95 %% intervals\n", paint->bold,
		model->steps.iterations ? "ITERATION" : "STEP", paint->reset,
		model->simulated ? " modelled" : "");
	write_state(out, "as written", &headline->as_written, arena);
	for (size_t i = 0; i < model->rewrite_count && !headline->now.why; i++)
		if (model->rewrites[i].proof)
			write_step(out, &model->rewrites[i].gain,
				tfs_arena_print(arena, "%s, by %s", model->rewrites[i].name,
					model->rewrites[i].proof),
				arena);
	write_state(out, "now", &headline->now, arena);
	if (!headline->possible.why && headline->causes && headline->open.high_ns > 0)
		write_step(out, &headline->open,
			tfs_words_number(
				arena, headline->causes, "cause, fixed", "causes, fixed together"),
			arena);
	write_state(out, "possible", &headline->possible, arena);
}

static const char *gain(const struct tfs_model_rewrite *rewrite, struct tfs_arena *arena)
{
	const char *predicted = isnan(rewrite->predicted_ns)
					? "gain not predicted"
					: tfs_arena_print(arena, "predicted gain %s per step",
						  tfs_words_time(arena, rewrite->predicted_ns));

	if (rewrite->proof)
		return tfs_arena_print(arena, "gain %s per step (%s) by %s",
			tfs_words_time(arena, rewrite->gain.ns),
			tfs_words_span(arena, rewrite->gain.low_ns, rewrite->gain.high_ns),
			rewrite->proof);
	if (isnan(rewrite->realised_ns))
		return tfs_arena_print(arena, "%s, gain not measured", predicted);
	return tfs_arena_print(arena, "measured gain %s per step (%s)",
		tfs_words_time(arena, rewrite->realised_ns),
		tfs_words_span(arena, rewrite->realised_low_ns, rewrite->realised_high_ns));
}

static void write_rewrite(
	FILE *out, const struct tfs_model_rewrite *rewrite, struct tfs_arena *arena)
{
	const struct tfs_refusal_reason *reasons;
	size_t count;

	tfs_text_line(out, "  %-16s %s, %s%s%s; applied to %s%s%s%s; %s", rewrite->name,
		rewrite->class_name, tfs_words_rewrite_state(rewrite->state),
		rewrite->measured ? ", " : "", rewrite->measured ? rewrite->measured : "",
		rewrite->more ? "at least " : "",
		tfs_words_number(arena, (double)rewrite->applied, "call", "calls"),
		rewrite->where ? ": " : "", rewrite->where ? rewrite->where : "",
		gain(rewrite, arena));
	if (rewrite->acts) {
		fprintf(out, "%19s", "");
		tfs_text_line(out, "off with %s", rewrite->off);
	}
	if (rewrite->reason) {
		fprintf(out, "%19s", "");
		tfs_text_wrapped(out, rewrite->reason, 19);
	}
	reasons = tfs_reasons_find(arena, rewrite, &count);
	for (size_t i = 0; i < count; i++) {
		fprintf(out, "%19s", "");
		tfs_text_wrapped(out,
			tfs_arena_print(arena, "%s: %s", tfs_reasons_print(arena, &reasons[i]),
				reasons[i].text),
			19);
	}
}

/* How many rewrites act, or do not. */
static size_t count_rewrites(const struct tfs_model *model, bool acting)
{
	size_t count = 0;

	for (size_t i = 0; i < model->rewrite_count; i++)
		count += model->rewrites[i].acts == acting;
	return count;
}

void tfs_text_fixed(const struct tfs_model *model, FILE *out, const struct tfs_paint *paint,
	struct tfs_arena *arena)
{
	fprintf(out, "\n%sFIXED FOR YOU%s", paint->bold, paint->reset);
	if (count_rewrites(model, true))
		fputc('\n', out);
	else
		fputs(model->whole ? " nothing\n" : " not known: the recording is incomplete\n",
			out);
	if (model->headline.rewrites) {
		fputs("  ", out);
		tfs_text_wrapped(out, model->headline.rewrites, 2);
	}
	for (size_t i = 0; i < model->rewrite_count; i++)
		if (model->rewrites[i].acts)
			write_rewrite(out, &model->rewrites[i], arena);
}

void tfs_text_rewrites(const struct tfs_model *model, FILE *out, const struct tfs_paint *paint,
	struct tfs_arena *arena)
{
	const char *off = tfs_words_off(arena, model);

	if (!count_rewrites(model, false))
		return;
	fprintf(out, "\n%sREWRITES%s that fixed nothing\n", paint->bold, paint->reset);
	for (size_t i = 0; i < model->rewrite_count; i++)
		if (!model->rewrites[i].acts && !model->rewrites[i].silent)
			write_rewrite(out, &model->rewrites[i], arena);
	if (*off) {
		fputs("  off              ", out);
		tfs_text_wrapped(out, off, 19);
	}
}

static void write_rule(FILE *out, const struct tfs_model_rule *line)
{
	fprintf(out, "  %s %s %-24s %-15s ", tfs_words_state_sign(line->state), line->rule->id,
		line->rule->slug, tfs_words_state_text(line->state));
	tfs_text_wrapped(out, line->reason ? line->reason : "", 52);
}

static size_t count_rules(const struct tfs_model *model, enum tfs_state state)
{
	size_t count = 0;

	for (size_t i = 0; i < model->rule_count; i++)
		count += model->rules[i].state == state;
	return count;
}

void tfs_text_unjudged(const struct tfs_model *model, FILE *out, const struct tfs_paint *paint,
	struct tfs_arena *arena)
{
	size_t unwritten;
	const char *names = tfs_words_unwritten(arena, &unwritten);

	fprintf(out, "\n%sNOT MEASURABLE%s %s whose evidence is missing\n", paint->bold,
		paint->reset,
		tfs_words_number(arena, (double)count_rules(model, TFS_STATE_NOT_MEASURABLE),
			"rule", "rules"));
	for (size_t i = 0; i < model->rule_count; i++)
		if (model->rules[i].state == TFS_STATE_NOT_MEASURABLE)
			write_rule(out, &model->rules[i]);
	fprintf(out, "\n%sNOT LOOKED FOR%s %s that this version does not check\n  ", paint->bold,
		paint->reset, tfs_words_number(arena, (double)unwritten, "rule", "rules"));
	tfs_text_wrapped(out, names, 2);
}

void tfs_text_passed(const struct tfs_model *model, FILE *out, const struct tfs_paint *paint,
	struct tfs_arena *arena)
{
	fprintf(out, "\n%sRULES%s %s passed\n", paint->bold, paint->reset,
		tfs_words_number(
			arena, (double)count_rules(model, TFS_STATE_PASSED), "rule", "rules"));
	for (size_t i = 0; i < model->rule_count; i++)
		if (model->rules[i].state != TFS_STATE_NOT_MEASURABLE &&
			model->rules[i].state != TFS_STATE_VIOLATED)
			write_rule(out, &model->rules[i]);
}
