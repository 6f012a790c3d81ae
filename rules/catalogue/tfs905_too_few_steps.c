/* SPDX-License-Identifier: MIT */
/* TFS905: fewer recorded training steps than a firm judgement needs. */
#include <inttypes.h>

#include "rules/evidence/findings.h"

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const struct tfs_timeline *timeline = steady->timeline;
	size_t before = findings->count;

	if (!timeline->step_source)
		tfs_findings_note(findings,
			"no training step was found in the recorded calls, so that "
			"rules about steps abstain");
	else if (steady->step_count < steady->min_steps)
		tfs_findings_note(findings,
			"%u training steps were recorded in full, of %" PRIu64
			" in all; %u are needed for an error",
			steady->step_count, timeline->training_steps, steady->min_steps);
	tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED, "%u steps were judged",
		steady->step_count);
}

const struct tfs_rule tfs_rule_tfs905 = {
	.id = "TFS905",
	.slug = "too-few-steps",
	.level = TFS_LEVEL_NOTE,
	.title = "too few training steps were recorded",
	.why = "Findings are about the steady state. With few steps, what happens once in a while "
	       "looks "
	       "like a habit, and times vary more than costs.",
	.advice = "Train for more steps, or mark them with an NVTX range or tfshim_step() when "
		  "they are "
		  "not found.",
	.tips = "",
	.detect = detect,
};
