/* SPDX-License-Identifier: MIT */
/*
 * TFS202: calls in the training step that wait for the device though their names do not say so.
 * What is judged is what the call is documented to do, not how long it took. Copies between two
 * places on the device and memsets of device memory do not wait; uploads are TFS101's.
 */
#include "rules/evidence/bandwidth.h"
#include "rules/evidence/copies.h"
#include "rules/evidence/findings.h"
#include "rules/evidence/guards.h"
#include "rules/support/figures.h"

/* Between operations of a stream. */
#define GAP_NS 1500.0

enum hidden {
	HIDDEN_NOT,
	HIDDEN_FREE,
	HIDDEN_READ_BACK,
	HIDDEN_PINNED,
	HIDDEN_REGISTERED,
	HIDDEN_RESULT,
	HIDDEN_MODULE
};

static const struct {
	const char *what;
	const char *advice;
} texts[] = {
	[HIDDEN_FREE] = {"cudaFree waits for all work on the device",
		"Allocate this buffer once before the training loop and keep it; "
		"if its size changes, use cudaMallocAsync and cudaFreeAsync on the stream that uses the buffer."},
	[HIDDEN_READ_BACK] = {"the copy to the host waits for the device",
		"If the step does not depend on the values, "
		"copy them into one of two alternating pinned buffers with cudaMemcpyAsync, record an event, "
		"and read them one step later, after cudaEventSynchronize; "
		"or read them only every so many steps."},
	[HIDDEN_PINNED] = {"allocating and freeing pinned memory waits for the device",
		"Allocate this pinned buffer once before the training loop and keep it."},
	[HIDDEN_REGISTERED] = {"registering and unregistering host memory waits for the device",
		"Pin this buffer once before the training loop and leave it pinned, or allocate it once with cudaMallocHost."},
	[HIDDEN_RESULT] = {"the result goes to host memory, so the call waits for the device",
		"Keep the result, and decisions that depend on it, on the device: "
		"set CUBLAS_POINTER_MODE_DEVICE and pass a device pointer to this call, "
		"then set CUBLAS_POINTER_MODE_HOST again for calls with scalars on the host."},
	[HIDDEN_MODULE] = {"loads code in the step and waits for the device",
		"Load this module or first use its kernels before the training loop."},
};

static enum hidden hidden_wait(
	const struct tfs_timeline *timeline, const struct tfs_host_call *call)
{
	struct tfs_copy copy;

	if (call->record->status || tfs_frees_nothing(timeline, call))
		return HIDDEN_NOT;
	switch ((enum tfs_family)call->family) {
	case TFS_FAMILY_free:
		return HIDDEN_FREE;
	case TFS_FAMILY_host_alloc:
	case TFS_FAMILY_host_free:
		return HIDDEN_PINNED;
	case TFS_FAMILY_host_unregister:
		return HIDDEN_REGISTERED;
	case TFS_FAMILY_module:
		return HIDDEN_MODULE;
	case TFS_FAMILY_copy:
	case TFS_FAMILY_copy_async:
		tfs_copy_describe(timeline, call, &copy);
		if (copy.direction != TFS_COPY_DOWN)
			return HIDDEN_NOT;
		return !copy.async || copy.host_memory == TFS_MEMORY_PAGEABLE ? HIDDEN_READ_BACK
									      : HIDDEN_NOT;
	default:
		break;
	}
	return tfs_steady_attribute(call, TFS_ATTRIBUTE_host_result, 0) ? HIDDEN_RESULT
									: HIDDEN_NOT;
}

/* What it takes to copy results to the host, which a result on the device needs not: per step. */
static double result_ns(const struct tfs_steady *steady, const struct tfs_place *place)
{
	const struct tfs_timeline *timeline = steady->timeline;
	double ns = 0;

	for (size_t i = 0; i < place->count; i++) {
		const struct tfs_host_call *call = &timeline->calls[place->items[i].call];

		for (uint32_t j = 0; j < call->op_count; j++) {
			const struct tfs_device_op *op =
				&timeline->ops[timeline->call_ops[call->first_op + j]];

			if (op->record->operation == TFS_DEVICE_MEMCPY)
				ns += tfs_device_op_ns(op) + GAP_NS;
		}
	}
	return ns / (double)steady->step_count;
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const struct tfs_timeline *timeline = steady->timeline;
	struct tfs_hits hits = {0};
	struct tfs_place place = {0};
	size_t before = findings->count;
	unsigned rare = 0;

	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);
		const enum hidden kind = hidden_wait(timeline, call);
		struct tfs_edit edit = {.no_wait = true};
		struct tfs_copy copy;

		if (kind == HIDDEN_READ_BACK && tfs_copy_describe(timeline, call, &copy)) {
			edit.scale = tfs_copy_pinned_scale(steady, call, &copy);
			edit.adds_ns = TFS_RECORD_EVENT_NS + TFS_PAST_EVENT_NS;
		}
		if (kind != HIDDEN_NOT)
			tfs_hits_add(&hits, steady->calls[i], call->record->amount, edit);
	}
	while (tfs_hits_next_usual(steady, &hits, &place, &rare)) {
		const struct tfs_host_call *call = &timeline->calls[place.items->call];
		enum hidden kind = hidden_wait(timeline, call);
		const uint32_t needed = tfs_guards_or_unknown(steady, &place);
		struct tfs_draft *draft;

		draft = tfs_findings_add(findings, &place, NULL, "%s, %s", texts[kind].what,
			tfs_figure_calls(tfs_place_per_step(&place, steady)).text);
		if (draft)
			draft->finding.advice = texts[kind].advice;
		if (draft)
			draft->unrepaired = kind != HIDDEN_FREE;
		if (draft && kind == HIDDEN_RESULT)
			draft->beside_ns = result_ns(steady, &place);
		if (needed)
			tfs_draft_needed(findings, draft, needed, texts[kind].advice);
	}
	tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
		"no call has a hidden synchronisation%s",
		tfs_figure_also(rare, "call site has one rarely", "call sites have one rarely")
			.text);
	tfs_hits_finish(&hits);
}

const struct tfs_rule tfs_rule_tfs202 = {
	.id = "TFS202",
	.slug = "hidden-sync",
	.level = TFS_LEVEL_ERROR,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_RUNTIME,
	.about = TFS_ABOUT_COPIES | TFS_ABOUT_WAITS | TFS_ABOUT_MEMORY,
	.title = "hidden synchronisation in calls that do more than synchronise",
	.why = "cudaFree, pinned allocations, copies to the host, "
	       "cuBLAS calls that return a number to the host and the first use of a kernel wait until the device has finished, "
	       "like a cudaDeviceSynchronize. "
	       "The device is then idle until the host has launched more work.",
	.advice = "Move this call out of the training step.",
	.rewrite = "deferred-free",
	.rewrite_note = "of cudaFree, only when named",
	.detect = detect,
};
