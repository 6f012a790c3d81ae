/* SPDX-License-Identifier: MIT */
#include "shim/trace/reader.h"

#include <errno.h>
#include <stdlib.h>

/* Where each kind of definition keeps its id. */
enum id_place { NO_ID, ID_IN_SITE, ID_IN_FUNCTION };

static const enum id_place id_places[TFS_KINDS] = {
	[TFS_RECORD_string] = ID_IN_SITE,
	[TFS_RECORD_function] = ID_IN_FUNCTION,
	[TFS_RECORD_site] = ID_IN_SITE,
	[TFS_RECORD_stream] = ID_IN_FUNCTION,
	[TFS_RECORD_problem] = ID_IN_SITE,
	[TFS_RECORD_kernel] = ID_IN_SITE,
	[TFS_RECORD_device] = ID_IN_FUNCTION,
	[TFS_RECORD_library] = ID_IN_FUNCTION,
};

static uint32_t record_id(const struct tfs_record *record)
{
	return id_places[record->kind] == ID_IN_SITE ? record->site : record->function;
}

/* A later stream record only counts when it brings what the earlier one lacked. */
static bool replaces(const struct tfs_record *old, const struct tfs_record *new)
{
	return old->kind == TFS_RECORD_stream && old->site == 0 && new->site != 0;
}

static int fill_table(struct tfs_trace *trace, enum tfs_record_kind kind)
{
	struct tfs_reader_table *table = &trace->tables[kind];
	const struct tfs_units *units = &trace->kinds[kind];
	/* Ids are dense or places in a table; a wild one in a damaged file must not cost memory. */
	uint64_t most = units->count * 16 + (UINT64_C(1) << 17);

	for (size_t i = 0; i < units->count; i++) {
		uint32_t id = record_id(tfs_trace_at(trace, kind, i));

		if (id < most && id >= table->limit)
			table->limit = id + 1;
	}
	table->units = calloc(table->limit ? table->limit : 1, sizeof(*table->units));
	if (!table->units)
		return -ENOMEM;
	for (size_t i = 0; i < units->count; i++) {
		const struct tfs_record *record = tfs_trace_at(trace, kind, i);
		uint32_t id = record_id(record);
		uint32_t *slot;

		if (id >= table->limit) {
			tfs_reader_damage(trace, (uint64_t)units->units[i] * TFS_UNIT,
				"an id is far beyond the others");
			continue;
		}
		slot = &table->units[id];
		if (!*slot ||
			replaces((const void *)(trace->bytes + *slot * (size_t)TFS_UNIT), record))
			*slot = units->units[i];
	}
	return 0;
}

int tfs_reader_ids(struct tfs_trace *trace)
{
	for (unsigned kind = 1; kind < TFS_KINDS; kind++) {
		int err = id_places[kind] ? fill_table(trace, kind) : 0;

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
