/* SPDX-License-Identifier: MIT */
#include "reports/build/build.h"

#include <string.h>

#include "reports/build/code.h"
#include "reports/build/places.h"
#include "reports/model/words.h"
#include "reports/patch/source.h"

/* Findings with lines of source. */
#define MOST_SOURCES 100u

static const char *text_or_null(struct tfs_arena *arena, const char *text)
{
	return text && *text ? tfs_arena_string(arena, text) : NULL;
}

static void set_repair(
	struct tfs_arena *arena, const struct tfs_repair *repair, struct tfs_model_finding *to)
{
	static const char *const states[] = {[TFS_REPAIR_NONE] = "none",
		[TFS_REPAIR_OFF] = "off",
		[TFS_REPAIR_APPLIED] = "applied",
		[TFS_REPAIR_REFUSED] = "refused",
		[TFS_REPAIR_NOT_KNOWN] = "not known"};
	to->rewrite = text_or_null(arena, repair->name);
	to->rewrite_state = states[repair->state];
	to->rewrite_reason = text_or_null(arena, repair->reason);
}

/* The rules are already in the model, as the judgement has them. */
static const struct tfs_rule_text *rule_of(
	const struct tfs_build *build, const struct tfs_rule *rule)
{
	size_t i = 0;

	while (build->judgement->rules[i].rule != rule)
		i++;
	return build->model->rules[i].rule;
}

static void set_findings(struct tfs_build *build)
{
	struct tfs_model *model = build->model;
	struct tfs_arena *arena = &model->arena;
	const struct tfs_judgement *judgement = build->judgement;
	const uint64_t started_ns = tfs_trace_header(build->trace)->start_realtime_ns;
	size_t count = judgement->finding_count;
	struct tfs_model_finding *findings = tfs_arena_alloc(arena, count, sizeof(*findings));

	if (!findings)
		return;
	for (size_t i = 0; i < count; i++) {
		const struct tfs_finding *from = &judgement->findings[i];
		struct tfs_model_finding *to = &findings[i];
		to->rule = rule_of(build, from->rule);
		to->level = from->level;
		to->group = from->group;
		to->call = text_or_null(arena, tfs_trace_function(build->trace, from->function));
		to->place = tfs_places_find(build->places, from->site);
		if (i < MOST_SOURCES)
			to->source = tfs_source_read(
				arena, tfs_model_best_frame(&to->place), started_ns);
		to->stream = text_or_null(arena, from->stream);
		to->count_per_step = from->count_per_step;
		to->bytes_per_step = from->bytes_per_step;
		to->time_per_step_ns = from->time_per_step_ns;
		to->count_total = from->count_total;
		to->cost = from->cost;
		to->doubt = text_or_null(arena, from->doubt);
		to->message = tfs_code_added(
			build->places, arena, text_or_null(arena, from->message), &from->code);
		to->advice =
			tfs_arena_string(arena, from->advice ? from->advice : from->rule->advice);
		to->evidence = text_or_null(arena, from->evidence);
		set_repair(arena, &from->repair, to);
		to->repaired = from->repaired;
		if ((unsigned)from->level < 3)
			model->levels[from->level]++;
	}
	tfs_build_patches(build, findings);
	model->findings = findings;
	model->finding_count = count;
	model->joint = judgement->joint;
	model->joint_count = judgement->joint_findings;
}

static const char *reason_of(struct tfs_build *build, const struct tfs_verdict *verdict)
{
	struct tfs_arena *arena = &build->model->arena;
	struct tfs_model_place place;

	if (!verdict->site)
		return text_or_null(arena, verdict->reason);
	place = tfs_places_find(build->places, verdict->site);
	return tfs_arena_print(arena, "%s (%s)", verdict->reason, tfs_words_place(arena, &place));
}

static void set_rules(struct tfs_build *build)
{
	struct tfs_model *model = build->model;
	size_t count = build->judgement->rule_count;
	struct tfs_model_rule *rules = tfs_arena_alloc(&model->arena, count, sizeof(*rules));
	struct tfs_rule_text *texts = tfs_arena_alloc(&model->arena, count, sizeof(*texts));
	if (!rules || !texts)
		return;
	for (size_t i = 0; i < count; i++) {
		const struct tfs_rule_line *line = &build->judgement->rules[i];
		const struct tfs_rule *rule = line->rule;
		texts[i] = (struct tfs_rule_text){rule->id, rule->slug, rule->title, rule->why};
		rules[i].rule = &texts[i];
		rules[i].state = line->verdict.state;
		rules[i].reason = reason_of(build, &line->verdict);
		if (line->verdict.state == TFS_STATE_VIOLATED)
			rules[i].reason = tfs_words_number(
				&model->arena, line->findings, "finding", "findings");
		rules[i].findings = line->findings;
	}
	model->rules = rules;
	model->rule_count = count;
}

