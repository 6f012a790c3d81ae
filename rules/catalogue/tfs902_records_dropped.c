/* SPDX-License-Identifier: MIT */
/* TFS902: the recording is not whole, so that counts may be too low. */
#include "rules/evidence/findings.h"
#include "rules/support/figures.h"

/* Short stacks and names blur a report, lines are not its part: they hide no call. */
static bool hides_calls(unsigned loss)
{
	return loss != TFS_LOSS_stacks_short && loss != TFS_LOSS_strings_cut &&
	       loss != TFS_LOSS_lines_dropped;
}

/* What helps against which losses. */
static const struct {
	uint32_t losses; /* bits */
	const char *advice;
} advice[] = {
	{1u << TFS_LOSS_records_dropped,
		"Record less or raise the size limit "
		"(TFSHIM_OPTIONS=window=30:window_later=0 or limit=1g), "
		"and check for a full disk and a limit on file sizes (ulimit -f)."},
	{1u << TFS_LOSS_cupti_dropped,
		"CUPTI's buffers were full: record fewer steps at a time (TFSHIM_OPTIONS=window=30)."},
	{1u << TFS_LOSS_cupti_unknown,
		"CUPTI may be newer than this tfshim supports: see `tfshim doctor` for its version."},
	{1u << TFS_LOSS_threads_failed,
		"Leave the process more memory: buffers for threads could not be allocated."},
	{1u << TFS_LOSS_steps_dropped,
		"Mark the steps from one thread only: two threads did so at the same time."},
	{1u << TFS_LOSS_aggregates_full | 1u << TFS_LOSS_sites_full | 1u << TFS_LOSS_ranges_full,
		"A table was full, so counts are too low and names are missing: "
		"no option makes the table larger."},
};

static const char *advice_on(
	uint32_t losses, const struct tfs_trace_summary *summary, struct tfs_arena *arena)
{
	const char *text = "";

	for (size_t i = 0; i < sizeof(advice) / sizeof(*advice); i++)
		if (losses & advice[i].losses)
			text = tfs_arena_print(
				arena, "%s%s%s", text, *text ? " " : "", advice[i].advice);
	if (summary->damages || summary->cut)
		text = tfs_arena_print(arena,
			"%s%sLet the program exit normally, and copy the whole recording.", text,
			*text ? " " : "");
	return text;
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
	uint32_t losses = 0;
	size_t before = findings->count;

	for (unsigned i = 0; i < TFS_LOSS_COUNT; i++)
		if (header->lost[i] && texts[i] && hides_calls(i)) {
			losses |= 1u << i;
			list = tfs_arena_print(findings->arena, "%s%s%s (%s)", list,
				*list ? "; " : "", texts[i],
				tfs_figure_count((double)header->lost[i]).text);
		}
	if (summary->damages || summary->cut)
		list = tfs_arena_print(findings->arena, "%s%s%s of the file%s", list,
			*list ? "; " : "",
			tfs_figure_number((double)summary->damages, "damaged part", "damaged parts")
				.text,
			summary->cut ? ", which is truncated" : "");
	if (*list) {
		struct tfs_draft *draft = tfs_findings_note(findings, "%s", list);

		if (draft)
			draft->finding.advice = advice_on(losses, summary, findings->arena);
	}
	tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
		"no call record and no GPU activity record was dropped");
}

const struct tfs_rule tfs_rule_tfs902 = {
	.id = "TFS902",
	.slug = "records-dropped",
	.level = TFS_LEVEL_NOTE,
	.needs = TFS_NEEDS_ALL,
	.title = "records were dropped",
	.why = "The recording, CUPTI's buffers, the disk and tfshim's tables have size limits. "
	       "Dropped records are missing from counts and times.",
	.advice = "Follow the finding's advice for each kind of dropped record.",
	.detect = detect,
};
