/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "rules/support/pages.h"
#include "rules/support/sort.h"
#include "rules/timeline/timeline_build.h"

#define MOST_DEVICES (1u << 16)

/* What reading the operations carries along. */
struct ops_work {
	struct tfs_timeline *timeline;
	struct tfs_key *keys; /* by start, then by stream; `value` = place in the file's order */
	uint64_t *lost;       /* by device: operations without times + 1; 0 = no such device */
	bool many_streams;
};

static uint64_t stream_key(const struct tfs_device_op_record *op)
{
	return (uint64_t)op->device << 32 | op->stream;
}

static void fill_op(struct tfs_timeline *timeline, const struct tfs_device_op_record *record,
	struct tfs_device_op *out)
{
	out->record = record;
	out->start_ns = record->start_ns;
	out->end_ns = record->end_ns;
	out->call = tfs_timeline_correlated(timeline, record->correlation);
	out->stream = 0;
	if (out->call != TFS_NONE) {
		out->step = timeline->calls[out->call].step;
		timeline->private->calls[out->call].op_count++;
	} else {
		out->step = tfs_timeline_step_at(timeline, record->start_ns);
	}
}

/* The operations that have times, in the order of the file. */
static void read_ops(struct ops_work *work)
{
	struct tfs_timeline *timeline = work->timeline;
	struct tfs_device_op *ops = timeline->private->ops;
	size_t records = tfs_trace_count(timeline->trace, TFS_RECORD_device_op);
	uint64_t first = 0;
	uint32_t count = 0;

	for (size_t i = 0; i < records; i++) {
		const struct tfs_device_op_record *op =
			tfs_trace_at(timeline->trace, TFS_RECORD_device_op, i);
		bool timed = op->start_ns && op->end_ns >= op->start_ns && op->end_ns <= INT64_MAX;

		if (!work->lost[op->device])
			work->lost[op->device] = 1;
		if (!timed) {
			work->lost[op->device]++;
			continue;
		}
		first = count ? first : stream_key(op);
		work->many_streams |= stream_key(op) != first;
		work->keys[count] = (struct tfs_key){op->start_ns, count};
		fill_op(timeline, op, &ops[count++]);
	}
	timeline->op_count = count;
}

