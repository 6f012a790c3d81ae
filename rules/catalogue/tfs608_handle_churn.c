/* SPDX-License-Identifier: MIT */
/*
 * TFS608: handles, descriptors, streams and events that are made or ended in each step, and
 * properties of a device that are asked for in each step though they never change. Setting what
 * exists, and questions whose answers change, pass; so does what happens in at most every tenth
 * step.
 */
#include "rules/evidence/findings.h"
#include "rules/support/figures.h"

/* With more places than this, those that differ only in what called them are told as one. */
#define MOST_APART 16u

static const char *habit(const struct tfs_host_call *call)
{
	if (call->record->status)
		return NULL;
	switch ((enum tfs_family)call->family) {
	case TFS_FAMILY_handle_create:
		return "creates a library handle";
	case TFS_FAMILY_handle_destroy:
		return "destroys a library handle";
	case TFS_FAMILY_descriptor_create:
		return "creates a descriptor";
	case TFS_FAMILY_descriptor_destroy:
		return "destroys a descriptor";
	case TFS_FAMILY_stream_create:
		return "creates a stream";
	case TFS_FAMILY_stream_destroy:
		return "destroys a stream";
	case TFS_FAMILY_event_create:
		return "creates an event";
	case TFS_FAMILY_event_destroy:
		return "destroys an event";
	case TFS_FAMILY_constant:
		return "queries a constant device property";
	default:
		return NULL;
	}
}

/* What to do about an object of the call's kind. */
static const char *advice(const struct tfs_host_call *call)
{
	switch ((enum tfs_family)call->family) {
	case TFS_FAMILY_handle_create:
	case TFS_FAMILY_handle_destroy:
		return "Create this handle once before the training loop, "
		       "one for each thread and device that uses it, "
		       "and set its stream before each use (cublasSetStream, cudnnSetStream).";
	case TFS_FAMILY_descriptor_create:
	case TFS_FAMILY_descriptor_destroy:
		return "Create this descriptor once before the training loop, one for each shape and type, and keep it; "
		       "set only the fields that change between calls.";
	case TFS_FAMILY_stream_create:
	case TFS_FAMILY_stream_destroy:
		return "Create this stream once before the training loop and use it in all steps; "
		       "code that relied on cudaStreamDestroy to wait needs cudaStreamSynchronize.";
	case TFS_FAMILY_event_create:
	case TFS_FAMILY_event_destroy:
		return "Create this event once before the training loop and record it again in each step; "
		       "with several steps in flight, use several events in turn.";
	default:
		return "Query once before the training loop and keep the result; "
		       "cudaDeviceGetAttribute queries a single value.";
	}
}

static void add(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_place *place)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const struct tfs_host_call *call = &timeline->calls[place->items->call];
	struct tfs_draft *draft = tfs_findings_add(findings, place, NULL, "%s, %s%s", habit(call),
		tfs_figure_calls(tfs_place_per_step(place, steady)).text,
		place->folded ? ", called from several call sites" : "");

	if (draft)
		draft->finding.advice = advice(call);
	if (draft)
		draft->unrepaired = call->family != TFS_FAMILY_constant;
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	struct tfs_hits hits = {0};
	struct tfs_place place = {0};
	size_t before = findings->count;
	unsigned rare = 0, usual = 0;

	for (uint32_t i = 0; i < steady->call_count; i++)
		if (habit(tfs_steady_call(steady, i)))
			tfs_hits_add(&hits, steady->calls[i], 0, (struct tfs_edit){.gone = true});
	while (tfs_hits_next_usual(steady, &hits, &place, &rare))
		usual++;
	if (usual > MOST_APART)
		tfs_hits_fold(&hits);
	place = (struct tfs_place){0};
	rare = 0;
	while (tfs_hits_next_usual(steady, &hits, &place, &rare))
		add(steady, findings, &place);
	tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
		"no handle, descriptor, stream or event is created or destroyed in %s%s",
		tfs_steady_name(steady),
		tfs_figure_also(rare, "call site does so rarely", "call sites do so rarely").text);
	tfs_hits_finish(&hits);
}

const struct tfs_rule tfs_rule_tfs608 = {
	.id = "TFS608",
	.slug = "handle-churn",
	.level = TFS_LEVEL_NOTE,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_RUNTIME | TFS_NEEDS_FAMILIES |
		 TFS_NEEDS_ALL,
	.title = "handles, descriptors, streams or events created in each step",
	.why = "Creating or destroying a library handle allocates or frees memory and may wait for the device; "
	       "descriptors, streams and events cost a call each, "
	       "and cudaGetDeviceProperties alone takes a millisecond or two. "
	       "A step needs the same objects each time.",
	.advice = "Create these objects once before the training loop and use them in all steps; "
		  "query constant properties once, and single values with cudaDeviceGetAttribute.",
	.rewrite = "memoise",
	.rewrite_note = "of queries",
	.detect = detect,
};
