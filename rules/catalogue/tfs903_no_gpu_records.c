/* SPDX-License-Identifier: MIT */
/* TFS903: the program gave the device work, but nothing of the device's side was recorded. */
#include "rules/evidence/findings.h"
#include "rules/support/figures.h"
#include "rules/support/sentences.h"
#include "rules/timeline/pairs.h"

static bool is_short(const struct tfs_pairs *pairs)
{
	return (double)(pairs->launches - pairs->launched) > 0.02 * (double)pairs->launches;
}

/* What the device did may be among what found no room. */
static bool is_dropped(const struct tfs_timeline *timeline)
{
	const uint64_t *lost = tfs_trace_header(timeline->trace)->lost;

	return timeline->op_count == 0 && !timeline->work_lost &&
	       (lost[TFS_LOSS_records_dropped] != 0 || lost[TFS_LOSS_cupti_dropped] != 0);
}

/* What to do, by what became of CUPTI last. */
static const struct {
	enum tfs_fact_code fact;
	const char *advice;
} advice[] = {
	{TFS_FACT_cupti_in_windows,
		"CUPTI was available. "
		"If the run was short, train for more steps; otherwise see `tfshim doctor`."},
	{TFS_FACT_cupti_again,
		"CUPTI was released and used again: train for more steps after that."},
	{TFS_FACT_cupti_not_built, "Use a tfshim that was built with CUPTI."},
	{TFS_FACT_cupti_no_driver,
		"Run on a machine with NVIDIA's driver, and see `tfshim doctor`."},
	{TFS_FACT_cupti_taken,
		"Stop the other profiler that uses CUPTI; it may be part of the program."},
	{TFS_FACT_cupti_taken_by_another,
		"Stop the other profiler that uses CUPTI; it may be part of the program."},
	{TFS_FACT_cupti_gave_way, "Run without the other profiler that CUPTI was left to."},
	{TFS_FACT_cupti_never_gave_way, "Run without the other profiler that CUPTI was left to."},
	{TFS_FACT_cupti_lent, "Remove cupti_off from TFSHIM_OPTIONS, or give it fewer steps."},
	{TFS_FACT_cupti_never_lent,
		"Remove cupti_off from TFSHIM_OPTIONS, or give it fewer steps."},
	{TFS_FACT_cupti_given_back,
		"Call TFSHIM_CUPTI(1) in the program before training continues."},
	{TFS_FACT_cupti_never_given_back, "Call TFSHIM_CUPTI(1) in the program before training."},
	{TFS_FACT_cupti_old_driver, "Install a newer driver, and see `tfshim doctor`."},
	{TFS_FACT_cupti_no_device, "See `tfshim doctor` for the driver's state."},
	{TFS_FACT_cupti_failed, "See `tfshim doctor` for CUPTI's state on this machine."},
	{TFS_FACT_cupti_refuses, "See `tfshim doctor` for CUPTI's state on this machine."},
	{TFS_FACT_cupti_lost, "See `tfshim doctor` for CUPTI's state on this machine."},
	{TFS_FACT_cupti_none,
		"Make the CUDA toolkit's libcupti findable (LD_LIBRARY_PATH or CUDA_HOME)."},
	{TFS_FACT_cupti_incomplete,
		"Make the libcupti of another CUDA toolkit findable (LD_LIBRARY_PATH or CUDA_HOME)."},
};

static const char *advice_of(const struct tfs_trace *trace)
{
	for (size_t i = tfs_trace_count(trace, TFS_RECORD_fact); i-- > 0;) {
		const struct tfs_fact_record *fact = tfs_trace_at(trace, TFS_RECORD_fact, i);

		for (size_t j = 0; j < sizeof(advice) / sizeof(*advice); j++)
			if (fact->fact == advice[j].fact)
				return advice[j].advice;
	}
	return "See `tfshim doctor`; if TFSHIM_OPTIONS has cupti=0, remove it.";
}

static void report(
	const struct tfs_steady *steady, struct tfs_findings *findings, uint32_t submitted)
{
	const struct tfs_trace *trace = steady->timeline->trace;
	const char *why = tfs_sentence_key(trace, "cupti", findings->arena);
	const struct tfs_pairs *pairs = steady->pairs;
	struct tfs_draft *draft;

	if (!steady->timeline->op_count && !steady->timeline->work_lost) {
		draft = tfs_findings_note(findings,
			"%s submitted GPU work, but no GPU activity was recorded%s%s",
			tfs_figure_number(submitted, "recorded call", "recorded calls").text,
			*why ? ": CUPTI " : "", why);
		if (draft)
			draft->finding.advice = advice_of(trace);
	} else if (!pairs->lost && is_short(pairs)) {
		draft = tfs_findings_note(findings, "of %s, only %s a kernel record",
			tfs_figure_number(
				(double)pairs->launches, "recorded launch", "recorded launches")
				.text,
			tfs_figure_number((double)pairs->launched, "has", "have").text);
		if (draft)
			draft->finding.advice =
				"Use counts instead of times: CUPTI is available, but these kernels have no times.";
	}
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const struct tfs_timeline *timeline = steady->timeline;
	size_t before = findings->count;
	const struct tfs_pairs *pairs = steady->pairs;
	uint32_t submitted = 0; /* and not refused */

	for (uint32_t i = 0; i < timeline->call_count; i++)
		submitted += tfs_family_submits(timeline->calls[i].family) &&
			     !timeline->calls[i].record->status;
	const bool dropped = is_dropped(timeline);
	if (submitted && !dropped)
		report(steady, findings, submitted);
	if (!submitted)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"no recorded call submitted GPU work");
	else if (dropped)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"records were dropped, possibly those of GPU activity");
	else if (pairs->lost)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"launches cannot be compared with kernel records: %s", pairs->lost);
	else if (!pairs->launches)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"GPU activity was recorded; no kernels were launched by the program itself");
	else if (pairs->queued)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"GPU activity was recorded: of %s, %s a kernel record; %s still queued when the recording ended",
			tfs_figure_number((double)pairs->launches, "launch", "launches").text,
			tfs_figure_number((double)pairs->launched, "has", "have").text,
			tfs_figure_number((double)pairs->queued, "more was", "more were").text);
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"GPU activity was recorded: of %s, %s a kernel record",
			tfs_figure_number((double)pairs->launches, "launch", "launches").text,
			tfs_figure_number((double)pairs->launched, "has", "have").text);
}

const struct tfs_rule tfs_rule_tfs903 = {
	.id = "TFS903",
	.slug = "no-gpu-records",
	.level = TFS_LEVEL_ERROR,
	.any_cost = true,
	.title = "no GPU activity was recorded",
	.why = "GPU times come from CUPTI. "
	       "Without them idle time, overlap and costs are not known, and rules that need them are not measurable.",
	.advice = "Follow the finding's advice for its cause, and see `tfshim doctor`.",
	.detect = detect,
};
