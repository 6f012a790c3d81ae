/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_TRACE_AREA_H
#define TFS_SHIM_TRACE_AREA_H

/*
 * Where a recording is made: memory with the file's header and room for chunks, each of which has
 * its place in the file from the start. What is committed there is saved from time to time by the
 * process itself, or, where `tfshim run` made the memory, by that after the process has ended,
 * however it did. Needs POSIX and C11.
 */

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/trace/format/format.h"

#define TFS_AREA_SLOTS 512u
#define TFS_AREA_HEAD (16u << 10)
#define TFS_AREA_BYTES (TFS_AREA_HEAD + (uint64_t)TFS_AREA_SLOTS * TFS_CHUNK_BYTES)
#define TFS_AREAS 64u /* processes that `tfshim run` keeps the memory of */

struct tfs_area {
	struct tfs_file_header header;
	_Atomic uint32_t owner; /* process that records here; 0 = nobody */
	_Atomic uint32_t used;  /* slots that were ever in use */
	uint64_t device;        /* of the file */
	uint64_t inode;
	_Atomic uint64_t next; /* offset of the file's first byte that is nobody's yet */
	_Atomic uint64_t end;  /* offset behind what was written */
	char path[PATH_MAX];
};

static inline struct tfs_chunk *tfs_area_slot(const struct tfs_area *area, uint32_t slot)
{
	return (struct tfs_chunk *)((char *)(uintptr_t)area + TFS_AREA_HEAD +
				    (uint64_t)slot * TFS_CHUNK_BYTES);
}

/* Creates the file, which must not exist, with `bytes` at its start. 0, or -errno, with nothing
 * left behind. One thread. */
int tfs_area_create(struct tfs_area *area, const char *path, const void *bytes, size_t count);

/* The file, to write to; -errno when it is another one by now, or -ESTALE when it was cut short.
 * The caller closes it. */
int tfs_area_open(const struct tfs_area *area);

/* Writes all of it, and never beyond the process's file-size limit, which would raise a signal. 0,
 * or -errno. */
int tfs_area_put(struct tfs_area *area, int fd, const void *bytes, size_t count, uint64_t offset);

/* A place of `bytes` in a file that must not grow beyond `limit`; 0 = no room. Any thread. */
uint64_t tfs_area_place(struct tfs_area *area, uint64_t bytes, uint64_t limit);

/* Writes what was committed of a chunk behind `*written` bytes of its payload, and counts those on;
 * of aggregates, everything. One thread. */
int tfs_area_put_chunk(struct tfs_area *area, int fd, struct tfs_chunk *chunk, uint64_t *written);

/* Writes everything, as after the end of the process that recorded. */
int tfs_area_save(struct tfs_area *area);

/* Memory for the processes of a run, by `tfshim run`: a descriptor, or -errno. */
int tfs_areas_make(void);

/* Saves what processes that have ended left behind. */
void tfs_areas_save(int fd);

/* Takes an area of those that `path` leads to; NULL when there is none for this process. */
struct tfs_area *tfs_areas_take(const char *path);

#endif
