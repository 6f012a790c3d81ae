/* SPDX-License-Identifier: MIT */
#include "reports/model/words.h"

#include <math.h>
#include <string.h>

#include "rules/catalogue/catalogue.h"
#include "rules/judge/pricing.h"
#include "rules/support/figures.h"

const char *tfs_words_time(struct tfs_arena *arena, double ns)
{
	return tfs_arena_string(arena, tfs_figure_time(ns).text);
}

const char *tfs_words_bytes(struct tfs_arena *arena, double bytes)
{
	return tfs_arena_string(arena, tfs_figure_bytes(bytes).text);
}

const char *tfs_words_count(struct tfs_arena *arena, double count)
{
	return tfs_arena_string(arena, tfs_figure_count(count).text);
}

const char *tfs_words_number(
	struct tfs_arena *arena, double count, const char *one, const char *many)
{
	return tfs_arena_string(arena, tfs_figure_number(count, one, many).text);
}

const char *tfs_words_calls(struct tfs_arena *arena, double per_step)
{
	return tfs_arena_string(arena, tfs_figure_calls(per_step).text);
}

const char *tfs_words_step(const struct tfs_model *model)
{
	return model->steps.iterations ? "iteration" : "step";
}

const char *tfs_words_steps(const struct tfs_model *model)
{
	return model->steps.iterations ? "iterations" : "steps";
}

const char *tfs_words_each(const struct tfs_model *model)
{
	if (model->steps.iterations)
		return "per iteration";
	return model->per_run ? "in the recorded run" : "per step";
}

const char *tfs_words_share(struct tfs_arena *arena, double share)
{
	return tfs_arena_string(arena, tfs_figure_share(share).text);
}

bool tfs_words_costless(const struct tfs_cost *cost)
{
	return cost->method == TFS_COST_NONE || cost->method == TFS_COST_UNKNOWN;
}

const char *tfs_words_method(const struct tfs_cost *cost)
{
	return tfs_cost_method_name(cost->method);
}

const char *tfs_words_cost(struct tfs_arena *arena, const struct tfs_cost *cost)
{
	if (cost->method == TFS_COST_UNKNOWN)
		return "not measurable";
	if (isnan(cost->ns))
		return "not measured";
	if (cost->ns == 0 && cost->high_ns == 0)
		return "none";
	return tfs_arena_print(arena, "%s (%s to %s)", tfs_words_time(arena, cost->ns),
		tfs_words_time(arena, cost->low_ns), tfs_words_time(arena, cost->high_ns));
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

const char *tfs_words_place(struct tfs_arena *arena, const struct tfs_model_place *place)
{
	const struct tfs_model_frame *best = tfs_model_best_frame(place);
	if (!best)
		return "the whole program";
	if (best->file && best->line)
		return tfs_arena_print(arena, "%s:%u", base_name(best->file), best->line);
	if (best->function)
		return best->function;
	return best->module ? best->module : "unknown call site";
}

const char *tfs_words_frame(struct tfs_arena *arena, const struct tfs_model_frame *frame)
{
	const char *function = frame->function ? frame->function : "?";
	if (frame->file && frame->line)
		return tfs_arena_print(arena, "%s:%u (%s)", frame->file, frame->line, function);
	if (frame->module)
		return tfs_arena_print(arena, "%s (%s)", frame->module, function);
	return function;
}

const char *tfs_words_level(enum tfs_level level)
{
	static const char *const names[] = {"note", "warn", "error"};
	return (unsigned)level < 3 ? names[level] : "note";
}

const char *tfs_words_state(enum tfs_state state)
{
	static const char *const names[] = {
		"passed", "violated", "not_measurable", "waived", "not_applicable"};
	return (unsigned)state < TFS_STATE_COUNT ? names[state] : "not_measurable";
}

const char *tfs_words_state_text(enum tfs_state state)
{
	static const char *const names[] = {
		"passed", "violated", "not measurable", "waived", "not applicable"};
	return (unsigned)state < TFS_STATE_COUNT ? names[state] : "not measurable";
}

const char *tfs_words_rewrite_state(const char *state)
{
	return !strcmp(state, "lost") ? "switched off" : state;
}

const char *tfs_words_state_sign(enum tfs_state state)
{
	static const char *const signs[] = {"+", "x", "?", "-", "-"};
	return (unsigned)state < TFS_STATE_COUNT ? signs[state] : "?";
}

const char *tfs_words_sign(enum tfs_level level)
{
	static const char *const signs[] = {"i", "!", "x"};
	return (unsigned)level < 3 ? signs[level] : "i";
}

bool tfs_words_unwritten_at(size_t n, const char **out_id, const char **out_slug)
{
	const struct tfs_catalogue_row *row = tfs_catalogue_unwritten(n);

	if (!row)
		return false;
	*out_id = row->id;
	*out_slug = row->slug;
	return true;
}

const char *tfs_words_unwritten(struct tfs_arena *arena, size_t *out_count)
{
	const char *id, *slug;
	const char *text = "";

	*out_count = 0;
	for (; tfs_words_unwritten_at(*out_count, &id, &slug); ++*out_count)
		text = tfs_arena_print(arena, "%s%s%s %s", text, *text ? ", " : "", id, slug);
	return text;
}

const char *tfs_words_ids(
	struct tfs_arena *arena, const struct tfs_model *model, const struct tfs_model_card *card)
{
	const struct tfs_rule_text *lead = model->findings[card->lead].rule;
	const char *text = tfs_arena_print(arena, "%s %s", lead->id, lead->slug);

	for (size_t i = 0; i < card->finding_count; i++) {
		const struct tfs_rule_text *rule = model->findings[card->findings[i]].rule;
		bool named = rule == lead;

		for (size_t j = 0; j < i; j++)
			named |= model->findings[card->findings[j]].rule == rule;
		if (!named)
			text = tfs_arena_print(arena, "%s + %s %s", text, rule->id, rule->slug);
	}
	return text;
}
