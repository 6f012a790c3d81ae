/* SPDX-License-Identifier: MIT */
/*
 * TFS602: the algorithm of a convolution is searched, or asked for, again and again for the same
 * problem, and so is the workspace that it needs. Which problem a query of a workspace is about is
 * not recorded. What cuBLASLt is asked is TFS610's.
 */
#include <stdlib.h>

#include "rules/device/products.h"
#include "rules/evidence/findings.h"
#include "rules/support/figures.h"

static const char *habit(const struct tfs_steady *steady, const struct tfs_host_call *call)
{
	if (call->record->status || tfs_product_asked(steady->timeline, call))
		return NULL;
	switch ((enum tfs_family)call->family) {
	case TFS_FAMILY_conv_find:
		return "searches the algorithm of a convolution by measuring";
	case TFS_FAMILY_conv_get:
		return "asks for the algorithm of a convolution";
	case TFS_FAMILY_workspace_query:
		return "asks for a workspace";
	default:
		return NULL;
	}
}

static uint64_t problem_of(const struct tfs_host_call *call)
{
	return tfs_steady_attribute(call, TFS_ATTRIBUTE_problem, 0);
}

/* How often each problem was searched or asked for, by the number of its record; NULL without
 * memory. The caller frees it. */
static uint32_t *count_problems(const struct tfs_steady *steady, uint32_t limit)
{
	uint32_t *counts = calloc(limit + 1u, sizeof(*counts));

	for (uint32_t i = 0; counts && i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);

		if (habit(steady, call) && problem_of(call) && problem_of(call) < limit)
			counts[problem_of(call)]++;
	}
	return counts;
}

static void add(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_place *place)
{
	const struct tfs_host_call *call = &steady->timeline->calls[place->items->call];
	const bool known = problem_of(call);
	struct tfs_draft *draft = tfs_findings_add(findings, place, NULL, "%s%s, %s",
		habit(steady, call), known ? " for the same problem again" : "",
		tfs_place_calls(place, steady).text);

	if (!draft || known)
		return;
	draft->unsure = true;
	draft->most = TFS_LEVEL_NOTE;
	draft->finding.advice =
		"If the shapes, types and layouts are those of an earlier call, keep its answer: "
		"ask once for each problem before the training loop. Which problem it is about was not recorded.";
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const uint32_t limit = tfs_trace_limit(steady->timeline->trace, TFS_RECORD_problem);
	uint32_t *counts = count_problems(steady, limit);
	const size_t before = findings->count;
	struct tfs_hits hits = {0};
	struct tfs_place place = {0};
	unsigned rare = 0;

	if (!counts) {
		findings->failed = true;
		return;
	}
	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);
		const uint64_t problem = problem_of(call);

		if (habit(steady, call) && (!problem || (problem < limit && counts[problem] > 1)))
			tfs_hits_add(&hits, steady->calls[i], 0, (struct tfs_edit){.gone = true});
	}
	while (!steady->run && tfs_hits_next_usual(steady, &hits, &place, &rare))
		add(steady, findings, &place);
	if (steady->run && hits.count)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"no training steps were found: it is not known whether %s are of the same step",
			tfs_figure_number(
				(double)hits.count, "search or query", "searches and queries")
				.text);
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"no algorithm or workspace is searched or asked for again in %s%s",
			tfs_steady_name(steady),
			tfs_figure_also(rare, "call site does so rarely", "call sites do so rarely")
				.text);
	tfs_hits_finish(&hits);
	free(counts);
}

const struct tfs_rule tfs_rule_tfs602 = {
	.id = "TFS602",
	.slug = "search-repeated",
	.level = TFS_LEVEL_ERROR,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_FAMILIES | TFS_NEEDS_OPERANDS,
	.title = "the same algorithm searched again in each step",
	.why = "cudnnFind... runs every algorithm of a convolution, allocates memory and waits for the device; "
	       "cudnnGet...Algorithm_v7 and the queries of workspaces take the host microseconds each time. "
	       "The answer for a problem (shapes, types, layouts) is the same in every step.",
	.advice =
		"Search once for each problem before the training loop, keep the algorithm and its workspace's size, and use them in all steps; "
		"search again only for a new shape. "
		"In PyTorch: torch.backends.cudnn.benchmark = True does so, and searches again for each new input size: keep sizes to a few.",
	.detect = detect,
};
