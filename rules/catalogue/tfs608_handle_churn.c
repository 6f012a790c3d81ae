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
		return "makes a library's handle";
	case TFS_FAMILY_handle_destroy:
		return "ends a library's handle";
	case TFS_FAMILY_descriptor_create:
		return "makes a descriptor";
	case TFS_FAMILY_descriptor_destroy:
		return "ends a descriptor";
	case TFS_FAMILY_stream_create:
		return "makes a stream";
	case TFS_FAMILY_stream_destroy:
		return "ends a stream";
	case TFS_FAMILY_event_create:
		return "makes an event";
	case TFS_FAMILY_event_destroy:
		return "ends an event";
	case TFS_FAMILY_constant:
		return "asks for what never changes";
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
		return "Make this handle once before the training loop, "
		       "one for each thread and device that uses it, "
		       "and give it the stream of each use by its set-stream call.";
	case TFS_FAMILY_descriptor_create:
	case TFS_FAMILY_descriptor_destroy:
		return "Make this descriptor once before the training loop, one for each shape and type, and keep it; "
		       "set in it only what changes between calls.";
	case TFS_FAMILY_stream_create:
	case TFS_FAMILY_stream_destroy:
		return "Make this stream once before the training loop and use it in all steps; "
		       "what relied on its end to wait needs cudaStreamSynchronize.";
	case TFS_FAMILY_event_create:
	case TFS_FAMILY_event_destroy:
		return "Make this event once before the training loop and record it anew in each step; "
		       "with several steps under way, take several by turns.";
	default:
		return "Ask once before the training loop and keep the answer; "
		       "cudaDeviceGetAttribute asks for one value alone.";
	}
}

static void add(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_place *place)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const struct tfs_host_call *call = &timeline->calls[place->items->call];
	struct tfs_draft *draft = tfs_findings_add(findings, place, NULL, "%s, %s%s", habit(call),
		tfs_figure_calls(tfs_place_per_step(place, steady)).text,
		place->folded ? ", called from several places" : "");

	if (draft)
		draft->finding.advice = advice(call);
	if (draft && call->family == TFS_FAMILY_constant)
		draft->rewrite = "memoise";
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
		"no handle, descriptor, stream or event comes and goes in the judged steps%s",
		tfs_figure_also(rare, "call site makes one rarely", "call sites make one rarely")
			.text);
	tfs_hits_finish(&hits);
}

const struct tfs_rule tfs_rule_tfs608 = {
	.id = "TFS608",
	.slug = "handle-churn",
	.level = TFS_LEVEL_NOTE,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_RUNTIME | TFS_NEEDS_FAMILIES |
		 TFS_NEEDS_ALL,
	.title = "handles, descriptors, streams or events made anew in each step",
	.why = "A library's handle allocates memory and may wait for the device when it is made or ended; "
	       "descriptors, streams and events cost a call each, "
	       "and cudaGetDeviceProperties alone takes a millisecond or two. "
	       "A step needs the same ones each time.",
	.advice = "Make it once before the training loop and use it in all steps; "
		  "ask once for what cannot change, and with cudaDeviceGetAttribute for one value.",
	.tips = "T27",
	.detect = detect,
};
