/* SPDX-License-Identifier: MIT */
/* TFS905: fewer judged training steps than a firm judgement needs. */
#include "rules/evidence/findings.h"
#include "rules/support/figures.h"

static const char *advice(const struct tfs_steady *steady)
{
	const struct tfs_timeline *timeline = steady->timeline;

	if (!timeline->step_source)
		return "Mark where each step begins by TFSHIM_STEP() of shim/tfshim.h, "
		       "or name in the option step_range the NVTX ranges that are the steps; "
		       "where the program trains for a few steps only, train for more.";
	if (timeline->outside.count + timeline->rewritten.count >= steady->min_steps)
		return "Record more steps: give window in TFSHIM_OPTIONS a larger number (it is 50 where nothing is said).";
	return "Train for more steps.";
}

static void report(const struct tfs_steady *steady, struct tfs_findings *findings)
{
	const char *mixed = "";
	struct tfs_draft *draft;

	if (steady->mixed_steps)
		mixed = tfs_pool_print(findings->pool, "%s another phase's work",
			tfs_figure_also(steady->mixed_steps, "more holds", "more hold").text);
	if (!steady->timeline->step_source)
		draft = tfs_findings_note(findings,
			"no training step was found in the recorded calls, so that rules about steps abstain");
	else
		draft = tfs_findings_note(findings,
			"%s judged, of %s in all; %u are needed for an error%s",
			tfs_figure_number(
				steady->step_count, "training step was", "training steps were")
				.text,
			tfs_figure_count((double)steady->timeline->training_steps).text,
			steady->min_steps, mixed);
	if (draft)
		draft->finding.advice = advice(steady);
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	size_t before = findings->count;

	if (!steady->timeline->step_source || steady->step_count < steady->min_steps)
		report(steady, findings);
	tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED, "%s judged",
		tfs_figure_number(steady->step_count, "step was", "steps were").text);
}

const struct tfs_rule tfs_rule_tfs905 = {
	.id = "TFS905",
	.slug = "too-few-steps",
	.level = TFS_LEVEL_NOTE,
	.title = "too few training steps were recorded",
	.why = "Findings are about the steady state. "
	       "With few steps, what happens once in a while looks like a habit, and times vary more than costs.",
	.advice =
		"Train for more steps, record more of them, or mark them where they are not found.",
	.tips = "",
	.detect = detect,
};
