/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "rules/sort.h"
#include "rules/timeline_build.h"

static const struct tfs_device_op_record *op_at(const struct tfs_timeline *timeline, size_t nth)
{
	return tfs_trace_at(timeline->trace, TFS_RECORD_device_op, nth);
}

static struct tfs_device *device_of(struct tfs_timeline *timeline, uint32_t number)
{
	for (uint32_t i = 0; i < timeline->device_count; i++)
		if (timeline->devices[i].number == number)
			return &timeline->private->devices[i];
	return NULL;
}

/* Devices that are described or worked, by number. */
static int list_devices(struct tfs_timeline *timeline)
{
	const struct tfs_trace *trace = timeline->trace;
	size_t ops = tfs_trace_count(trace, TFS_RECORD_device_op);
	bool *seen = calloc(1u << 16, sizeof(*seen));
	uint32_t count = 0;

	if (!seen)
		return -ENOMEM;
	for (size_t i = 0; i < ops; i++)
		seen[op_at(timeline, i)->device] = true;
	for (uint32_t id = 0; id < tfs_trace_limit(trace, TFS_RECORD_device); id++)
		if (tfs_trace_find(trace, TFS_RECORD_device, id))
			seen[id & 0xffff] = true;
	for (uint32_t id = 0; id < 1u << 16; id++)
		count += seen[id];
	timeline->private->devices = calloc(count + 1u, sizeof(*timeline->devices));
	if (!timeline->private->devices) {
		free(seen);
		return -ENOMEM;
	}
	timeline->devices = timeline->private->devices;
	for (uint32_t id = 0; id < 1u << 16; id++)
		if (seen[id])
			timeline->private->devices[timeline->device_count++] =
				(struct tfs_device){.number = id,
					.record = tfs_trace_find(trace, TFS_RECORD_device, id)};
	free(seen);
	return 0;
}

/* The operations that have times, by device, stream and start. */
static int sort_ops(struct tfs_timeline *timeline, struct tfs_key *keys, size_t *out_count)
{
	size_t ops = tfs_trace_count(timeline->trace, TFS_RECORD_device_op), count = 0;
	struct tfs_device *device = NULL;
	int err;

	for (size_t i = 0; i < ops; i++) {
		const struct tfs_device_op_record *op = op_at(timeline, i);

		if (op->start_ns && op->end_ns >= op->start_ns && op->end_ns <= INT64_MAX) {
			keys[count++] = (struct tfs_key){op->start_ns, (uint32_t)i};
			continue;
		}
		if (!device || device->number != op->device)
			device = device_of(timeline, op->device);
		device->lost++;
	}
	err = tfs_sort_keys(keys, count);
	for (size_t i = 0; i < count && !err; i++) {
		const struct tfs_device_op_record *op = op_at(timeline, keys[i].value);

		keys[i].key = (uint64_t)op->device << 32 | op->stream;
	}
	*out_count = count;
	return err ? err : tfs_sort_keys(keys, count);
}

static void fill_op(struct tfs_timeline *timeline, uint32_t nth, size_t record)
{
	struct tfs_device_op *op = &timeline->private->ops[nth];

	op->record = op_at(timeline, record);
	op->start_ns = op->record->start_ns;
	op->end_ns = op->record->end_ns;
	op->call = tfs_timeline_correlated(timeline, op->record->correlation);
	if (op->call != TFS_NONE) {
		op->step = timeline->calls[op->call].step;
		timeline->private->calls[op->call].op_count++;
	} else {
		op->step = tfs_timeline_step_at(timeline, op->start_ns);
	}
}

static int fill_streams(struct tfs_timeline *timeline, const struct tfs_key *keys, size_t count)
{
	size_t streams = 0;
	struct tfs_stream *stream = NULL;

	for (size_t i = 0; i < count; i++)
		streams += i == 0 || keys[i].key != keys[i - 1].key;
	timeline->private->streams = calloc(streams + 1, sizeof(*timeline->streams));
	timeline->private->ops = calloc(count + 1, sizeof(*timeline->ops));
	if (!timeline->private->streams || !timeline->private->ops)
		return -ENOMEM;
	timeline->streams = timeline->private->streams;
	timeline->ops = timeline->private->ops;
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || keys[i].key != keys[i - 1].key) {
			stream = &timeline->private->streams[timeline->stream_count++];
			*stream = (struct tfs_stream){.device = (uint32_t)(keys[i].key >> 32),
				.cupti_id = (uint32_t)keys[i].key,
				.id = TFS_NO_STREAM,
				.first_op = (uint32_t)i};
		}
		stream->op_count++;
		fill_op(timeline, (uint32_t)i, keys[i].value);
		timeline->private->ops[i].stream = timeline->stream_count - 1;
	}
	timeline->op_count = (uint32_t)count;
	return 0;
}

/* What calls name a stream by: as the recording says, else as the calls that used it did. */
static void name_stream(struct tfs_timeline *timeline, struct tfs_stream *stream)
{
	const struct tfs_trace *trace = timeline->trace;
	const struct tfs_stream_record *record = NULL;

	for (uint32_t id = 0; id < tfs_trace_limit(trace, TFS_RECORD_stream); id++) {
		record = tfs_trace_find(trace, TFS_RECORD_stream, id);
		if (record && record->record.site == stream->cupti_id &&
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
		stream->id = record->record.function;
		stream->flags = (uint16_t)record->flags;
	}
}

/* Operations by the call that caused them. */
static int list_call_ops(struct tfs_timeline *timeline)
{
	struct tfs_host_call *calls = timeline->private->calls;
	uint32_t place = 0;

	timeline->private->call_ops = malloc((timeline->op_count + 1u) * sizeof(uint32_t));
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
		sync->call = tfs_timeline_correlated(timeline, sync->record->record.site);
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
	size_t room = tfs_trace_count(timeline->trace, TFS_RECORD_device_op), count = 0;
	struct tfs_key *keys = malloc((room + 1) * sizeof(*keys));
	int err = keys ? list_devices(timeline) : -ENOMEM;

	if (!err)
		err = sort_ops(timeline, keys, &count);
	if (!err)
		err = fill_streams(timeline, keys, count);
	for (uint32_t i = 0; i < timeline->stream_count && !err; i++)
		name_stream(timeline, &timeline->private->streams[i]);
	if (!err)
		err = list_call_ops(timeline);
	if (!err)
		err = list_syncs(timeline);
	free(keys);
	return err;
}
