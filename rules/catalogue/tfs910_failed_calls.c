/* SPDX-License-Identifier: MIT */
/*
 * TFS910: calls of the training step that return an error. A program that looks at no status does
 * not tell. What is not ready, done already, or not supported where that is asked, passes; so does
 * who only asks for the last error. Allocations that succeed once memory was freed are TFS409's.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "rules/evidence/findings.h"
#include "rules/evidence/retries.h"
#include "rules/support/figures.h"
#include "rules/timeline/statuses.h"

static enum tfs_library library_of(const struct tfs_timeline *timeline, uint16_t function)
{
	const struct tfs_function_record *record =
		tfs_trace_find(timeline->trace, TFS_RECORD_function, function);

	return record ? (enum tfs_library)record->library : 0;
}

static bool fails(const struct tfs_timeline *timeline, const struct tfs_host_call *call)
{
	return tfs_status_fails(library_of(timeline, call->function), (enum tfs_family)call->family,
		call->record->status);
}

static bool is_cuda(const struct tfs_timeline *timeline, const struct tfs_host_call *call)
{
	const enum tfs_library library = library_of(timeline, call->function);

	return library == TFS_LIBRARY_cudart || library == TFS_LIBRARY_cuda;
}

/* Whether the call, of the runtime, may only tell of the error of the latest of it that failed in
 * its thread (0: none): cudaGetLastError() is given nothing, and makes no work. */
static bool tells_of(
	const struct tfs_timeline *timeline, const struct tfs_host_call *call, uint32_t latest)
{
	struct tfs_operand operand;
	unsigned cursor = 0;

	return library_of(timeline, call->function) == TFS_LIBRARY_cudart &&
	       call->family == TFS_FAMILY_other && call->record->status == latest &&
	       !call->op_count && !call->record->amount &&
	       !tfs_operand_next(timeline, call, &cursor, &operand);
}

/* All that fail, and apart those that are none of this rule's; 0 or -1. */
static int collect(
	const struct tfs_steady *steady, struct tfs_hits *hits, struct tfs_hits *out_retried)
{
	const struct tfs_timeline *timeline = steady->timeline;
	uint32_t *latest = calloc(timeline->thread_count + 1u, sizeof(*latest));
	struct tfs_hits freed = {0};

	if (!latest)
		return -1;
	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);

		if (!fails(timeline, call) || tells_of(timeline, call, latest[call->thread]))
			continue;
		if (is_cuda(timeline, call))
			latest[call->thread] = call->record->status;
		freed.count = 0;
		tfs_hits_add(tfs_retry_find(steady, i, &freed) == TFS_NONE ? hits : out_retried,
			steady->calls[i], 0, (struct tfs_edit){0});
	}
	tfs_hits_finish(&freed);
	free(latest);
	return 0;
}

static const char *name_of(
	const struct tfs_timeline *timeline, struct tfs_arena *arena, const struct tfs_place *place)
{
	const struct tfs_host_call *call = &timeline->calls[place->items->call];
	uint32_t status = call->record->status;
	const char *name = tfs_status_name(library_of(timeline, call->function), status);
	bool others = false;

	for (size_t i = 1; i < place->count; i++)
		others |= timeline->calls[place->items[i].call].record->status != status;
	return tfs_arena_print(arena, "%s%s%" PRIu32 "%s%s", name ? name : "status ",
		name ? " (" : "", status, name ? ")" : "", others ? " and others" : "");
}

/* Of a run without known steps any failure counts, else habits of the judged steps' time. */
static bool counts(const struct tfs_steady *steady, const struct tfs_aggregate *sum)
{
	const struct tfs_timeline *timeline = steady->timeline;

	if (steady->run)
		return sum->failures > 0;
	return sum->failures >= steady->min_steps &&
	       tfs_trace_ns(timeline->trace, sum->latest_ticks) >
		       timeline->steps[steady->steps[0]].start_ns;
}

static bool is_of(const struct tfs_timeline *timeline, const struct tfs_hits *hits,
	const struct tfs_aggregate *sum)
{
	for (size_t i = 0; i < hits->count; i++) {
		const struct tfs_host_call *call = &timeline->calls[hits->items[i].call];

		if (call->function == sum->function && call->record->site == sum->site)
			return true;
	}
	return false;
}

/* Calls that the totals say fail, though no judged step has one; NULL = none. With what status they
 * fail is not recorded. */
static const struct tfs_aggregate *unseen(
	const struct tfs_steady *steady, const struct tfs_hits *retried)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const struct tfs_trace *trace = timeline->trace;
	const struct tfs_total *totals;
	const struct tfs_share *shares;
	size_t count = tfs_trace_totals(trace, &totals, &shares);

	for (size_t i = 0; i < count; i++) {
		const struct tfs_aggregate *sum = &totals[i].sum;

		if (counts(steady, sum) && !is_of(timeline, retried, sum) &&
			!tfs_status_harmless(
				(enum tfs_family)tfs_trace_family(trace, sum->function)))
			return sum;
	}
	return NULL;
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const struct tfs_aggregate *more;
	struct tfs_hits hits = {0}, retried = {0};
	struct tfs_place place = {0};
	size_t before = findings->count;

	if (collect(steady, &hits, &retried)) {
		findings->failed = true;
		return;
	}
	while (tfs_hits_next(steady, &hits, &place)) {
		struct tfs_draft *draft = tfs_findings_add(findings, &place, NULL,
			"fails with %s, %s", name_of(timeline, findings->arena, &place),
			tfs_place_calls(&place, steady).text);

		if (draft)
			draft->needed = true;
	}
	more = findings->count == before ? unseen(steady, &retried) : NULL;
	if (more) {
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"%s failed %s in the run, but %s",
			tfs_trace_function(timeline->trace, more->function),
			tfs_figure_number((double)more->failures, "time", "times").text,
			steady->run ? "its status was not recorded" : "in no judged step");
		out_verdict->site = more->site;
	} else {
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"no call of %s fails%s", steady->run ? "the run" : tfs_steady_name(steady),
			retried.count ? ", but for allocations that succeed once memory was freed"
				      : "");
	}
	tfs_hits_finish(&hits);
	tfs_hits_finish(&retried);
}

const struct tfs_rule tfs_rule_tfs910 = {
	.id = "TFS910",
	.slug = "failed-calls",
	.level = TFS_LEVEL_WARN,
	.any_cost = true,
	.anywhere = true,
	.totals = true,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_OPERANDS,
	.title = "failing calls in the training step",
	.why = "A call that returns an error has not done its work: "
	       "a failed GEMM leaves an earlier result in place, and training continues with it. "
	       "A program that does not check return values does not notice.",
	.advice =
		"Check the return value of this call, and correct the arguments or the state that make it fail; "
		"remove the call if nothing needs it.",
	.detect = detect,
};
