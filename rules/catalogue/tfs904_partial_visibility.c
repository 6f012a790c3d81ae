/* SPDX-License-Identifier: MIT */
/* TFS904: something ran that no layer of the recording could see, so that "passed" is not meant. */
#include "rules/evidence/findings.h"
#include "rules/judge/visibility.h"
#include "rules/support/figures.h"

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	size_t before = findings->count;

	if (tfs_visibility_partial(steady)) {
		struct tfs_draft *draft = tfs_findings_note(
			findings, "%s", tfs_visibility_gaps(steady, findings->arena));

		if (draft)
			draft->finding.advice = tfs_visibility_advice(steady, findings->arena);
	}
	if (steady->pairs->why)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"hook and CUPTI call counts cannot be compared: %s", steady->pairs->why);
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"hook and CUPTI call counts agree (%s)",
			tfs_figure_number((double)steady->pairs->count, "function", "functions")
				.text);
}

const struct tfs_rule tfs_rule_tfs904 = {
	.id = "TFS904",
	.slug = "partial-visibility",
	.level = TFS_LEVEL_NOTE,
	.title = "part of the program was not visible to tfshim",
	.why = "The hooks do not see libraries that tfshim has no hooks for, functions taken from a library's own table, "
	       "libraries loaded with RTLD_DEEPBIND or dlmopen, and GPU activity without a known call; "
	       "with driver=0, nor a CUDA runtime linked into the program. "
	       "Call counts that differ between hooks and CUPTI by more than 2 % "
	       "are listed with both numbers. "
	       "Findings still hold; rules that passed may not.",
	.advice = "Follow the finding's advice for its causes. "
		  "Calls by a library that tfshim has no hooks for need no change.",
	.detect = detect,
};
