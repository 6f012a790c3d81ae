/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_TRACE_WRITER_H
#define TFS_SHIM_TRACE_WRITER_H

/*
 * Writes a recording: hands out chunks of memory and saves to the file what was committed in them.
 * Those who record only ever store into memory; whoever calls tfs_writer_flush() writes. No
 * descriptor is kept open between calls, because a program may close or reuse any number; the file
 * is opened anew by its path and checked to be the same.
 */

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "shim/trace/area.h"
#include "shim/trace/format/format.h"

/* Who may still take room when the file is nearly full; each more than those before it, and it is
 * written before them. */
enum tfs_room { TFS_ROOM_CALLS, TFS_ROOM_TOTALS, TFS_ROOM_DEFINITIONS, TFS_ROOM_OUTCOMES };

struct tfs_slot {
	_Atomic uint32_t state;
	enum tfs_room room;
	uint64_t written; /* payload bytes */
	uint64_t counted; /* aggregates: calls that are in the file */
};

struct tfs_writer {
	struct tfs_file_header *header; /* in memory; NULL until open succeeded */
	struct tfs_area *area;
	uint64_t limit_bytes;
	uint32_t slot_count;
	_Atomic uint32_t waiting; /* chunks that are full and not yet in the file */
	_Atomic bool lost_file;   /* it was cut short: nothing is written any more */
	_Atomic bool created;
	bool nowhere;      /* there never was one */
	bool reached;      /* the latest try to open it found it */
	uint64_t retry_ns; /* when writing failed: when to try again */
	pthread_mutex_t flushing;
	struct tfs_file_header saved; /* as it is in the file */
	char path[PATH_MAX];
	struct tfs_slot slots[TFS_AREA_SLOTS];
};

/* Begins in memory: from tfs_areas_take(), or the process's own where `area` is NULL. The header's
 * identity and clock are the caller's to fill in. 0 or -errno. One thread. */
int tfs_writer_begin(struct tfs_writer *writer, uint64_t limit_bytes, struct tfs_area *area);

/* Creates `path` (which must not exist) with the header. Until then nothing is written, and what
 * there is room for is kept. 0, or -errno, with nothing left behind. The thread that flushes. */
int tfs_writer_create(struct tfs_writer *writer, const char *path);

/* There will be no file, `path` as it would have been: threads have their totals, and all else is
 * dropped. */
void tfs_writer_go_without(struct tfs_writer *writer, const char *path);

/* An empty chunk of `bytes` for the thread, zeroed; NULL when the cap or what waits to be written
 * leaves no room. Owned by the caller. Any thread; errno stays. */
struct tfs_chunk *tfs_writer_chunk(
	struct tfs_writer *writer, const struct tfs_chunk *wanted, enum tfs_room room);

/* Bytes of the file that are somebody's, and those that records of calls may still take. Any
 * thread.
 */
void tfs_writer_used(
	const struct tfs_writer *writer, uint64_t *out_used_bytes, uint64_t *out_left_bytes);

/* Gives back a chunk that nobody will write any more. */
void tfs_writer_retire(struct tfs_writer *writer, const struct tfs_chunk *chunk);

/* Makes some chunks warm, to be handed out. The thread that flushes. */
void tfs_writer_prepare(struct tfs_writer *writer);

/* Writes what was committed since the last time; `now` also where that failed just before. False
 * when the file is gone, another's by now, or was cut short. Any thread. */
bool tfs_writer_flush(struct tfs_writer *writer, bool now);

/* The same for the last time: where that fails, what is not in the file is counted as lost; and the
 * file says that it is finished: whoever finds it so need not look for more. Any thread. */
bool tfs_writer_finish(struct tfs_writer *writer);

/* The chunk's first byte, as a file offset in units; what link records refer to. */
static inline uint64_t tfs_writer_unit(const struct tfs_chunk *chunk)
{
	return chunk->offset / TFS_UNIT;
}

/* Adds to a loss counter; works before open (then it is forgotten) and from any thread. */
static inline void tfs_writer_lost(struct tfs_writer *writer, enum tfs_loss loss, uint64_t count)
{
	if (writer->header)
		__atomic_fetch_add(&writer->header->lost[loss], count, __ATOMIC_RELAXED);
}

#endif
