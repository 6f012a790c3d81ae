/* SPDX-License-Identifier: MIT */
#include "rules/timeline/comparable.h"

#include "rules/support/figures.h"
#include "rules/support/sentences.h"

/* What was lost may be the very call that would be missed. */
const char *tfs_comparable_lost(const struct tfs_trace *trace, struct tfs_arena *arena)
{
	static const struct {
		enum tfs_loss loss;
		const char *one, *many;
	} losses[] = {
		{TFS_LOSS_records_dropped, "record did not fit into the recording",
			"records did not fit into the recording"},
		{TFS_LOSS_cupti_dropped, "record was dropped by CUPTI",
			"records were dropped by CUPTI"},
		{TFS_LOSS_cupti_unknown, "record of CUPTI was of an unknown kind",
			"records of CUPTI were of unknown kinds"},
		{TFS_LOSS_threads_failed, "thread was not recorded", "threads were not recorded"},
	};
	const struct tfs_file_header *header = tfs_trace_header(trace);

	for (size_t i = 0; i < sizeof(losses) / sizeof(*losses); i++)
		if (header->lost[losses[i].loss])
			return tfs_arena_print(arena, "%s",
				tfs_figure_number((double)header->lost[losses[i].loss],
					losses[i].one, losses[i].many)
					.text);
	if (tfs_trace_summary(trace)->damages || tfs_trace_summary(trace)->cut)
		return "the recording is damaged";
	return header->finished ? NULL : "the program ended before CUPTI had delivered all records";
}

const char *tfs_comparable_why_not(const struct tfs_timeline *timeline, struct tfs_arena *arena)
{
	const struct tfs_trace *trace = timeline->trace;
	const char *cupti = tfs_sentence_key(trace, "cupti", arena);
	bool device = false;

	for (uint32_t i = 0; i < timeline->window_count; i++)
		device |= (timeline->windows[i].flags & 3) == 3;
	if (tfs_trace_fact(trace, TFS_FACT_hooks_none))
		return "no hooks were loaded";
	if (!device && *cupti)
		return tfs_arena_print(arena, "no window has CUPTI records, CUPTI: %s", cupti);
	if (!device)
		return "no window has CUPTI records";
	if (!tfs_trace_count(trace, TFS_RECORD_api))
		return "the recording does not say which calls CUPTI recorded";
	if (timeline->call_count == 0 && tfs_trace_count(trace, TFS_RECORD_device_api) == 0)
		return "no call was made in a window";
	return tfs_comparable_lost(trace, arena);
}
