/* SPDX-License-Identifier: MIT */
/*
 * TFS307: a graph is instantiated in the training step, or is to be updated and cannot be. What
 * happens in at most every tenth step, as for a shape that was not there before, passes.
 */
#include "rules/evidence/findings.h"
#include "rules/support/figures.h"

#define UPDATED 0.05
#define DESTROYED 0.33

static const char *habit(const struct tfs_host_call *call)
{
	const bool failed = call->record->status != 0;

	if (call->family == TFS_FAMILY_graph_instantiate && !failed)
		return "instantiates a graph";
	if (call->family == TFS_FAMILY_graph_update && failed)
		return "fails to update an executable graph, which then has to be instantiated anew";
	return NULL;
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const size_t before = findings->count;
	struct tfs_hits hits = {0};
	struct tfs_place place = {0};
	unsigned rare = 0;

	for (uint32_t i = 0; i < steady->call_count; i++)
		if (habit(tfs_steady_call(steady, i)))
			tfs_hits_add(&hits, steady->calls[i], 0, (struct tfs_edit){.gone = true});
	while (tfs_hits_next_usual(steady, &hits, &place, &rare)) {
		const struct tfs_host_call *call = &steady->timeline->calls[place.items->call];
		struct tfs_draft *draft = tfs_findings_add(findings, &place, NULL, "%s, %s",
			habit(call), tfs_place_calls(&place, steady).text);

		/* An update in its place takes a twentieth of that on an H200, and none is
		 * destroyed, which took a quarter to a third (tests/gpu/results). */
		if (draft && call->family == TFS_FAMILY_graph_instantiate) {
			draft->less_ns = UPDATED * place.time_ns / steady->step_count;
			draft->more_ns = DESTROYED * place.time_ns / steady->step_count;
		}
	}
	tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
		"no graph is instantiated in %s%s", tfs_steady_name(steady),
		tfs_figure_also(rare, "call site does so rarely", "call sites do so rarely").text);
	tfs_hits_finish(&hits);
}

const struct tfs_rule tfs_rule_tfs307 = {
	.id = "TFS307",
	.slug = "graph-churn",
	.level = TFS_LEVEL_WARN,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_RUNTIME,
	.title = "a graph instantiated in the training step",
	.why = "Instantiating a graph checks all of its nodes and allocates memory for them. "
	       "An executable graph is made to be launched many times: "
	       "made in each step, it can cost more than its launch saves.",
	.advice =
		"Instantiate the graph once before the training loop and launch it in all steps. "
		"Where addresses or arguments change, capture it anew and give it to cudaGraphExecUpdate, "
		"which keeps the executable graph; that fails where nodes or their order changed: "
		"keep an executable graph for each shape. "
		"In PyTorch: each new input size is captured and instantiated anew, so pad to a few sizes, "
		"or mark the changing dimension with torch._dynamo.mark_dynamic.",
	.detect = detect,
};
