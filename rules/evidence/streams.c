/* SPDX-License-Identifier: MIT */
#include "rules/evidence/streams.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rules/evidence/findings.h"
#include "rules/evidence/steady.h"
#include "rules/support/arena.h"
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

static bool all_named(const struct tfs_timeline *timeline)
{
	for (uint32_t i = 0; i < timeline->stream_count; i++)
		if (timeline->streams[i].id == TFS_NO_STREAM)
			return false;
	return true;
}

static void add_number(struct tfs_stream_numbers *numbers, const struct tfs_host_call *call)
{
	const struct tfs_trace *trace = numbers->timeline->trace;
	const uint32_t id = call->record->stream;

	if (numbers->count == TFS_NUMBERED_STREAMS ||
		id >= tfs_trace_limit(trace, TFS_RECORD_stream) || numbers->by_id[id] != TFS_NONE ||
		tfs_stream_of(numbers->timeline, call) != TFS_NONE)
		return;
	const struct tfs_stream_record *record = tfs_trace_find(trace, TFS_RECORD_stream, id);

	if (!record)
		return;
	numbers->flags[numbers->count] = record->flags;
	numbers->by_id[id] = numbers->count++;
}

int tfs_stream_numbers_init(struct tfs_stream_numbers *numbers, const struct tfs_steady *steady)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const uint32_t ids = tfs_trace_limit(timeline->trace, TFS_RECORD_stream);
	const bool named = all_named(timeline);

	numbers->timeline = timeline;
	numbers->count = 0;
	numbers->by_id = malloc((ids + 1u) * sizeof(uint32_t));
	if (!numbers->by_id)
		return -ENOMEM;
	memset(numbers->by_id, 0xff, (ids + 1u) * sizeof(uint32_t));
	while (numbers->count < timeline->stream_count && numbers->count < TFS_NUMBERED_STREAMS) {
		numbers->flags[numbers->count] = timeline->streams[numbers->count].flags;
		numbers->count++;
	}
	for (uint32_t i = 0; i < steady->call_count && named; i++)
		add_number(numbers, tfs_steady_call(steady, i));
	return 0;
}

void tfs_stream_numbers_free(struct tfs_stream_numbers *numbers)
{
	free(numbers->by_id);
}

uint32_t tfs_stream_number(
	const struct tfs_stream_numbers *numbers, const struct tfs_host_call *call)
{
	const struct tfs_timeline *timeline = numbers->timeline;
	const uint32_t stream = tfs_stream_of(timeline, call);

	if (stream != TFS_NONE)
		return stream < TFS_NUMBERED_STREAMS ? stream : TFS_NONE;
	return call->record->stream < tfs_trace_limit(timeline->trace, TFS_RECORD_stream)
		       ? numbers->by_id[call->record->stream]
		       : TFS_NONE;
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
	struct tfs_arena *arena, const struct tfs_timeline *timeline, const struct tfs_place *place)
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
	return number ? tfs_arena_print(arena, "%u", number) : NULL;
}
