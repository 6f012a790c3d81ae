/* SPDX-License-Identifier: MIT */
#include "reports/import/making/making.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEGACY 7u /* what CUPTI calls the default stream */

struct streams {
	struct tfs_stream_record *records; /* of the making */
	int64_t busy_until[TFS_MOST_STREAMS];
	uint32_t count;
};

static int compare_ops(const void *left, const void *right)
{
	const struct tfs_collected_op *a = left, *b = right;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->correlation < b->correlation ? -1 : a->correlation > b->correlation;
}

static int compare_given(const void *left, const void *right)
{
	const struct tfs_given *a = left, *b = right;

	return a->correlation < b->correlation ? -1 : a->correlation > b->correlation;
}

/* As far as the tool says it; 7 is always the default stream. */
static uint32_t flags_of(const struct tfs_collected *collected, uint32_t stream)
{
	for (size_t i = 0; i < collected->stream_count; i++)
		if (collected->streams[i].stream == stream)
			return collected->streams[i].flags;
	return stream == LEGACY;
}

/* Place of a stream, or TFS_MOST_STREAMS. */
static uint32_t stream_of(struct streams *streams, const struct tfs_collected *collected,
	uint32_t stream, uint16_t device)
{
	for (uint32_t i = 0; i < streams->count; i++)
		if (streams->records[i].cupti_id == stream && streams->records[i].device == device)
			return i;
	const uint32_t place = streams->count;

	if (place == TFS_MOST_STREAMS)
		return place;
	streams->count++;
	streams->records[place] = (struct tfs_stream_record){.id = (uint16_t)(place + 1),
		.cupti_id = stream,
		.flags = flags_of(collected, stream),
		.device = device};
	return place;
}

/* Of the kind of a stream is only known what was seen: work beside the default stream's shows that
 * it does not wait for that. */
static void see_kinds(struct streams *streams, uint32_t place, const struct tfs_collected_op *op)
{
	struct tfs_stream_record *own = &streams->records[place];

	for (uint32_t i = 0; i < streams->count; i++) {
		struct tfs_stream_record *other = &streams->records[i];

		if (i == place || other->device != own->device ||
			streams->busy_until[i] <= op->start_ns)
			continue;
		if (own->flags & 1)
			other->flags |= 4;
		if (other->flags & 1)
			own->flags |= 4;
	}
	if (streams->busy_until[place] < op->end_ns)
		streams->busy_until[place] = op->end_ns;
}

static void list(struct tfs_making *making, struct streams *streams)
{
	const struct tfs_collected *collected = making->collected;

	for (size_t i = 0; i < collected->op_count; i++) {
		const struct tfs_collected_op *op = &collected->ops[i];
		const uint32_t place = stream_of(streams, collected, op->stream, op->device);

		if (place < TFS_MOST_STREAMS)
			see_kinds(streams, place, op);
		making->given[i] = (struct tfs_given){.correlation = op->correlation,
			.stream = place < TFS_MOST_STREAMS ? streams->records[place].id
							   : (uint16_t)TFS_NO_STREAM,
			.bytes = op->bytes};
	}
	making->given_count = collected->op_count;
}

/* Streams between which events order others' work, and which have none themselves. */
static void list_idle(struct streams *streams, const struct tfs_collected *collected)
{
	for (size_t i = 0; i < collected->sync_count; i++) {
		const struct tfs_collected_sync *sync = &collected->syncs[i];

		if (sync->stream)
			stream_of(streams, collected, sync->stream, sync->device);
		if (sync->recorded_stream)
			stream_of(streams, collected, sync->recorded_stream, sync->device);
	}
}

int tfs_making_streams(struct tfs_making *making)
{
	struct tfs_collected *collected = making->collected;
	struct streams *streams = calloc(1, sizeof(*streams));

	making->given = malloc((collected->op_count + 1) * sizeof(*making->given));
	making->streams = calloc(TFS_MOST_STREAMS, sizeof(*making->streams));
	if (!streams || !making->given || !making->streams) {
		free(streams);
		return -ENOMEM;
	}
	streams->records = making->streams;
	for (size_t i = 0; i < TFS_MOST_STREAMS; i++)
		streams->busy_until[i] = INT64_MIN;
	if (collected->op_count)
		qsort(collected->ops, collected->op_count, sizeof(*collected->ops), compare_ops);
	list(making, streams);
	making->working_count = streams->count;
	list_idle(streams, collected);
	for (uint32_t i = 0; i < streams->count; i++)
		tfs_chunks_put(&making->chunks, TFS_RECORD_stream, &streams->records[i],
			sizeof(*streams->records), NULL, 0);
	making->stream_count = streams->count;
	free(streams);
	qsort(making->given, making->given_count, sizeof(*making->given), compare_given);
	return 0;
}
