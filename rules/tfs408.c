/* SPDX-License-Identifier: MIT */
/*
 * TFS408: stream-ordered memory that goes back to the system in each step. A pool gives back what
 * it does not need when the host waits for a stream, an event or the device, as far as that is
 * above its release threshold; the next allocation has to map it again. Memory that is released and
 * taken again without such a wait between stays in the pool.
 */
#include "rules/findings.h"

static bool waits(uint16_t family)
{
	return family == TFS_FAMILY_stream_sync || family == TFS_FAMILY_event_sync ||
	       family == TFS_FAMILY_device_sync;
}

/* Blocks that were released, and of these, what pools gave back since. */
struct released {
	uint32_t count;
	uint32_t given_back;
};

/* True for an allocation that has to map its memory. */
static bool maps(struct released *released, const struct tfs_host_call *call)
{
	bool again = false;

	if (call->record->status)
		return false;
	if (waits(call->family)) {
		released->given_back += released->count;
		released->count = 0;
	} else if (call->family == TFS_FAMILY_free_async) {
		released->count++;
	} else if (call->family == TFS_FAMILY_alloc_async && released->count > 0) {
		released->count--;
	} else if (call->family == TFS_FAMILY_alloc_async && released->given_back > 0) {
		released->given_back--;
		again = tfs_steady_attribute(call, TFS_ATTRIBUTE_pool_keeps, 0) <
			call->record->amount;
	}
	return again;
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const struct tfs_timeline *timeline = steady->timeline;
	struct released released = {0};
	struct tfs_hits hits = {0};
	struct tfs_place place = {0};
	size_t before = findings->count;
	unsigned rare = 0;

	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);

		if (maps(&released, call))
			tfs_hits_add(&hits, steady->calls[i], call->record->amount,
				(struct tfs_edit){.gone = true});
	}
	while (tfs_hits_next_usual(steady, &hits, &place, &rare)) {
		const struct tfs_host_call *call = &timeline->calls[place.items->call];

		tfs_findings_add(findings, &place, NULL,
			"allocates from a pool that gave its memory back, %.4gx per step, %.4g MB",
			tfs_place_per_step(&place, steady), (double)call->record->amount / 1e6);
	}
	tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
		"no pool gives memory back that the next step needs; %u places do rarely", rare);
	tfs_hits_finish(&hits);
}

const struct tfs_rule tfs_rule_tfs408 = {
	.id = "TFS408",
	.slug = "pool-trimmed",
	.level = TFS_LEVEL_WARN,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_RUNTIME,
	.about = TFS_ABOUT_WAITS | TFS_ABOUT_MEMORY,
	.title = "a stream-ordered pool gives its memory back in each step",
	.why = "Unless it is told otherwise, a pool returns all memory that is not in use to the "
	       "system whenever the host waits for a stream, an event or the device, and "
	       "cudaMallocAsync has to map it again: about 30 ms for each GiB.",
	.advice = "Set cudaMemPoolAttrReleaseThreshold of this pool to what a step needs, or to "
		  "UINT64_MAX, once before the training loop.",
	.tips = "T27",
	.rewrite = "pool-threshold",
	.detect = detect,
};
