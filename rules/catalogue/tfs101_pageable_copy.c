/* SPDX-License-Identifier: MIT */
/*
 * TFS101: copies between the device and pageable host memory. The driver moves them through its
 * own small pinned buffer, and the call waits meanwhile, whatever its name says.
 */
#include <math.h>

#include "rules/evidence/bandwidth.h"
#include "rules/evidence/copies.h"
#include "rules/evidence/findings.h"
#include "rules/evidence/guards.h"
#include "rules/support/figures.h"

#define LARGE_BYTES TFS_EARLY_COPY_BYTES
#define SUM_BYTES 1e6
#define HOST_SHARE 0.01
#define MANY 4
/* Links reach that much more than is usual for their kind; how much less, see bandwidth.h. */
#define FASTER 0.1

/* A copy of the same size from pinned memory, which does not hold the host when it is async. */
static struct tfs_edit pinned(const struct tfs_steady *steady, const struct tfs_host_call *call,
	const struct tfs_copy *copy)
{
	const bool read = copy->async && copy->direction == TFS_COPY_DOWN;

	return (struct tfs_edit){.no_wait = copy->async,
		.scale = tfs_copy_pinned_scale(steady, call, copy),
		.adds_ns = read ? TFS_RECORD_EVENT_NS + TFS_PAST_EVENT_NS : 0};
}

/* What the copies of a place take from pinned memory, per step. */
static double pinned_ns(const struct tfs_steady *steady, const struct tfs_place *place)
{
	double ns = 0;

	for (size_t i = 0; i < place->count; i++) {
		const struct tfs_hit *hit = &place->items[i];

		if (hit->edit.scale > 0)
			ns += (double)hit->edit.scale *
			      tfs_steady_device_ns(steady, &steady->timeline->calls[hit->call]);
	}
	return ns / (double)steady->step_count;
}

/* Small copies to the device return early; a few a step are fine, whose time is that of a busy host
 * as likely as theirs, but the time of many adds up. */
static bool adds_up(const struct tfs_steady *steady, const struct tfs_place *place)
{
	return tfs_place_per_step(place, steady) >= MANY &&
	       place->time_ns >= HOST_SHARE * steady->step_ns * steady->step_count;
}

/* A copy from the device holds the host whatever its size. Of a run without known steps, what takes
 * a part of it. */
static bool matters(const struct tfs_steady *steady, const struct tfs_place *place, bool up)
{
	if (steady->run)
		return place->time_ns >= HOST_SHARE * steady->step_ns;
	return !up || place->largest > LARGE_BYTES ||
	       (double)place->bytes / (double)steady->step_count >= SUM_BYTES ||
	       adds_up(steady, place);
}

/* A pageable copy is done with its host buffer when it returns; a pinned one is not. */
static const char *advise(struct tfs_findings *findings, uint32_t needed, bool up)
{
	const char *advice =
		up ? findings->rule->advice
		   : "Allocate two pinned host buffers for this copy with cudaMallocHost, "
		     "use the two in turn with cudaMemcpyAsync on the stream that produces the data, "
		     "record an event after each copy, "
		     "and call cudaEventSynchronize on this event before the host reads the buffer.";

	if (needed)
		advice = tfs_guards_advice(findings->arena, needed, advice);
	return findings->steady->run ? tfs_arena_print(findings->arena,
					       "If this is copied in each step: %s", advice)
				     : advice;
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	struct tfs_hits hits = {0};
	struct tfs_place place = {0};
	size_t before = findings->count;
	unsigned small = 0, unknown = 0; /* few or rare ones; host memory or direction */

	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);
		struct tfs_copy copy;

		if (!tfs_copy_describe(steady->timeline, call, &copy) || call->record->status)
			continue;
		unknown += copy.direction == TFS_COPY_UNKNOWN;
		if (copy.direction != TFS_COPY_UP && copy.direction != TFS_COPY_DOWN)
			continue;
		if (copy.host_memory == TFS_MEMORY_PAGEABLE)
			tfs_hits_add(
				&hits, steady->calls[i], copy.bytes, pinned(steady, call, &copy));
		else if (copy.host_memory == TFS_MEMORY_UNKNOWN &&
			 (copy.direction == TFS_COPY_DOWN || copy.bytes > LARGE_BYTES))
			unknown++;
	}
	if (tfs_memory_coherent(steady)) {
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"the device reads pageable host memory: pageable copies cost nothing");
		tfs_hits_finish(&hits);
		return;
	}
	while (tfs_hits_next(steady, &hits, &place)) {
		struct tfs_draft *draft;
		struct tfs_copy copy;

		tfs_copy_describe(
			steady->timeline, &steady->timeline->calls[place.items->call], &copy);
		if (!matters(steady, &place, copy.direction == TFS_COPY_UP) || place.seldom) {
			small++;
			continue;
		}
		draft = tfs_findings_add(findings, &place, NULL,
			"copies %s %s %s pageable host memory%s",
			tfs_figure_bytes((double)place.bytes / (double)steady->step_count).text,
			tfs_steady_each(steady),
			copy.direction == TFS_COPY_UP ? "to the device from" : "from the device to",
			copy.async ? "; the call blocks although its name says Async" : "");
		if (!draft)
			continue;
		draft->finding.advice = advise(
			findings, tfs_guards_of(steady, &place), copy.direction == TFS_COPY_UP);
		/* All of it may run beside the computing, on a stream of its own. */
		if (copy.direction == TFS_COPY_UP)
			draft->beside_ns = pinned_ns(steady, &place);
		draft->less_ns = tfs_copy_pinned_doubt(steady) * pinned_ns(steady, &place);
		draft->more_ns = fmin(draft->less_ns, FASTER * pinned_ns(steady, &place));
	}
	if (steady->run && small)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"no training steps were found: it is not known what share of a step the pageable copies at %s take",
			tfs_figure_number(small, "call site", "call sites").text);
	else if (unknown)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"it is not known whether %s pageable host memory",
			tfs_figure_number(unknown, "copy uses", "copies use").text);
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"no large pageable copies%s",
			tfs_figure_also(small, "call site copies little or rarely",
				"call sites copy little or rarely")
				.text);
	tfs_hits_finish(&hits);
}

const struct tfs_rule tfs_rule_tfs101 = {
	.id = "TFS101",
	.slug = "pageable-copy",
	.level = TFS_LEVEL_ERROR,
	.anywhere = true,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_RUNTIME,
	.about = TFS_ABOUT_COPIES,
	.title = "copies between the device and pageable memory",
	.why = "A copy engine reads and writes pinned memory only. "
	       "The driver stages a copy of pageable memory (malloc, new, the stack, a mapped file) through its own pinned buffer: "
	       "the copy runs at a fraction of the link's bandwidth, cannot overlap with compute, "
	       "and blocks the calling thread, even if the call's name ends in Async. "
	       "H2D copies of up to 64 KiB return early and are not reported.",
	.advice =
		"Allocate two pinned host buffers for this copy with cudaMallocHost (or pin two with cudaHostRegister), "
		"fill them alternately and copy with cudaMemcpyAsync on a separate copy stream. "
		"Record an event after each copy: call cudaEventSynchronize on it before the host fills the buffer again, "
		"and let the compute stream wait for it with cudaStreamWaitEvent; "
		"in the same way let the copy stream wait before it overwrites device memory that kernels still read.",
	.rewrite = "pinned-staging",
	.detect = detect,
};
