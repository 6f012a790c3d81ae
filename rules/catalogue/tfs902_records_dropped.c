/* SPDX-License-Identifier: MIT */
/* TFS902: the recording is not whole, so that counts may be too low. */
#include <inttypes.h>

#include "rules/evidence/findings.h"

/* Short stacks and names blur a report, lines are not its part: they hide no call. */
static bool hides_calls(unsigned loss)
{
	return loss != TFS_LOSS_stacks_short && loss != TFS_LOSS_strings_cut &&
	       loss != TFS_LOSS_lines_dropped;
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	static const char *const texts[TFS_LOSS_COUNT] = {
#define X(number, name, text) [number] = text,
		TFS_LOSSES(X)
#undef X
	};
	const struct tfs_trace *trace = steady->timeline->trace;
	const struct tfs_file_header *header = tfs_trace_header(trace);
	const struct tfs_trace_summary *summary = tfs_trace_summary(trace);
	const char *list = "";
	size_t before = findings->count;

	for (unsigned i = 0; i < TFS_LOSS_COUNT; i++)
		if (header->lost[i] && texts[i] && hides_calls(i))
			list = tfs_pool_print(findings->pool, "%s%s%" PRIu64 " x %s", list,
				*list ? "; " : "", header->lost[i], texts[i]);
	if (summary->damages || summary->cut)
		list = tfs_pool_print(findings->pool,
			"%s%s%" PRIu64 " damaged places in the file%s", list, *list ? "; " : "",
			summary->damages, summary->cut ? ", which ends early" : "");
	if (*list)
		tfs_findings_note(findings, "%s", list);
	tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED, "nothing was dropped");
}

const struct tfs_rule tfs_rule_tfs902 = {
	.id = "TFS902",
	.slug = "records-dropped",
	.level = TFS_LEVEL_NOTE,
	.title = "records were dropped",
	.why = "The recording has a size cap, and CUPTI and the disk have theirs. What was dropped "
	       "is "
	       "missing from counts and times.",
	.advice = "Record less or raise the size cap, by TFSHIM_OPTIONS=window=30 or limit=1g, and "
		  "look for a full disk and a limit on file sizes (ulimit -f).",
	.tips = "",
	.detect = detect,
};
