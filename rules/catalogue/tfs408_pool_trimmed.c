/* SPDX-License-Identifier: MIT */
/*
 * TFS408: stream-ordered memory that goes back to the system in each step. A pool gives back what
 * it does not need when the host waits for a stream, an event or the device, as far as that is
 * above its release threshold; the next allocation has to map it again. Memory that is released and
 * taken again without such a wait between stays in the pool, and so does memory that the device has
 * not come to release when the wait is over.
 */
#include <stdlib.h>

#include "rules/evidence/findings.h"
#include "rules/support/figures.h"

/* Blocks that are followed at once. */
#define MOST_RELEASED 256u

static bool waits(uint16_t family)
{
	return family == TFS_FAMILY_stream_sync || family == TFS_FAMILY_event_sync ||
	       family == TFS_FAMILY_device_sync;
}

/* A block that its pool still has. */
struct released {
	uint64_t done_ns; /* when the device has come to it */
	uint32_t stream;
};

struct pools {
	const struct tfs_steady *steady;
	struct released released[MOST_RELEASED];
	uint32_t count;
	uint32_t given_back;
	uint32_t unclear;  /* waits of which it is not known whether they come behind a release */
	uint64_t *done_ns; /* when a stream has done what it was given; the last: all of them */
};

static uint64_t *done_of(const struct pools *pools, uint32_t stream)
{
	uint32_t known = pools->steady->timeline->stream_count;

	return &pools->done_ns[stream < known ? stream : known];
}

/* What a call gives to its stream. */
static void follow(struct pools *pools, uint32_t nth)
{
	const struct tfs_timeline *timeline = pools->steady->timeline;
	const struct tfs_host_call *call = tfs_steady_call(pools->steady, nth);
	uint64_t *done = done_of(pools, pools->steady->waits[nth].stream);
	uint64_t *all = done_of(pools, TFS_NONE);

	for (uint32_t i = 0; i < call->op_count; i++) {
		uint64_t end_ns = timeline->ops[timeline->call_ops[call->first_op + i]].end_ns;

		*done = end_ns > *done ? end_ns : *done;
		*all = end_ns > *all ? end_ns : *all;
	}
	/* The event may be of any of them. */
	if (call->family == TFS_FAMILY_stream_wait)
		*done = *all;
}

static bool behind(const struct pools *pools, uint32_t nth, const struct released *released)
{
	const struct tfs_waiting *waiting = &pools->steady->waits[nth];

	if (waiting->drains || waiting->wait == TFS_WAIT_DEVICE)
		return true;
	if (waiting->wait == TFS_WAIT_STREAM && waiting->stream == released->stream)
		return true;
	return pools->steady->activity &&
	       released->done_ns <= tfs_steady_call(pools->steady, nth)->end_ns;
}

static void give_back(struct pools *pools, uint32_t nth)
{
	for (uint32_t i = pools->count; i-- > 0;) {
		if (!behind(pools, nth, &pools->released[i])) {
			pools->unclear += !pools->steady->activity;
			continue;
		}
		pools->given_back++;
		pools->released[i] = pools->released[--pools->count];
	}
}

/* True for an allocation that has to map its memory. */
static bool maps(struct pools *pools, uint32_t nth)
{
	const struct tfs_host_call *call = tfs_steady_call(pools->steady, nth);
	uint32_t stream = pools->steady->waits[nth].stream;

	if (call->record->status)
		return false;
	follow(pools, nth);
	if (waits(call->family)) {
		give_back(pools, nth);
	} else if (call->family == TFS_FAMILY_free_async) {
		pools->count -= pools->count == MOST_RELEASED;
		pools->released[pools->count++] =
			(struct released){*done_of(pools, stream), stream};
	} else if (call->family == TFS_FAMILY_alloc_async && pools->count > 0) {
		pools->count--;
	} else if (call->family == TFS_FAMILY_alloc_async && pools->given_back > 0) {
		pools->given_back--;
		return tfs_steady_attribute(call, TFS_ATTRIBUTE_pool_keeps, 0) <
		       call->record->amount;
	}
	return false;
}

/* Whether the run took memory from a pool. */
static bool any_pool(const struct tfs_timeline *timeline)
{
	const struct tfs_trace *trace = timeline->trace;
	const struct tfs_total *totals;
	const struct tfs_share *shares;
	bool any = false;

	for (size_t i = tfs_trace_totals(trace, &totals, &shares); i > 0; i--)
		any |= tfs_trace_family(trace, totals[i - 1].sum.function) ==
		       TFS_FAMILY_alloc_async;
	for (uint32_t i = 0; i < timeline->call_count; i++)
		any |= timeline->calls[i].family == TFS_FAMILY_alloc_async;
	return any;
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const struct tfs_timeline *timeline = steady->timeline;
	struct pools pools = {.steady = steady};
	struct tfs_hits hits = {0};
	struct tfs_place place = {0};
	size_t before = findings->count;
	unsigned rare = 0;

	if (!any_pool(timeline)) {
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_APPLICABLE,
			"the program takes no memory from a stream-ordered pool");
		return;
	}
	pools.done_ns = calloc(timeline->stream_count + 1u, sizeof(*pools.done_ns));
	if (!pools.done_ns) {
		findings->failed = true;
		return;
	}
	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);

		if (maps(&pools, i))
			tfs_hits_add(&hits, steady->calls[i], call->record->amount,
				(struct tfs_edit){.gone = true});
	}
	free(pools.done_ns);
	while (tfs_hits_next_usual(steady, &hits, &place, &rare))
		tfs_findings_add(findings, &place, NULL,
			"allocates %s from a pool that had released its memory, %s",
			tfs_figure_bytes((double)place.bytes / (double)place.count).text,
			tfs_figure_calls(tfs_place_per_step(&place, steady)).text);
	if (pools.unclear)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"no GPU activity was recorded: it is not known whether %s after the memory was freed",
			tfs_figure_number(pools.unclear, "synchronising call comes",
				"synchronising calls come")
				.text);
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"pools keep their memory between steps%s",
			tfs_figure_also(rare, "call site rarely maps memory again",
				"call sites rarely map memory again")
				.text);
	tfs_hits_finish(&hits);
}

const struct tfs_rule tfs_rule_tfs408 = {
	.id = "TFS408",
	.slug = "pool-trimmed",
	.level = TFS_LEVEL_WARN,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_RUNTIME | TFS_NEEDS_OPERANDS,
	.about = TFS_ABOUT_WAITS | TFS_ABOUT_MEMORY,
	.title = "a stream-ordered pool releases its memory in each step",
	.why = "With the default release threshold of 0, "
	       "a pool releases all unused memory whenever the host synchronises with a stream, "
	       "an event or the device, and cudaMallocAsync has to map it again: "
	       "about 30 ms for each GiB.",
	.advice = "Set cudaMemPoolAttrReleaseThreshold of this pool to what a step needs, "
		  "or to UINT64_MAX, once before the training loop.",
	.rewrite = "pool-threshold",
	.rewrite_note = "only when named",
	.detect = detect,
};
