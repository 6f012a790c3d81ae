/* SPDX-License-Identifier: MIT */
/* TFS904: something ran that no layer of the recording could see, so that "passed" is not meant. */
#include <string.h>

#include "rules/evidence/findings.h"
#include "rules/judge/visibility.h"
#include "rules/support/figures.h"
#include "rules/timeline/pairs.h"

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	size_t before = findings->count;
	const char *list = tfs_visibility_gaps(steady, findings->pool);

	if (*list) {
		struct tfs_draft *draft = tfs_findings_note(findings, "%s", list);

		if (draft)
			draft->finding.advice = tfs_visibility_advice(steady, findings->pool);
	}
	if (steady->pairs->why)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"calls seen by hooks cannot be compared with CUPTI's: %s",
			steady->pairs->why);
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
	.title = "part of the program was not visible",
	.why = "Libraries that tfshim has no hooks for, functions found in a library's own table, "
	       "libraries loaded in unusual ways and device work without a known call are out of reach of the hooks; "
	       "so is a CUDA runtime linked into the program where calls of the driver are not watched. "
	       "Calls that CUPTI saw and the hooks did not, or the other way round, show it: "
	       "a difference above 2 % is named with both numbers. "
	       "Findings still hold; what passed may not.",
	.advice = "Do what the finding says of its causes. "
		  "What a library does that tfshim has no hooks for needs no change.",
	.tips = "",
	.detect = detect,
};