static const char *state_name(enum tfs_rewrite_state state)
{
	static const char *const names[] = {"off", "report", "shadow", "apply", "lost"};
	return (unsigned)state < 5 ? names[state] : "off";
}

static const char *outcome_name(enum tfs_rewrite_outcome outcome)
{
	static const char *const names[] = {
		NULL, "faster", "slower", "no measurable difference", "undecided"};
	return (unsigned)outcome < 5 ? names[outcome] : NULL;
}

static const char *proof_name(enum tfs_gain_proof proof)
{
	static const char *const names[] = {NULL, "A/B test", "measured search"};
	return (unsigned)proof < 3 ? names[proof] : NULL;
}

/* "TFS101 at train.c:42 and at 3 more call sites", of the findings that a rewrite repairs. */
static const char *repaired_places(struct tfs_build *build, const char *rewrite)
{
	struct tfs_model *model = build->model;
	struct tfs_arena *arena = &model->arena;
	const struct tfs_model_finding *first = NULL;
	size_t more = 0;

	for (size_t i = 0; i < model->finding_count; i++) {
		const struct tfs_model_finding *finding = &model->findings[i];

		if (build->judgement->findings[i].repair.state != TFS_REPAIR_APPLIED ||
			strcmp(finding->rewrite, rewrite))
			continue;
		more += first ? 1 : 0;
		first = first ? first : finding;
	}
	if (!first)
		return NULL;
	return tfs_arena_print(arena, "%s at %s%s", first->rule->id,
		tfs_words_place(arena, &first->place),
		more ? tfs_arena_print(arena, " and at %s",
			       tfs_words_number(
				       arena, (double)more, "more call site", "more call sites"))
		     : "");
}

static void set_rewrites(struct tfs_build *build)
{
	struct tfs_model *model = build->model;
	struct tfs_arena *arena = &model->arena;
	size_t count = build->judgement->rewrite_count;
	struct tfs_model_rewrite *rewrites = tfs_arena_alloc(arena, count, sizeof(*rewrites));
	if (!rewrites)
		return;
	for (size_t i = 0; i < count; i++) {
		const struct tfs_rewrite_line *from = &build->judgement->rewrites[i];
		struct tfs_model_rewrite *to = &rewrites[i];
		to->name = tfs_arena_string(arena, from->name);
		to->class_name = tfs_arena_string(arena, from->class_name);
		to->state = state_name(from->state);
		to->measured = outcome_name(from->outcome);
		to->reason = text_or_null(arena, from->reason);
		to->acts = from->state == TFS_REWRITE_APPLY && (from->applied || from->more);
		to->silent = from->state == TFS_REWRITE_OFF && !from->applied && !from->outcome &&
			     !from->refusal_count && !to->reason && !from->more;
		to->proof = proof_name(from->proof);
		to->gain = (struct tfs_span){from->gain.ns, from->gain.low_ns, from->gain.high_ns};
		to->where = repaired_places(build, to->name);
		to->off = tfs_arena_print(arena, "TFSHIM_REWRITE=safe,%s=off", to->name);
		to->applied = from->applied;
		to->more = from->more;
		to->bytes = from->bytes;
		to->predicted_ns = from->predicted_ns;
		to->realised_ns = from->realised_ns;
		to->realised_low_ns = from->realised_low_ns;
		to->realised_high_ns = from->realised_high_ns;
		struct tfs_model_refusal *refusals =
			tfs_arena_alloc(arena, from->refusal_count, sizeof(*refusals));
		for (size_t j = 0; refusals && j < from->refusal_count; j++) {
			refusals[j].check = tfs_arena_string(arena, from->refusals[j].check);
			refusals[j].text = tfs_arena_string(arena, from->refusals[j].text);
			refusals[j].count = from->refusals[j].count;
			refusals[j].place = tfs_places_find(build->places, from->refusals[j].site);
		}
		to->refusals = refusals;
		to->refusal_count = from->refusal_count;
	}
	model->rewrites = rewrites;
	model->rewrite_count = count;
}

void tfs_build_findings(struct tfs_build *build)
{
	set_rules(build);
	if (!build->model->rules)
		return;
	set_findings(build);
	tfs_build_cards(build);
	set_rewrites(build);
}
