/* SPDX-License-Identifier: MIT */
/* The headline, as people read it. */
#include "reports/model/words.h"

#include <math.h>

#include "rules/support/figures.h"

const char *tfs_words_factor(struct tfs_arena *arena, double factor)
{
	return tfs_arena_string(arena, tfs_figure_factor(factor).text);
}

const char *tfs_words_span(struct tfs_arena *arena, double low_ns, double high_ns)
{
	if (isnan(low_ns) || isnan(high_ns))
		return "no interval: one step";
	return tfs_arena_print(
		arena, "%s to %s", tfs_words_time(arena, low_ns), tfs_words_time(arena, high_ns));
}

/* "(1.76×, 95 %: 1.70× to 1.81×)"; that of one step is told as the step's own time is. */
static const char *factor(struct tfs_arena *arena, const struct tfs_model_time *time)
{
	if (isnan(time->low_ns))
		return tfs_arena_print(arena, "(%s; %s)", tfs_words_factor(arena, time->factor),
			tfs_words_span(arena, time->low_ns, time->high_ns));
	if (!(time->factor_high > time->factor_low))
		return tfs_arena_print(arena, "(%s)", tfs_words_factor(arena, time->factor));
	return tfs_arena_print(arena, "(%s, 95 %%: %s to %s)",
		tfs_words_factor(arena, time->factor), tfs_words_factor(arena, time->factor_low),
		tfs_words_factor(arena, time->factor_high));
}

const char *tfs_words_headline(struct tfs_arena *arena, const struct tfs_model *model)
{
	const struct tfs_model_headline *headline = &model->headline;
	const struct tfs_model_time *now = &headline->now, *possible = &headline->possible;
	const char *modelled = model->simulated ? "modelled: " : "";
	const char *written = tfs_words_time(arena, headline->as_written.ns);
	const char *each = tfs_words_each(model);

	if (headline->as_written.why)
		return NULL;
	if (now->why)
		return tfs_arena_print(arena,
			"%s%s %s as written; now and possible: not measurable: %s", modelled,
			written, each, now->why);
	if (possible->why)
		return tfs_arena_print(arena,
			"%s%s as written \xe2\x86\x92 %s now %s %s; possible: not measurable: %s",
			modelled, written, tfs_words_time(arena, now->ns), factor(arena, now), each,
			possible->why);
	return tfs_arena_print(arena,
		"%s%s as written \xe2\x86\x92 %s now (%s) \xe2\x86\x92 %s possible %s %s", modelled,
		written, tfs_words_time(arena, now->ns), tfs_words_factor(arena, now->factor),
		tfs_words_time(arena, possible->ns), factor(arena, possible), each);
}

const char *tfs_words_off(struct tfs_arena *arena, const struct tfs_model *model)
{
	const char *text = "";

	for (size_t i = 0; i < model->rewrite_count; i++)
		if (model->rewrites[i].silent)
			text = tfs_arena_print(
				arena, "%s%s%s", text, *text ? ", " : "", model->rewrites[i].name);
	return text;
}

/* How many of the cards a rule leads. */
static size_t count_led(
	const struct tfs_model *model, const struct tfs_rule_text *rule, size_t first, size_t end)
{
	size_t count = 0;

	for (size_t i = first; i < end; i++)
		count += model->findings[model->cards[i].lead].rule == rule;
	return count;
}

const char *tfs_words_more(
	struct tfs_arena *arena, const struct tfs_model *model, size_t first, size_t end)
{
	const char *text = tfs_arena_print(
		arena, "%s more like these", tfs_words_count(arena, (double)(end - first)));
	const char *between = ": ";

	for (size_t i = 0; i < model->rule_count; i++) {
		const struct tfs_rule_text *rule = model->rules[i].rule;
		const size_t count = count_led(model, rule, first, end);

		if (!count)
			continue;
		text = tfs_arena_print(arena, "%s%s%s (%s)", text, between, rule->id,
			tfs_words_count(arena, (double)count));
		between = ", ";
	}
	return text;
}
