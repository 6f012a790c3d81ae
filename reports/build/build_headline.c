/* SPDX-License-Identifier: MIT */
/* What is known of the step's three states, and the line that says it. */
#include "reports/build/build.h"

#include <math.h>
#include <string.h>

#include "reports/model/words.h"
#include "rules/judge/needs.h"
#include "rules/timeline/recording_cost.h"

static struct tfs_span find_added(const struct tfs_timeline *timeline)
{
	struct tfs_span added;

	added.ns = tfs_recording_added_ns(timeline, &added.low_ns, &added.high_ns);
	return added;
}

static bool searched(const struct tfs_judgement *judgement)
{
	for (size_t i = 0; i < judgement->rewrite_count; i++)
		if (judgement->rewrites[i].proof == TFS_PROOF_SEARCH)
			return true;
	return false;
}

/* The recorded steps with rewrites off; where there are none, those that were only timed. */
static struct tfs_span find_written(struct tfs_build *build, struct tfs_model_time *out)
{
	struct tfs_arena *arena = &build->model->arena;
	const struct tfs_step_summary *steps = &build->judgement->steps;
	const struct tfs_step_times *outside = &build->timeline->outside;

	if (steps->judged && !build->timeline->judged_rewritten) {
		/* The device's times have no part of what recording takes of the host's. */
		const struct tfs_span added =
			steps->ahead ? (struct tfs_span){0, 0, 0} : find_added(build->timeline);

		out->from = tfs_arena_print(arena, "%s with rewrites off%s%s",
			tfs_words_number(arena, (double)steps->judged,
				tfs_arena_print(arena, "recorded %s", tfs_words_step(build->model)),
				tfs_arena_print(
					arena, "recorded %s", tfs_words_steps(build->model))),
			searched(build->judgement) ? ", replayed with the algorithms that the "
						     "program asks for"
						   : "",
			added.ns > 0 ? tfs_arena_print(arena, ", less %s that recording adds",
					       tfs_words_time(arena, added.ns))
				     : "");
		return tfs_headline_written(steps->recorded_ns,
			steps->spread_ns * tfs_headline_errors(steps->judged), added);
	}
	if (outside->count >= TFS_COST_LEAST_STEPS) {
		out->from = tfs_arena_print(arena, "the median of %s with rewrites off",
			tfs_words_number(arena, (double)outside->count,
				tfs_words_step(build->model), tfs_words_steps(build->model)));
		return (struct tfs_span){
			outside->median_ns, outside->median_low_ns, outside->median_high_ns};
	}
	out->why = build->model->per_run ? "no training steps were found"
		   : steps->judged       ? "every recorded step ran with a rewrite on"
					 : "no training step was recorded in full";
	return (struct tfs_span){NAN, NAN, NAN};
}

/* The recording has the last word on what each rewrite did; without any it does not. */
static bool tells_rewrites(const struct tfs_build *build)
{
	const struct tfs_trace_summary *summary = tfs_trace_summary(build->trace);
	const bool closed = build->model->finished && !summary->cut && !summary->damages;

	return closed || build->model->imported || build->model->rewrite_count;
}

static struct tfs_span find_gained(const struct tfs_model *model, size_t *out_count)
{
	struct tfs_span gained = {0, 0, 0};

	*out_count = 0;
	for (size_t i = 0; i < model->rewrite_count; i++) {
		if (!model->rewrites[i].proof)
			continue;
		gained = tfs_headline_sum(gained, model->rewrites[i].gain);
		++*out_count;
	}
	return gained;
}

static const char *now_from(struct tfs_model *model, size_t proven)
{
	struct tfs_arena *arena = &model->arena;
	size_t acting = 0, tried = 0;
	const char *doubtful;

	for (size_t i = 0; i < model->rewrite_count; i++) {
		tried += model->rewrites[i].applied > 0;
		acting += model->rewrites[i].acts && model->rewrites[i].applied;
	}
	if (model->imported)
		return "another tool recorded the program: no rewrite was on";
	if (!acting && !proven)
		return tried ? "no rewrite that was tried is on" : "no rewrite was applied";
	doubtful = acting > proven
			   ? tfs_arena_print(arena, "%s applied, with a gain that is not proven",
				     tfs_words_number(arena, (double)(acting - proven),
					     "rewrite was", "rewrites were"))
			   : "";
	if (!proven)
		return doubtful;
	return tfs_arena_print(arena, "%s with a proven gain%s%s",
		tfs_words_number(arena, (double)proven, "rewrite", "rewrites"),
		*doubtful ? "; " : "", doubtful);
}

static void find_now(
	struct tfs_build *build, struct tfs_span written, struct tfs_model_headline *headline)
{
	size_t proven;
	const struct tfs_span gained = find_gained(build->model, &proven);
	const char *why = headline->as_written.why;

