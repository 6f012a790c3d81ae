/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "reports/import/nsight/nsight_part.h"
#include "shim/trace/format/format.h"

enum { START, END, PROCESS, CORRELATION, DEVICE, STREAM, OWN };

#define COMMON "start", "end", "globalPid", "correlationId", "deviceId", "streamId"

static bool is_of_process(const struct tfs_nsight *nsight, const struct tfs_rows *rows)
{
	return tfs_nsight_is_own(nsight, rows, PROCESS);
}

/* Ids are given out in the order of calls, so that they tell what was given by those that are read,
 * and ran later. */
static bool is_inside(const struct tfs_nsight *nsight, const struct tfs_rows *rows,
	int64_t start_ns, int64_t end_ns)
{
	const uint64_t id = tfs_rows_whole(rows, CORRELATION, UINT32_MAX);

	return !nsight->cut || tfs_nsight_inside(nsight, start_ns, end_ns) ||
	       (id && id >= nsight->first_call && id <= nsight->last_call);
}

/* What all work has; NULL without memory. `out_taken` is false where it is another process's or no
 * work at all. */
static struct tfs_collected_op *take(
	struct tfs_nsight *nsight, const struct tfs_rows *rows, uint8_t operation, bool *out_taken)
{
	static struct tfs_collected_op none;
	struct tfs_collected *collected = nsight->collected;
	int64_t start_ns, end_ns;

	*out_taken = false;
	if (!is_of_process(nsight, rows))
		return &none;
	if (!tfs_nsight_times(rows, &start_ns, &end_ns)) {
		collected->not_taken++;
		return &none;
	}
	if (!is_inside(nsight, rows, start_ns, end_ns))
		return &none;
	struct tfs_collected_op *op =
		tfs_collected_more(&collected->ops, &collected->op_count, sizeof(*collected->ops));
	if (!op)
		return NULL;
	*out_taken = true;
	op->start_ns = start_ns;
	op->end_ns = end_ns;
	op->operation = operation;
	op->correlation = (uint32_t)tfs_rows_whole(rows, CORRELATION, UINT32_MAX);
	op->device = (uint16_t)tfs_rows_whole(rows, DEVICE, UINT16_MAX);
	op->stream = (uint32_t)tfs_rows_whole(rows, STREAM, UINT32_MAX);
	return op;
}

static int take_kernel(struct tfs_nsight *nsight, const struct tfs_rows *rows)
{
	bool taken;
	struct tfs_collected_op *op = take(nsight, rows, TFS_DEVICE_KERNEL, &taken);
	int64_t name;

	if (!op || !taken)
		return op ? 0 : -ENOMEM;
	for (unsigned i = 0; i < 3 && !op->name; i++)
		if (tfs_rows_number(rows, OWN + i, &name))
			op->name = tfs_nsight_string(nsight, name, NULL);
	for (unsigned i = 0; i < 3; i++) {
		op->grid[i] = (uint32_t)tfs_rows_whole(rows, OWN + 3 + i, UINT32_MAX);
		op->block[i] = (uint16_t)tfs_rows_whole(rows, OWN + 6 + i, UINT16_MAX);
	}
	return 0;
}

/* Nsight counts kinds of memory from 0, CUPTI from 1; arrays are of the device. */
static uint8_t memory_of(const struct tfs_rows *rows, unsigned column)
{
	static const uint8_t kinds[] = {TFS_MEMORY_PAGEABLE, TFS_MEMORY_PINNED, TFS_MEMORY_DEVICE,
		TFS_MEMORY_DEVICE, TFS_MEMORY_MANAGED, TFS_MEMORY_DEVICE, TFS_MEMORY_MANAGED};
	int64_t kind;

	return tfs_rows_number(rows, column, &kind) && kind >= 0 && kind < (int64_t)sizeof(kinds)
		       ? kinds[kind]
		       : TFS_MEMORY_UNKNOWN;
}

static int take_copy(struct tfs_nsight *nsight, const struct tfs_rows *rows)
{
	bool taken;
	struct tfs_collected_op *op = take(nsight, rows, TFS_DEVICE_MEMCPY, &taken);

	if (!op || !taken)
		return op ? 0 : -ENOMEM;
	op->bytes = tfs_rows_whole(rows, OWN, UINT64_C(1) << 48);
	op->copy_kind = (uint8_t)tfs_rows_whole(rows, OWN + 1, 10);
	op->source_kind = memory_of(rows, OWN + 2);
	op->target_kind = memory_of(rows, OWN + 3);
	return 0;
}

static int take_set(struct tfs_nsight *nsight, const struct tfs_rows *rows)
{
	bool taken;
	struct tfs_collected_op *op = take(nsight, rows, TFS_DEVICE_MEMSET, &taken);

	if (op && taken)
		op->bytes = tfs_rows_whole(rows, OWN, UINT64_C(1) << 48);
	return op ? 0 : -ENOMEM;
}

/* A graph that was recorded as a whole. */
static int take_graph(struct tfs_nsight *nsight, const struct tfs_rows *rows)
{
	bool taken;

	return take(nsight, rows, TFS_DEVICE_GRAPH, &taken) ? 0 : -ENOMEM;
}

static int take_sync(struct tfs_nsight *nsight, const struct tfs_rows *rows)
{
	struct tfs_collected *collected = nsight->collected;
	struct tfs_collected_sync sync = {
		.correlation = (uint32_t)tfs_rows_whole(rows, CORRELATION, UINT32_MAX),
		.device = (uint16_t)tfs_rows_whole(rows, DEVICE, UINT16_MAX),
		.stream = (uint32_t)tfs_rows_whole(rows, STREAM, UINT32_MAX - 1),
		.type = (uint16_t)tfs_rows_whole(rows, OWN, 4),
		.event = (uint32_t)tfs_rows_whole(rows, OWN + 2, UINT32_MAX)};

	if (!sync.type)
		sync.type = (uint16_t)tfs_rows_whole(rows, OWN + 1, 4);
	if (!is_of_process(nsight, rows) || !sync.type ||
		!tfs_nsight_times(rows, &sync.start_ns, &sync.end_ns) ||
		!is_inside(nsight, rows, sync.start_ns, sync.end_ns))
		return 0;
	struct tfs_collected_sync *place = tfs_collected_more(
		&collected->syncs, &collected->sync_count, sizeof(*collected->syncs));
	if (!place)
		return -ENOMEM;
	*place = sync;
	return tfs_nsight_note_wait(
		nsight, collected->sync_count - 1, tfs_rows_whole(rows, OWN + 3, INT64_MAX));
}

int tfs_nsight_work(struct tfs_nsight *nsight)
{
	static const struct {
		const char *table;
		int (*take)(struct tfs_nsight *nsight, const struct tfs_rows *rows);
		const char *columns[OWN + 10];
	} tables[] = {
		{"CUPTI_ACTIVITY_KIND_KERNEL", take_kernel,
			{COMMON, "demangledName", "shortName", "mangledName", "gridX", "gridY",
				"gridZ", "blockX", "blockY", "blockZ"}},
		{"CUPTI_ACTIVITY_KIND_MEMCPY", take_copy,
			{COMMON, "bytes", "copyKind", "srcKind", "dstKind"}},
		{"CUPTI_ACTIVITY_KIND_MEMSET", take_set, {COMMON, "bytes"}},
		{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", take_graph, {COMMON}},
		{"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", take_sync,
			{COMMON, "syncType", "deprecatedSyncType", "eventId", "eventSyncId"}},
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && !err; i++)
		err = tfs_nsight_each(nsight, tables[i].table, tables[i].columns, tables[i].take);
	return err;
}
