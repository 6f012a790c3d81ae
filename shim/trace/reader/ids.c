/* SPDX-License-Identifier: MIT */
#include "shim/trace/reader/reader.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#define ID(type, field)                                                                            \
	{                                                                                          \
		offsetof(struct type, field), sizeof(((struct type *)0)->field)                    \
	}

/* Where each kind of definition keeps its id; 0 bytes = it defines none. */
static const struct {
	uint8_t offset;
	uint8_t bytes; /* 2 or 4 */
} ids[TFS_KINDS] = {
	[TFS_RECORD_string] = ID(tfs_text_record, id),
	[TFS_RECORD_function] = ID(tfs_function_record, id),
	[TFS_RECORD_site] = ID(tfs_site_record, id),
	[TFS_RECORD_stream] = ID(tfs_stream_record, id),
	[TFS_RECORD_problem] = ID(tfs_problem_record, id),
	[TFS_RECORD_kernel] = ID(tfs_text_record, id),
	[TFS_RECORD_device] = ID(tfs_device_record, index),
	[TFS_RECORD_library] = ID(tfs_library_record, library),
};

static uint32_t record_id(enum tfs_record_kind kind, const void *record)
{
	const void *at = (const char *)record + ids[kind].offset;

	return ids[kind].bytes == sizeof(uint16_t) ? *(const uint16_t *)at : *(const uint32_t *)at;
}

/* A later stream record only counts when it brings what the earlier one lacked. */
static bool replaces(enum tfs_record_kind kind, const void *old, const void *new)
{
	return kind == TFS_RECORD_stream &&
	       ((const struct tfs_stream_record *)old)->cupti_id == 0 &&
	       ((const struct tfs_stream_record *)new)->cupti_id != 0;
}

static int fill_table(struct tfs_trace *trace, enum tfs_record_kind kind)
{
	struct tfs_reader_table *table = &trace->tables[kind];
	const struct tfs_units *units = &trace->kinds[kind];
	/* Ids are dense or places in a table; a wild one in a damaged file must not cost memory. */
	uint64_t most = units->count * 16 + (UINT64_C(1) << 17);

	for (size_t i = 0; i < units->count; i++) {
		uint32_t id = record_id(kind, tfs_trace_at(trace, kind, i));

		if (id < most && id >= table->limit)
			table->limit = id + 1;
	}
	table->units = calloc(table->limit ? table->limit : 1, sizeof(*table->units));
	if (!table->units)
		return -ENOMEM;
	for (size_t i = 0; i < units->count; i++) {
		const void *record = tfs_trace_at(trace, kind, i);
		uint32_t id = record_id(kind, record);
		uint32_t *slot;

		if (id >= table->limit) {
			tfs_reader_damage(trace, (uint64_t)units->units[i] * TFS_UNIT,
				"an id is out of range");
			continue;
		}
		slot = &table->units[id];
		if (!*slot || replaces(kind, trace->bytes + *slot * (size_t)TFS_UNIT, record))
			*slot = units->units[i];
	}
	return 0;
}

int tfs_reader_ids(struct tfs_trace *trace)
{
	for (unsigned kind = 1; kind < TFS_KINDS; kind++) {
		int err = ids[kind].bytes ? fill_table(trace, kind) : 0;

		if (err)
			return err;
	}
	return 0;
}

const void *tfs_trace_find(const struct tfs_trace *trace, enum tfs_record_kind kind, uint32_t id)
{
	if ((unsigned)kind >= TFS_KINDS || id >= trace->tables[kind].limit ||
		!trace->tables[kind].units[id])
		return NULL;
	return trace->bytes + trace->tables[kind].units[id] * (size_t)TFS_UNIT;
}

uint32_t tfs_trace_limit(const struct tfs_trace *trace, enum tfs_record_kind kind)
{
	return (unsigned)kind < TFS_KINDS ? trace->tables[kind].limit : 0;
}