	if (!why && !tells_rewrites(build))
		why = "the recording is incomplete and does not say what rewrites did";
	if (!why && !(gained.ns < written.ns))
		why = "rewrites gained more in their tests than a recorded step takes";
	if (why) {
		headline->now = tfs_headline_unknown(why);
		return;
	}
	headline->gained = gained;
	headline->now = tfs_headline_state(written, gained);
	headline->now.from = now_from(build->model, proven);
}

/* Why findings cannot be replayed together, or NULL. */
static const char *unpriced(const struct tfs_build *build)
{
	const struct tfs_step_summary *steps = &build->judgement->steps;

	if (!steps->judged || !build->judgement->visibility.calls)
		return "no training step was recorded in full";
	if (!build->judgement->visibility.device)
		return tfs_need_device(
			build->judgement->visibility.untied, build->judgement->visibility.lost);
	if (build->timeline->judged_rewritten)
		return "every recorded step ran with a rewrite on";
	if (steps->unpriced)
		return steps->unpriced;
	return steps->replay_error < 0 ? "the judged steps could not be replayed" : NULL;
}

/* Nothing is replayed. */
static const char *unfixed(const struct tfs_model *model)
{
	for (size_t i = 0; i < model->finding_count; i++)
		if (model->findings[i].cost.ns > 0 && !model->findings[i].repaired)
			return "what is found may not be fixable";
	return "no finding has a cost that can be recovered";
}

static void find_possible(
	struct tfs_build *build, struct tfs_span written, struct tfs_model_headline *headline)
{
	struct tfs_arena *arena = &build->model->arena;
	const struct tfs_cost *open = &build->judgement->open;
	const char *why = headline->now.why ? headline->now.why : unpriced(build);
	struct tfs_span saved = {open->ns, open->low_ns, open->high_ns};

	if (why) {
		headline->possible = tfs_headline_unknown(tfs_arena_string(arena, why));
		return;
	}
	headline->causes = build->judgement->open_findings;
	headline->open = saved;
	headline->possible = tfs_headline_state(written, tfs_headline_sum(headline->gained, saved));
	tfs_headline_limit(&headline->possible, written,
		fmax(build->judgement->open_least_ns - headline->gained.ns, 0));
	headline->possible.from =
		headline->causes
			? tfs_arena_print(arena, "the fix of %s, replayed together",
				  tfs_words_number(arena, headline->causes, "cause", "causes"))
			: unfixed(build->model);
}

/* What rewrites that are off would do; NULL where some may act. */
static const char *rewrites_text(struct tfs_build *build)
{
	struct tfs_model *model = build->model;
	struct tfs_arena *arena = &model->arena;
	const struct tfs_visibility *seen = &build->judgement->visibility;
	size_t repairable = 0;
	bool reports = false;

	for (size_t i = 0; i < seen->fact_count; i++)
		if (!strcmp(seen->facts[i].key, "rewrites"))
			return tfs_arena_print(arena, "Rewrites are %s.", seen->facts[i].text);
	if (model->imported || !model->whole || !tells_rewrites(build))
		return NULL;
	for (size_t i = 0; i < model->rewrite_count; i++) {
		const struct tfs_rewrite_line *line = &build->judgement->rewrites[i];
		const bool told = line->state == TFS_REWRITE_REPORT;

		if (!told && (line->state != TFS_REWRITE_OFF || line->outcome || line->applied))
			return NULL;
		reports |= told;
	}
	if (reports)
		return "Rewrites are in report mode: none was applied. TFSHIM_REWRITE=safe applies "
		       "them, and keeps those on that an A/B test finds faster.";
	for (size_t i = 0; i < model->finding_count; i++)
		repairable += model->findings[i].rewrite ? 1 : 0;
	return tfs_arena_print(arena,
		"Rewrites are off; TFSHIM_REWRITE=report would add which calls they apply to, "
		"their predicted gain and why they refuse (%s).",
		repairable             ? tfs_arena_print(arena, "a rewrite exists for %s",
						 tfs_words_number(
							 arena, (double)repairable, "finding", "findings"))
		: model->finding_count ? "no rewrite exists for these findings"
				       : "there is no finding to repair");
}

void tfs_build_headline(struct tfs_build *build)
{
	struct tfs_model_headline *headline = &build->model->headline;
	struct tfs_span written = find_written(build, &headline->as_written);

	if (headline->as_written.why) {
		headline->as_written = tfs_headline_unknown(headline->as_written.why);
	} else {
		const char *from = headline->as_written.from;

		headline->as_written = tfs_headline_state(written, (struct tfs_span){0, 0, 0});
		headline->as_written.from = from;
	}
	find_now(build, written, headline);
	find_possible(build, written, headline);
	headline->rewrites = rewrites_text(build);
	headline->text = tfs_words_headline(&build->model->arena, build->model);
}
