/* SPDX-License-Identifier: MIT */
#include "rules/evidence/streams.h"

#include "rules/evidence/findings.h"
#include "rules/support/pool.h"
#include "rules/timeline/timeline.h"

#define LEGACY 1u
#define PER_THREAD 2u

uint32_t tfs_stream_of(const struct tfs_timeline *timeline, const struct tfs_host_call *call)
{
	if (call->op_count)
		return timeline->ops[timeline->call_ops[call->first_op]].stream;
	for (uint32_t i = 0; i < timeline->stream_count; i++)
		if (call->record->stream != TFS_NO_STREAM &&
			timeline->streams[i].id == call->record->stream)
			return i;
	return TFS_NONE;
}

/* The number of a call's stream in device records, 0 = unknown, and its flags. */
static uint32_t number_of(
	const struct tfs_timeline *timeline, const struct tfs_host_call *call, uint32_t *flags)
{
	const struct tfs_stream_record *record;
	uint32_t stream = tfs_stream_of(timeline, call);

	*flags = 0;
	if (stream != TFS_NONE) {
		*flags = timeline->streams[stream].flags;
		return timeline->streams[stream].cupti_id;
	}
	record = tfs_trace_find(timeline->trace, TFS_RECORD_stream, call->record->stream);
	if (!record)
		return 0;
	*flags = record->flags;
	return record->cupti_id;
}

const char *tfs_stream_name(
	struct tfs_pool *pool, const struct tfs_timeline *timeline, const struct tfs_place *place)
{
	uint32_t flags = 0, number = 0;

	for (size_t i = 0; i < place->count; i++) {
		uint32_t other_flags, other = number_of(timeline,
					      &timeline->calls[place->items[i].call], &other_flags);

		if (i && (other != number || other_flags != flags))
			return "several";
		number = other;
		flags = other_flags;
	}
	if (flags & LEGACY)
		return "legacy";
	if (flags & PER_THREAD)
		return "per-thread";
	return number ? tfs_pool_print(pool, "%u", number) : NULL;
}
