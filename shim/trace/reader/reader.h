/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_TRACE_READER_READER_H
#define TFS_SHIM_TRACE_READER_READER_H

/*
 * What the reader's own files share: reader.c opens and looks up, reader_index.c checks the bytes
 * and finds the records, reader_ids.c builds the tables by id, reader_calls.c walks calls,
 * reader_totals.c adds aggregates up, reader_clock.c tells time.
 */

#include "shim/trace/trace.h"

#define TFS_KINDS (TFS_RECORD_product + 1)
#define TFS_DAMAGES_KEPT 16

struct tfs_units {
	uint32_t *units;
	size_t count;
	size_t room;
};

/* One chunk, cut to what is whole. */
struct tfs_reader_chunk {
	uint64_t begin; /* offsets in the file */
	uint64_t end;
	uint64_t calls;
	uint32_t thread;
	uint32_t sequence;
	uint32_t kind;
};

/* Unit of the record that defines an id, 0 = none. */
struct tfs_reader_table {
	uint32_t *units;
	uint32_t limit;
};

struct tfs_trace {
	const uint8_t *bytes;
	uint64_t size;
	void *mapped; /* what close has to unmap or free */
	bool is_map;
	struct tfs_file_header header;
	struct tfs_trace_summary summary;
	struct tfs_damage damages[TFS_DAMAGES_KEPT];
	size_t damage_count;
	struct tfs_units kinds[TFS_KINDS];
	struct tfs_reader_chunk *chunks; /* sorted by kind, thread, sequence */
	uint32_t chunk_count;
	uint32_t record_chunks;
	struct tfs_reader_table tables[TFS_KINDS];
	struct tfs_trace_thread *threads; /* sorted by index */
	size_t thread_count;
	struct tfs_segment *segments;
	size_t segment_count;
	struct tfs_total *totals;
	struct tfs_share *shares;
	size_t total_count;
};

/* Notes a damage; never fails. */
void tfs_reader_damage(struct tfs_trace *trace, uint64_t offset, const char *what);
/* These fill their part of a trace; 0 or -ENOMEM. */
int tfs_reader_index(struct tfs_trace *trace);
int tfs_reader_threads(struct tfs_trace *trace);
int tfs_reader_ids(struct tfs_trace *trace);
int tfs_reader_clock(struct tfs_trace *trace);
int tfs_reader_totals(struct tfs_trace *trace);
/* Position of a thread in the list, or SIZE_MAX. */
size_t tfs_reader_thread(const struct tfs_trace *trace, uint32_t index);

#endif
