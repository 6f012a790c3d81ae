/* SPDX-License-Identifier: MIT */
/*
 * TFS601: convolutions that run with a fixed or guessed algorithm though a measured search found a
 * faster one. Only what the recording library has measured counts, and only candidates that keep
 * the program's math type and determinism. Without a search it is not measurable; one that the
 * program made itself speaks for the shape that it was for.
 */
#include <stdlib.h>

#include "rules/device/plans.h"
#include "rules/device/searches.h"
#include "rules/evidence/findings.h"
#include "rules/support/figures.h"

#define STABLE_CALLS 50u
#define FASTER 0.95

struct count {
	unsigned unsearched, own, unstable, best;
	struct tfs_own_searches searches;
	uint32_t *shapes; /* judged calls, by problem */
	uint32_t shape_count;
};

static uint32_t *shape_of(const struct count *count, const struct tfs_host_call *call)
{
	uint64_t problem = tfs_steady_attribute(call, TFS_ATTRIBUTE_problem, 0);

	return &count->shapes[problem < count->shape_count ? problem : 0];
}

static void count_shapes(const struct tfs_steady *steady, const struct count *count)
{
	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);

		if (tfs_search_family(call->family) && !call->record->status)
			++*shape_of(count, call);
	}
}

/* Whether the run has so many calls of this shape, by what the judged steps have. */
static bool stable(const struct tfs_steady *steady, uint32_t calls)
{
	uint64_t steps = steady->timeline->training_steps + tfs_timeline_warmup(steady->timeline);

	if (steady->run)
		return calls >= STABLE_CALLS;
	return (double)calls / steady->step_count * (double)steps >= STABLE_CALLS;
}

static void take(const struct tfs_steady *steady, uint32_t position, struct tfs_hits *hits,
	struct count *count)
{
	const struct tfs_host_call *call = tfs_steady_call(steady, position);
	struct tfs_recorded_search search;

	if (!tfs_search_family(call->family) || call->record->status)
		return;
	if (!tfs_search_find(steady->timeline, call, &search))
		++*(tfs_own_searches_have(&count->searches, call) ? &count->own
								  : &count->unsearched);
	else if (search.best_ms > FASTER * search.asked_ms)
		count->best++;
	else if (!stable(steady, *shape_of(count, call)))
		count->unstable++;
	else
		tfs_hits_add(hits, steady->calls[position], 0,
			(struct tfs_edit){.scale = search.best_ms / search.asked_ms});
}

/* What the search says, where nothing can be replayed. */
static void price(
	const struct tfs_steady *steady, const struct tfs_place *place, struct tfs_draft *draft)
{
	double saved = 0;

	for (size_t i = 0; i < place->count; i++) {
		const struct tfs_host_call *call = &steady->timeline->calls[place->items[i].call];
		struct tfs_recorded_search search;

		if (tfs_search_find(steady->timeline, call, &search))
			saved += (double)(search.asked_ms - search.best_ms) * 1e6;
	}
	saved /= steady->step_count;
	draft->priced = true;
	draft->finding.cost = (struct tfs_cost){saved, 0, saved, TFS_COST_SEARCHED};
}

static void report(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_place *place)
{
	const struct tfs_host_call *call = &steady->timeline->calls[place->items->call];
	const char *asked, *best;
	struct tfs_draft *draft;
	struct tfs_recorded_search search;

	tfs_search_find(steady->timeline, call, &search);
	asked = tfs_algorithm_name(call->family, search.asked);
	best = tfs_algorithm_name(call->family, search.best);
	draft = tfs_findings_add(findings, place, NULL,
		"runs %s in %s where a measured search found %s in %s", asked,
		tfs_figure_time((double)search.asked_ms * 1e6).text, best,
		tfs_figure_time((double)search.best_ms * 1e6).text);
	if (!draft)
		return;
	draft->finding.advice = tfs_arena_print(findings->arena,
		"Select this convolution's algorithm with %s once before the training loop, "
		"with scratch outputs and a workspace of %s or more; "
		"on this device the search selects %s.",
		tfs_search_function(call->family),
		tfs_figure_bytes((double)search.best_workspace).text, best);
	if (!steady->whatif)
		price(steady, place, draft);
}

/* Where calls are only counted, nobody knows what a search of the program was for. */
static void judge_unsearched(const struct tfs_findings *findings, size_t before,
	const struct count *count, struct tfs_verdict *out_verdict)
{
	tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
		"no measured search exists for the shapes of %s%s%s",
		tfs_figure_number(count->unsearched, "convolution call", "convolution calls").text,
		tfs_figure_also((double)count->searches.unknown, "search by the program was made",
			"searches by the program were made")
			.text,
		count->searches.unknown
			? " where calls were only counted (record=all records their shapes)"
			: "");
}

static bool count_init(struct count *count, const struct tfs_steady *steady)
{
	count->shape_count = tfs_trace_limit(steady->timeline->trace, TFS_RECORD_problem);
	count->shapes = calloc(count->shape_count + 1u, sizeof(*count->shapes));
	return count->shapes && tfs_own_searches_init(&count->searches, steady->timeline);
}

static void count_finish(struct count *count)
{
	free(count->shapes);
	tfs_own_searches_finish(&count->searches);
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	struct tfs_hits hits = {0};
	struct tfs_place place = {0};
	struct count count = {0};
	size_t before = findings->count;

	if (!count_init(&count, steady)) {
		findings->failed = true;
		count_finish(&count);
		return;
	}
	count_shapes(steady, &count);
	for (uint32_t i = 0; i < steady->call_count; i++)
		take(steady, i, &hits, &count);
	while (tfs_hits_next(steady, &hits, &place))
		if (!place.seldom)
			report(steady, findings, &place);
	const uint32_t plans = tfs_plans_count(steady, TFS_OPERATION_CONVOLUTION);

	if (count.unsearched)
		judge_unsearched(findings, before, &count, out_verdict);
	else if (plans)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"%s of cuDNN's graph API, which may convolve: whether the program measured their engines was not recorded",
			tfs_figure_number(plans, "call runs a plan", "calls run plans").text);
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED, "%s%s%s%s",
			count.best || count.own ? "searched" : "nothing to search",
			tfs_figure_also(count.best, "call is within 5 % of the best",
				"calls are within 5 % of the best")
				.text,
			tfs_figure_also(count.own, "call is of a shape that the program searched",
				"calls are of shapes that the program searched")
				.text,
			tfs_figure_also(count.unstable, "call is of a rare shape",
				"calls are of rare shapes")
				.text);
	tfs_hits_finish(&hits);
	count_finish(&count);
}

const struct tfs_rule tfs_rule_tfs601 = {
	.id = "TFS601",
	.slug = "conv-algo-not-searched",
	.level = TFS_LEVEL_WARN,
	.anywhere = true,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_OPERANDS,
	.library = TFS_LIBRARY_cudnn,
	.title = "convolution algorithm not selected by a search",
	.why = "cuDNN has several algorithms for each convolution, and the fastest depends on shape and device. "
	       "A fixed algorithm or a small workspace is often slow; "
	       "a search measures all algorithms once and pays back within a few hundred steps.",
	.advice =
		"Select this convolution's algorithm with a measured search before the training loop.",
	.rewrite = "cudnn-search",
	.searched = true,
	.detect = detect,
};
