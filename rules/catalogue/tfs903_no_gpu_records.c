/* SPDX-License-Identifier: MIT */
/* TFS903: the program gave the device work, but nothing of the device's side was recorded. */
#include <inttypes.h>

#include "rules/evidence/findings.h"
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

	return timeline->op_count == 0 &&
	       (lost[TFS_LOSS_records_dropped] != 0 || lost[TFS_LOSS_cupti_dropped] != 0);
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const char *why = tfs_sentence_key(timeline->trace, "cupti", findings->pool);
	size_t before = findings->count;
	const struct tfs_pairs *pairs = steady->pairs;
	uint32_t submitted = 0; /* and not refused */

	for (uint32_t i = 0; i < timeline->call_count; i++)
		submitted += tfs_family_submits(timeline->calls[i].family) &&
			     !timeline->calls[i].record->status;
	const bool dropped = is_dropped(timeline);
	if (submitted && !timeline->op_count && !dropped)
		tfs_findings_note(findings,
			"%u recorded calls gave the device work, but no activity of the device was "
			"recorded%s%s",
			submitted, *why ? ": CUPTI " : "", why);
	else if (submitted && !pairs->lost && is_short(pairs))
		tfs_findings_note(findings,
			"%" PRIu64 " launches were recorded, but only %" PRIu64
			" of them have a record of their kernel",
			pairs->launches, pairs->launched);
	if (!submitted)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"no recorded call gave the device work");
	else if (dropped)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"records were dropped, the device's among them perhaps");
	else if (pairs->lost)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"launches cannot be compared with kernel records: %s", pairs->lost);
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"device activity was recorded: of %" PRIu64 " launches, %" PRIu64
			" have a kernel record",
			pairs->launches, pairs->launched);
}

const struct tfs_rule tfs_rule_tfs903 = {
	.id = "TFS903",
	.slug = "no-gpu-records",
	.level = TFS_LEVEL_ERROR,
	.any_cost = true,
	.title = "no records of the device",
	.why = "Times on the device come from CUPTI. Without them idle time, overlap and costs are "
	       "not "
	       "known, and rules that need them are not measurable.",
	.advice = "Make libcupti of the CUDA toolkit findable (LD_LIBRARY_PATH or CUDA_HOME), end "
		  "other "
		  "profilers that hold it, and see `tfshim doctor`.",
	.tips = "",
	.detect = detect,
};
