/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_IMPORT_CHUNKS_H
#define TFS_REPORTS_IMPORT_CHUNKS_H

/*
 * Writes a recording into memory, one chunk after the other. Ticks are nanoseconds. What is put
 * without memory for it is left out, and `failed` says so.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/trace/format/format.h"

struct tfs_chunks {
	unsigned char *bytes; /* the recording so far */
	size_t used, room;
	size_t open; /* the chunk that is being written; 0 = none */
	uint32_t thread, sequence;
	bool failed;
};

/* Starts with the header. */
void tfs_chunks_init(struct tfs_chunks *chunks);
/* What is put now belongs to this thread, which must not have been named before. */
void tfs_chunks_thread(struct tfs_chunks *chunks, uint32_t thread);
/* Puts a record with a tail behind it (may be NULL); returns its unit. */
uint32_t tfs_chunks_put(struct tfs_chunks *chunks, enum tfs_record_kind kind, const void *record,
	size_t bytes, const void *tail, size_t tail_bytes);
/* Puts what was called where, how often. */
void tfs_chunks_aggregate(struct tfs_chunks *chunks, const struct tfs_aggregate *aggregate);
/* Ends the recording. The bytes are the caller's. */
void tfs_chunks_end(struct tfs_chunks *chunks);
/* The header, until the next record is put. */
struct tfs_file_header *tfs_chunks_header(struct tfs_chunks *chunks);

#endif
