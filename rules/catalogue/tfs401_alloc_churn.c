/* SPDX-License-Identifier: MIT */
/*
 * TFS401: device or pinned memory allocated, pinned and released in the training step. Warm-up is
 * not judged; what happens in at most every tenth step is a note; stream-ordered pools pass.
 */
#include "rules/evidence/findings.h"
#include "rules/evidence/guards.h"
#include "rules/support/figures.h"

static const char *kind_of(uint16_t family)
{
	switch (family) {
	case TFS_FAMILY_alloc:
		return "allocates device memory";
	case TFS_FAMILY_free:
		return "frees device memory";
	case TFS_FAMILY_host_alloc:
		return "allocates pinned memory";
	case TFS_FAMILY_host_free:
		return "frees pinned memory";
	case TFS_FAMILY_host_register:
		return "registers host memory";
	case TFS_FAMILY_host_unregister:
		return "unregisters host memory";
	default:
		return NULL;
	}
}

/* Of the host's memory, which no rewrite pools. */
static bool pins(uint16_t family)
{
	return family == TFS_FAMILY_host_alloc || family == TFS_FAMILY_host_free ||
	       family == TFS_FAMILY_host_register || family == TFS_FAMILY_host_unregister;
}

static bool does_nothing(const struct tfs_timeline *timeline, const struct tfs_host_call *call)
{
	const bool takes = call->family == TFS_FAMILY_alloc ||
			   call->family == TFS_FAMILY_host_alloc ||
			   call->family == TFS_FAMILY_host_register;
	/* Other tools' recordings have no sizes. */
	const bool sized = !tfs_trace_fact(timeline->trace, TFS_FACT_imported);

	return call->record->status || (takes && sized && !call->record->amount) ||
	       tfs_frees_nothing(timeline, call);
}

static void report(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_place *place)
{
	const uint16_t family = steady->timeline->calls[place->items->call].family;
	const uint32_t needed = tfs_guards_of(steady, place);
	struct tfs_draft *draft = tfs_findings_add(findings, place, NULL, "%s, %s", kind_of(family),
		tfs_figure_calls(tfs_place_per_step(place, steady)).text);

	if (!draft)
		return;
	if (place->seldom)
		draft->most = TFS_LEVEL_NOTE;
	if (pins(family)) {
		draft->unrepaired = true;
		draft->finding.advice =
			"Allocate this pinned buffer once before the training loop (cudaMallocHost), "
			"or pin it once (cudaHostRegister), and keep it for all steps.";
	}
	if (needed)
		draft->finding.advice =
			tfs_guards_advice(findings->arena, needed, draft->finding.advice);
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const struct tfs_timeline *timeline = steady->timeline;
	struct tfs_hits hits = {0};
	struct tfs_place place = {0};
	size_t before = findings->count;

	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);

		if (kind_of(call->family) && !does_nothing(timeline, call))
			tfs_hits_add(&hits, steady->calls[i], call->record->amount,
				(struct tfs_edit){.gone = true});
	}
	while (tfs_hits_next(steady, &hits, &place))
		report(steady, findings, &place);
	tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
		"no device or pinned memory is allocated or freed in %s", tfs_steady_name(steady));
	tfs_hits_finish(&hits);
}

const struct tfs_rule tfs_rule_tfs401 = {
	.id = "TFS401",
	.slug = "alloc-churn",
	.level = TFS_LEVEL_ERROR,
	.any_cost = true,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_RUNTIME,
	.about = TFS_ABOUT_MEMORY,
	.title = "memory allocated and freed in the training step",
	.why = "cudaMalloc maps memory through the driver, and cudaFree waits for the device before unmapping; "
	       "pinned memory costs more still. "
	       "A training step needs the same buffers each time.",
	.advice = "Allocate this buffer once before the training loop and keep it for all steps; "
		  "if sizes vary, allocate for the largest, "
		  "or use cudaMallocAsync and cudaFreeAsync from a pool that keeps its memory.",
	.rewrite = "alloc-pool",
	.rewrite_note = "of device memory",
	.detect = detect,
};
