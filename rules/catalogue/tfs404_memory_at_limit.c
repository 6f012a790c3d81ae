/* SPDX-License-Identifier: MIT */
/*
 * TFS404: the steps use nearly all of the device's memory. What counts is what the program
 * allocates itself, managed memory aside, which may be larger than the device, and without what it
 * maps piece by piece; what libraries and the context take comes on top.
 */
#include "rules/evidence/findings.h"
#include "rules/evidence/memory_use.h"
#include "rules/support/figures.h"

#define LIMIT 0.92
/* cudaErrorMemoryAllocation, CUDA_ERROR_OUT_OF_MEMORY */
#define OUT_OF_MEMORY 2u

/* Allocations of the judged steps for which there was no memory. */
static uint32_t count_failures(const struct tfs_steady *steady)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);

		count += call->record->status == OUT_OF_MEMORY &&
			 (call->family == TFS_FAMILY_alloc ||
				 call->family == TFS_FAMILY_alloc_async);
	}
	return count;
}

static void report(struct tfs_findings *findings, double most, double memory, uint32_t failures)
{
	const char *where = tfs_steady_name(findings->steady);

	tfs_findings_note(findings,
		"up to %s of the device's %s of memory are in use (%s), in what the program allocates itself%s%s%s",
		tfs_figure_bytes(most).text, tfs_figure_bytes(memory).text,
		tfs_figure_share(most / memory).text,
		tfs_figure_also(failures, "allocation failed for want of memory",
			"allocations failed for want of memory")
			.text,
		failures ? " in " : "", failures ? where : "");
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const size_t before = findings->count;
	const struct tfs_file_header *header = tfs_trace_header(steady->timeline->trace);
	const double memory = tfs_memory_of_device(steady->timeline);
	const uint32_t failures = count_failures(steady);
	const double most = tfs_memory_most(steady);

	if (most < 0) {
		findings->failed = true;
		return;
	}
	if (memory > 0 && (most > LIMIT * memory || failures))
		report(findings, most, memory, failures);
	if (memory <= 0)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			steady->timeline->device_count > 1
				? "which of several devices memory belongs to was not recorded"
				: "how much memory the device has was not recorded");
	else if (header->lost[TFS_LOSS_ranges_full])
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"not all allocations were followed");
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"what the program allocates itself is at most %s of the device's %s of memory (%s)",
			tfs_figure_bytes(most).text, tfs_figure_bytes(memory).text,
			tfs_figure_share(most / memory).text);
}

const struct tfs_rule tfs_rule_tfs404 = {
	.id = "TFS404",
	.slug = "memory-at-limit",
	.level = TFS_LEVEL_NOTE,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_RUNTIME | TFS_NEEDS_OPERANDS,
	.about = TFS_ABOUT_MEMORY,
	.title = "nearly all of the device's memory is in use",
	.why = "Close to the limit a step that is a little larger fails, libraries find no room for workspaces and take slower algorithms, "
	       "and caching allocators free and allocate again. "
	       "Allocators that reserve memory in advance show as what they reserve; memory that is mapped piece by piece (cuMemCreate) is not counted.",
	.advice =
		"Recompute activations in the backward pass instead of keeping them, accumulate the gradients of smaller batches, "
		"or keep activations in half precision. "
		"In PyTorch: torch.utils.checkpoint, gradient accumulation, torch.autocast; what its allocator only reserves is given back by torch.cuda.empty_cache().",
	.detect = detect,
};