/* Puts the operations into the order of the keys. */
static int reorder(struct ops_work *work)
{
	struct tfs_timeline *timeline = work->timeline;
	struct tfs_device_op *sorted, *ops = timeline->private->ops;
	uint32_t same = 0;

	while (same < timeline->op_count && work->keys[same].value == same)
		same++;
	if (same == timeline->op_count)
		return 0;
	sorted = tfs_pages_alloc(timeline->op_count, sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	for (uint32_t i = 0; i < timeline->op_count; i++)
		sorted[i] = ops[work->keys[i].value];
	free(ops);
	timeline->private->ops = sorted;
	return 0;
}

static int sort_ops(struct ops_work *work)
{
	struct tfs_timeline *timeline = work->timeline;
	int err = tfs_sort_keys(work->keys, timeline->op_count);

	for (uint32_t i = 0; i < timeline->op_count && work->many_streams && !err; i++)
		work->keys[i].key = stream_key(timeline->private->ops[work->keys[i].value].record);
	if (!err && work->many_streams)
		err = tfs_sort_keys(work->keys, timeline->op_count);
	return err ? err : reorder(work);
}

/* Devices that are described or worked, by number. */
static int list_devices(struct ops_work *work)
{
	struct tfs_timeline *timeline = work->timeline;
	const struct tfs_trace *trace = timeline->trace;
	uint32_t count = 0;

	for (uint32_t id = 0; id < tfs_trace_limit(trace, TFS_RECORD_device); id++)
		if (tfs_trace_find(trace, TFS_RECORD_device, id) && !work->lost[id % MOST_DEVICES])
			work->lost[id % MOST_DEVICES] = 1;
	for (uint32_t id = 0; id < MOST_DEVICES; id++)
		count += work->lost[id] != 0;
	timeline->private->devices = calloc(count + 1u, sizeof(*timeline->devices));
	if (!timeline->private->devices)
		return -ENOMEM;
	timeline->devices = timeline->private->devices;
	for (uint32_t id = 0; id < MOST_DEVICES; id++)
		if (work->lost[id])
			timeline->private->devices[timeline->device_count++] =
				(struct tfs_device){.number = id,
					.lost = work->lost[id] - 1,
					.record = tfs_trace_find(trace, TFS_RECORD_device, id)};
	return 0;
}

static int list_streams(struct ops_work *work)
{
	struct tfs_timeline *timeline = work->timeline;
	struct tfs_device_op *ops = timeline->private->ops;
	uint32_t room = timeline->op_count ? 1 : 0, count = 0;
	struct tfs_stream *streams;

	for (uint32_t i = 1; i < timeline->op_count && work->many_streams; i++)
		room += work->keys[i].key != work->keys[i - 1].key;
	streams = calloc(room + 1u, sizeof(*streams));
	if (!streams)
		return -ENOMEM;
	for (uint32_t i = 0; i < timeline->op_count; i++) {
		if (i == 0 || (work->many_streams && work->keys[i].key != work->keys[i - 1].key))
			streams[count++] = (struct tfs_stream){.device = ops[i].record->device,
				.cupti_id = ops[i].record->stream,
				.id = TFS_NO_STREAM,
				.first_op = i};
		streams[count - 1].op_count++;
		ops[i].stream = count - 1;
	}
	timeline->private->streams = streams;
	timeline->streams = streams;
	timeline->stream_count = count;
	return 0;
}

/* What calls name a stream by: as the recording says, else as the calls that used it did. */
static void name_stream(struct tfs_timeline *timeline, struct tfs_stream *stream)
{
	const struct tfs_trace *trace = timeline->trace;
	const struct tfs_stream_record *record = NULL;

	for (uint32_t id = 0; id < tfs_trace_limit(trace, TFS_RECORD_stream); id++) {
		record = tfs_trace_find(trace, TFS_RECORD_stream, id);
		if (record && record->cupti_id == stream->cupti_id &&
			record->device == stream->device)
			break;
		record = NULL;
	}
	for (uint32_t i = 0; i < stream->op_count && i < 1000 && !record; i++) {
		uint32_t call = timeline->ops[stream->first_op + i].call;

		if (call != TFS_NONE)
			record = tfs_trace_find(
				trace, TFS_RECORD_stream, timeline->calls[call].record->stream);
	}
	if (record) {
		stream->id = record->id;
		stream->flags = (uint16_t)record->flags;
	}
}

/* Operations by the call that caused them. */
static int list_call_ops(struct tfs_timeline *timeline)
{
	struct tfs_host_call *calls = timeline->private->calls;
	uint32_t place = 0;

	timeline->private->call_ops = tfs_pages_alloc(timeline->op_count + 1u, sizeof(uint32_t));
	if (!timeline->private->call_ops)
		return -ENOMEM;
	timeline->call_ops = timeline->private->call_ops;
	for (uint32_t i = 0; i < timeline->call_count; i++) {
		calls[i].first_op = place;
		place += calls[i].op_count;
		calls[i].op_count = 0;
	}
	for (uint32_t i = 0; i < timeline->op_count; i++) {
		uint32_t call = timeline->ops[i].call;

		if (call != TFS_NONE)
			timeline->private->call_ops[calls[call].first_op + calls[call].op_count++] =
				i;
	}
	return 0;
}

static int list_syncs(struct tfs_timeline *timeline)
{
	size_t count = tfs_trace_count(timeline->trace, TFS_RECORD_device_sync);
	struct tfs_key *keys = malloc((count + 1) * sizeof(*keys));
	struct tfs_device_sync *syncs = calloc(count + 1, sizeof(*syncs));
	int err = !keys || !syncs ? -ENOMEM : 0;

	timeline->private->syncs = syncs;
	timeline->syncs = syncs;
	for (size_t i = 0; i < count && !err; i++) {
		const struct tfs_device_sync_record *sync =
			tfs_trace_at(timeline->trace, TFS_RECORD_device_sync, i);

		keys[i] = (struct tfs_key){sync->start_ns, (uint32_t)i};
	}
	if (!err)
		err = tfs_sort_keys(keys, count);
	for (size_t i = 0; i < count && !err; i++) {
		struct tfs_device_sync *sync = &syncs[i];

		sync->record = tfs_trace_at(timeline->trace, TFS_RECORD_device_sync, keys[i].value);
		sync->call = tfs_timeline_correlated(timeline, sync->record->correlation);
		sync->step = sync->call != TFS_NONE
				     ? timeline->calls[sync->call].step
				     : tfs_timeline_step_at(timeline, sync->record->start_ns);
	}
	timeline->sync_count = err ? 0 : (uint32_t)count;
	free(keys);
	return err;
}

int tfs_timeline_build_ops(struct tfs_timeline *timeline)
{
	size_t room = tfs_trace_count(timeline->trace, TFS_RECORD_device_op);
	struct ops_work work = {.timeline = timeline,
		.keys = tfs_pages_alloc(room + 1, sizeof(*work.keys)),
		.lost = calloc(MOST_DEVICES, sizeof(*work.lost))};
	int err = -ENOMEM;

	timeline->private->ops = tfs_pages_alloc(room + 1, sizeof(*timeline->ops));
	if (work.keys && work.lost && timeline->private->ops && room < TFS_NONE) {
		read_ops(&work);
		err = sort_ops(&work);
	}
	timeline->ops = timeline->private->ops;
	if (!err)
		err = list_devices(&work);
	if (!err)
		err = list_streams(&work);
	for (uint32_t i = 0; i < timeline->stream_count && !err; i++)
		name_stream(timeline, &timeline->private->streams[i]);
	if (!err)
		err = list_call_ops(timeline);
	if (!err)
		err = list_syncs(timeline);
	free(work.keys);
	free(work.lost);
	return err;
}
