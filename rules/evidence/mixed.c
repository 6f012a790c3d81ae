/* SPDX-License-Identifier: MIT */
#include "rules/evidence/mixed.h"

#include <stdlib.h>
#include <string.h>

#include "rules/evidence/steady.h"
#include "shim/trace/format/iterations.h"

/* Of a call site: in how many judged steps it computes. */
struct use {
	uint32_t steps;
	uint32_t left; /* how many of these were left */
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

static bool counts(const struct tfs_host_call *call, const bool *judged, uint32_t limit)
{
	return call->step != TFS_NONE && judged[call->step] && computes(call->family) &&
	       call->record->site && call->record->site < limit;
}

static void count_uses(
	const struct tfs_timeline *timeline, const bool *judged, struct use *uses, uint32_t limit)
{
	for (uint32_t i = 0; i < timeline->call_count; i++) {
		const struct tfs_host_call *call = &timeline->calls[i];
		struct use *use = &uses[call->record->site < limit ? call->record->site : 0];

		if (!counts(call, judged, limit) || use->latest == call->step + 1)
			continue;
		use->latest = call->step + 1;
		use->steps++;
		use->left += timeline->steps[call->step].left;
	}
}

static uint32_t find_mixed(const struct tfs_timeline *timeline, const bool *judged, uint32_t count,
	const struct use *uses, uint32_t limit, bool *mixed)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < timeline->call_count; i++) {
		const struct tfs_host_call *call = &timeline->calls[i];

		if (!counts(call, judged, limit) || mixed[call->step] ||
			2 * uses[call->record->site].steps >= count)
			continue;
		mixed[call->step] = true;
		found++;
	}
	return found;
}

/* Only where the program said nothing itself: its own marks are its word for what a step is. */
static bool may_be_cut(const struct tfs_timeline *timeline, const bool *judged, uint32_t step)
{
	return judged[step] && timeline->steps[step].left &&
	       (timeline->step_source == TFS_STEP_LOOPS ||
		       timeline->step_source == TFS_STEP_ITERATIONS);
}

/* `places[step]`: at how many sites that every step which was not left computes at, it does. */
static void count_places(const struct tfs_timeline *timeline, const bool *judged, uint32_t whole,
	struct use *uses, uint32_t limit, uint32_t *places)
{
	for (uint32_t i = 0; i < limit; i++)
		uses[i].latest = 0;
	for (uint32_t i = 0; i < timeline->call_count; i++) {
		const struct tfs_host_call *call = &timeline->calls[i];
		struct use *use = &uses[call->record->site < limit ? call->record->site : 0];

		if (!counts(call, judged, limit) || use->latest == call->step + 1 ||
			use->steps - use->left < whole)
			continue;
		use->latest = call->step + 1;
		places[call->step]++;
	}
}

/* Returns how many were cut. */
static uint32_t find_cut(const struct tfs_timeline *timeline, const bool *judged, struct use *uses,
	uint32_t limit, bool *cut)
{
	uint32_t *places = calloc((size_t)timeline->step_count + 1, sizeof(*places));
	uint32_t whole = 0, most = 0, found = 0;

	for (uint32_t i = 0; i < timeline->step_count; i++)
		whole += judged[i] && !timeline->steps[i].left;
	if (places && whole)
		count_places(timeline, judged, whole, uses, limit, places);
	for (uint32_t i = 0; places && i < timeline->step_count; i++)
		most = places[i] > most ? places[i] : most;
	for (uint32_t i = 0; places && i < timeline->step_count; i++) {
		if (!may_be_cut(timeline, judged, i) || places[i] == most)
			continue;
		cut[i] = true;
		found++;
	}
	free(places);
	return found;
}

static uint32_t clear(const struct tfs_timeline *timeline, bool *judged, const bool *flags)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < timeline->step_count; i++) {
		judged[i] = judged[i] && !flags[i];
		left += judged[i];
	}
	return left;
}

uint32_t tfs_mixed_remove(const struct tfs_timeline *timeline, bool *judged, uint32_t count)
{
	uint32_t limit = tfs_trace_limit(timeline->trace, TFS_RECORD_site);
	struct use *uses = calloc((size_t)limit + 1, sizeof(*uses));
	bool *flags = calloc((size_t)timeline->step_count + 1, sizeof(*flags));

	if (uses && flags) {
		count_uses(timeline, judged, uses, limit);
		if (2 * find_mixed(timeline, judged, count, uses, limit, flags) <= count)
			count = clear(timeline, judged, flags);
		memset(flags, 0, timeline->step_count * sizeof(*flags));
		memset(uses, 0, limit * sizeof(*uses));
		count_uses(timeline, judged, uses, limit);
		if (find_cut(timeline, judged, uses, limit, flags) < count)
			count = clear(timeline, judged, flags);
	}
	free(uses);
	free(flags);
	return count;
}
