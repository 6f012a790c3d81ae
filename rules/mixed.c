/* SPDX-License-Identifier: MIT */
#include "rules/mixed.h"

#include <stdlib.h>

#include "rules/steady.h"

/* Of a call site: in how many judged steps it computes. */
struct use {
	uint32_t steps;
	uint32_t latest;
};

static bool computes(enum tfs_family family)
{
	switch (family) {
	case TFS_FAMILY_copy:
	case TFS_FAMILY_copy_async:
	case TFS_FAMILY_set:
	case TFS_FAMILY_set_async:
	case TFS_FAMILY_host_func:
		return false;
	default:
		return tfs_family_submits(family);
	}
}

static bool counts(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	const bool *judged, uint32_t limit)
{
	return call->step != TFS_NONE && judged[call->step] && computes(call->family) &&
	       call->record->site && call->record->site < limit &&
	       !timeline->threads[call->thread].own;
}

uint32_t tfs_mixed_remove(const struct tfs_timeline *timeline, bool *judged, uint32_t count)
{
	uint32_t limit = tfs_trace_limit(timeline->trace, TFS_RECORD_site), mixed_count = 0;
	struct use *uses = calloc((size_t)limit + 1, sizeof(*uses));
	bool *mixed = calloc((size_t)timeline->step_count + 1, sizeof(*mixed));

	for (uint32_t i = 0; uses && i < timeline->call_count; i++) {
		const struct tfs_host_call *call = &timeline->calls[i];
		struct use *use = &uses[call->record->site < limit ? call->record->site : 0];

		if (!counts(timeline, call, judged, limit) || use->latest == call->step + 1)
			continue;
		use->latest = call->step + 1;
		use->steps++;
	}
	for (uint32_t i = 0; uses && mixed && i < timeline->call_count; i++) {
		const struct tfs_host_call *call = &timeline->calls[i];

		if (!counts(timeline, call, judged, limit) || mixed[call->step] ||
			2 * uses[call->record->site].steps >= count)
			continue;
		mixed[call->step] = true;
		mixed_count++;
	}
	if (2 * mixed_count <= count) {
		for (uint32_t i = 0; mixed && i < timeline->step_count; i++)
			judged[i] = judged[i] && !mixed[i];
		count -= mixed_count;
	}
	free(uses);
	free(mixed);
	return count;
}
