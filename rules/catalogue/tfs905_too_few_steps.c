/* SPDX-License-Identifier: MIT */
/* TFS905: fewer judged training steps than a firm judgement needs. */
#include "rules/evidence/findings.h"
#include "rules/support/figures.h"
#include "shim/trace/format/iterations.h"

#define MARK_THEM                                                                                  \
	"Mark where each step begins with TFSHIM_STEP() from shim/tfshim.h, "                      \
	"or give the option step_range the name of the NVTX ranges that are the steps; "           \
	"if the program trains for a few steps only, train for more."

static const char *advice(const struct tfs_steady *steady)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const bool imported = tfs_trace_fact(timeline->trace, TFS_FACT_imported);

	if (!timeline->step_source && imported)
		return "Mark the steps and record again: for Nsight Systems, put each training step into an NVTX range named step "
		       "(nvtxRangePush; torch.cuda.nvtx.range_push); for PyTorch's profiler, call its step() after each one. "
		       "Or run the program under tfshim, which finds the steps itself.";
	if (timeline->step_source == TFS_STEP_ITERATIONS)
		return MARK_THEM;
	if (imported)
		return "Record more steps with the tool that made this recording.";
	if (!timeline->step_source)
		return MARK_THEM;
	if (timeline->outside.count + timeline->rewritten.count >= steady->min_steps)
		return "Record more steps: set window in TFSHIM_OPTIONS to a larger number (50 by default).";
	return "Train for more steps.";
}

static void report(const struct tfs_steady *steady, struct tfs_findings *findings)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const char *mixed = "", *partial = "";
	struct tfs_draft *draft;

	if (steady->mixed_steps)
		mixed = tfs_arena_print(findings->arena, "%s work of another phase",
			tfs_figure_also(steady->mixed_steps, "more holds", "more hold").text);
	if (timeline->partial_steps)
		partial = tfs_arena_print(findings->arena, "%s records, which were dropped",
			tfs_figure_also(timeline->partial_steps, "more lacks", "more lack").text);
	if (!timeline->step_source)
		draft = tfs_findings_note(findings,
			"no training step was found in the recorded calls: rules look at the whole run, and what depends on steps is not measurable");
	else if (timeline->step_source == TFS_STEP_ITERATIONS)
		draft = tfs_findings_note(findings,
			"no weight update was seen in the calls: a step is an iteration of the loop with most of them; %s counted",
			tfs_figure_number((double)timeline->training_steps, "of its iterations was",
				"of its iterations were")
				.text);
	else
		draft = tfs_findings_note(findings,
			"%s judged, of %s in total; an error needs %u%s%s",
			tfs_figure_number(
				steady->step_count, "training step was", "training steps were")
				.text,
			tfs_figure_count((double)timeline->training_steps).text, steady->min_steps,
			mixed, partial);
	if (draft)
		draft->finding.advice = advice(steady);
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	size_t before = findings->count;

	if (!steady->timeline->step_source ||
		steady->timeline->step_source == TFS_STEP_ITERATIONS ||
		steady->step_count < steady->min_steps)
		report(steady, findings);
	tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED, "%s judged",
		tfs_figure_number(steady->step_count, "step was", "steps were").text);
}

const struct tfs_rule tfs_rule_tfs905 = {
	.id = "TFS905",
	.slug = "too-few-steps",
	.level = TFS_LEVEL_NOTE,
	.title = "too few training steps were recorded",
	.why = "Findings describe the steady state. "
	       "With few steps, a rare event looks like a frequent one, and times vary more than costs.",
	.advice = "Train for more steps, record more of them, or mark the steps in the program.",
	.detect = detect,
};
