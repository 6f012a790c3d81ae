/* SPDX-License-Identifier: MIT */
#include "rules/judge/whole_run.h"

#include "rules/support/figures.h"
#include "rules/timeline/families.h"

void tfs_whole_run_settle(
	struct tfs_findings *findings, size_t before, struct tfs_verdict *out_verdict)
{
	const struct tfs_steady *run = findings->steady;
	double calls = 0, ns = 0;
	size_t sites = findings->count - before;

	if (!sites || findings->rule->anywhere)
		return;
	for (size_t i = before; i < findings->count; i++) {
		calls += findings->items[i].finding.count_per_step;
		ns += findings->items[i].finding.time_per_step_ns;
	}
	findings->count = before;
	tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
		"no training steps were found: it is not known whether %s at %s (%s, %s of the recorded run) "
		"%s in a step",
		tfs_figure_number(calls, "call", "calls").text,
		tfs_figure_number((double)sites, "call site", "call sites").text,
		tfs_figure_time(ns).text, tfs_figure_share(ns / run->step_ns).text,
		calls > 1 ? "are" : "is");
}

const char *tfs_whole_run_unrecorded(
	const struct tfs_steady *run, uint32_t about, struct tfs_arena *arena, uint32_t *out_site)
{
	const struct tfs_trace *trace = run->timeline->trace;
	const struct tfs_total *totals;
	size_t count = tfs_trace_totals(trace, &totals, NULL);
	uint64_t *recorded = tfs_arena_alloc(arena, count, sizeof(*recorded));

	for (uint32_t i = 0; recorded && i < run->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(run, i);
		const struct tfs_total *total =
			tfs_trace_total(trace, call->record->site, call->function);

		if (total)
			recorded[total - totals]++;
	}
	for (size_t i = 0; recorded && i < count; i++) {
		const struct tfs_aggregate *sum = &totals[i].sum;
		const uint32_t kind =
			tfs_family_about((enum tfs_family)tfs_trace_family(trace, sum->function));

		if (sum->count <= recorded[i] || tfs_total_is_count(sum) ||
			(kind && !(kind & about)))
			continue;
		*out_site = sum->site;
		return tfs_arena_print(arena,
			"no training steps were found, and %s was called %s in the run, of which %s recorded",
			tfs_trace_function(trace, sum->function),
			tfs_figure_number((double)sum->count, "time", "times").text,
			tfs_figure_number((double)recorded[i], "was", "were").text);
	}
	return NULL;
}
