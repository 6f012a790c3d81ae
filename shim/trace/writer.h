/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_TRACE_WRITER_H
#define TFS_SHIM_TRACE_WRITER_H

/*
 * Writes a recording: creates the file and hands out mapped chunks. No descriptor is kept open
 * between calls, because a program may close or reuse any number; the file is opened anew by its
 * path and checked to be the same. Needs POSIX, C11 and fallocate.
 */

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shim/trace/format.h"

struct tfs_writer {
	struct tfs_file_header *header; /* mapped; NULL until open succeeded */
	_Atomic uint64_t next_chunk;
	_Atomic bool full; /* the latest try found no room */
	uint64_t limit_bytes;
	dev_t device;
	ino_t inode;
	char path[PATH_MAX];
};

/* Creates `path` (which must not exist) with a header whose identity, clock and counters the
 * caller fills in. 0, or -errno; nothing is left behind on failure. One thread. */
int tfs_writer_open(struct tfs_writer *writer, const char *path, uint64_t limit_bytes);

/* The next chunk, zeroed, allocated on disk and mapped with its pages present; NULL when the cap,
 * the disk or the process's file-size limit leaves no room. Once that has happened, only a caller
 * with `again` asks anew: one that does so once in a while. Owned by the caller. Any thread. */
struct tfs_chunk *tfs_writer_chunk(struct tfs_writer *writer, bool again);

/* Makes a prepared chunk part of the recording. The payload must still be all zero. */
void tfs_writer_take(struct tfs_writer *writer, struct tfs_chunk *chunk, enum tfs_chunk_kind kind,
	uint32_t thread, uint32_t sequence);

/* The chunk's first byte, as a file offset in units; what link records refer to. */
uint64_t tfs_writer_unit(const struct tfs_chunk *chunk);

/* Gives back a chunk that nobody will write any more. */
void tfs_writer_release(struct tfs_chunk *chunk);

/* Adds to a loss counter; works before open (then it is forgotten) and from any thread. */
static inline void tfs_writer_lost(struct tfs_writer *writer, enum tfs_loss loss, uint64_t count)
{
	if (writer->header != NULL)
		__atomic_fetch_add(&writer->header->lost[loss], count, __ATOMIC_RELAXED);
}

#endif
