/* SPDX-License-Identifier: MIT */
/*
 * TFS102: uploads from pinned memory with a call that returns when the copy is over. Copies of
 * pageable memory are TFS101's, copies to the host TFS202's; copies on the device and fills of its
 * memory do not block.
 */
#include "rules/evidence/bandwidth.h"
#include "rules/evidence/copies.h"
#include "rules/evidence/findings.h"
#include "rules/evidence/guards.h"
#include "rules/support/figures.h"

/* What is copied at a place is told from so much a step on, or where its calls take so much of it.
 */
#define LEAST_BYTES TFS_EARLY_COPY_BYTES
#define HOST_SHARE 0.01

static bool blocks(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	struct tfs_copy *out_copy)
{
	return call->family == TFS_FAMILY_copy && !call->record->status &&
	       tfs_copy_describe(timeline, call, out_copy) && out_copy->direction == TFS_COPY_UP;
}

static bool matters(const struct tfs_steady *steady, const struct tfs_place *place)
{
	return (double)place->bytes / (double)steady->step_count > LEAST_BYTES ||
	       place->time_ns >= HOST_SHARE * steady->step_ns * steady->step_count;
}

/* The device's time for the copies of a place, per step: all of it may run beside computing. */
static double copies_ns(const struct tfs_steady *steady, const struct tfs_place *place)
{
	double ns = 0;

	for (size_t i = 0; i < place->count; i++)
		ns += tfs_steady_device_ns(steady, &steady->timeline->calls[place->items[i].call]);
	return ns / (double)steady->step_count;
}

static void add(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_place *place)
{
	const uint32_t needed = tfs_guards_of(steady, place);
	struct tfs_draft *draft = tfs_findings_add(findings, place, NULL,
		"copies %s %s to the device from pinned memory, and the host waits for it, %s",
		tfs_figure_bytes((double)place->bytes / (double)steady->step_count).text,
		tfs_steady_each(steady), tfs_place_calls(place, steady).text);

	if (!draft)
		return;
	draft->beside_ns = copies_ns(steady, place);
	if (needed)
		tfs_draft_needed(findings, draft, needed, findings->rule->advice);
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const size_t before = findings->count;
	struct tfs_hits hits = {0};
	struct tfs_place place = {0};
	unsigned small = 0, rare = 0, unknown = 0;

	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);
		struct tfs_copy copy;

		if (!blocks(steady->timeline, call, &copy))
			continue;
		unknown += copy.host_memory == TFS_MEMORY_UNKNOWN && copy.bytes > LEAST_BYTES;
		if (copy.host_memory == TFS_MEMORY_PINNED)
			tfs_hits_add(&hits, steady->calls[i], copy.bytes,
				(struct tfs_edit){.no_wait = true,
					.adds_ns = TFS_RECORD_EVENT_NS + TFS_PAST_EVENT_NS});
	}
	while (tfs_hits_next_usual(steady, &hits, &place, &rare))
		if (matters(steady, &place))
			add(steady, findings, &place);
		else
			small++;
	if (unknown)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"it is not known whether %s pinned host memory",
			tfs_figure_number(unknown, "copy uses", "copies use").text);
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"the host waits for no large copy from pinned memory%s",
			tfs_figure_also(small + rare, "call site copies little or rarely",
				"call sites copy little or rarely")
				.text);
	tfs_hits_finish(&hits);
}

const struct tfs_rule tfs_rule_tfs102 = {
	.id = "TFS102",
	.slug = "blocking-copy",
	.level = TFS_LEVEL_WARN,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_RUNTIME,
	.about = TFS_ABOUT_COPIES | TFS_ABOUT_WAITS,
	.title = "the host waits for copies from pinned memory",
	.why = "cudaMemcpy returns when the copy is over, and begins when all work before it in the legacy stream is. "
	       "Meanwhile the host prepares and launches nothing, and the device has nothing to do after the copy. "
	       "From pinned memory the same copy can run beside kernels while the host goes on.",
	.advice =
		"Fill two pinned buffers alternately and copy with cudaMemcpyAsync on a separate copy stream. "
		"Record an event after each copy: call cudaEventSynchronize on it before the host fills the buffer again, "
		"and let the compute stream wait for it with cudaStreamWaitEvent; "
		"in the same way let the copy stream wait before it overwrites device memory that kernels still read. "
		"In PyTorch: .to(device, non_blocking=True) from pinned memory.",
	.detect = detect,
};
