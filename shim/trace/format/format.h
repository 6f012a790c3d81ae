/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_TRACE_FORMAT_FORMAT_H
#define TFS_SHIM_TRACE_FORMAT_FORMAT_H

/*
 * The recording (.tfs) on disk. FORMAT.md beside this file says what each part means and which
 * guarantees hold after a crash; this header only lays out the bytes. Little endian, no padding
 * but what is written here. Numbers are never reused and never renumbered.
 */

#include <stdint.h>

#include "shim/trace/format/call.h"
#include "shim/trace/format/check.h"
#include "shim/trace/format/device.h"
#include "shim/trace/format/fact.h"
#include "shim/trace/format/function.h"
#include "shim/trace/format/host.h"
#include "shim/trace/format/problem.h"
#include "shim/trace/format/program.h"
#include "shim/trace/format/reason.h"
#include "shim/trace/format/record.h"
#include "shim/trace/format/rewrite.h"
#include "shim/trace/format/steps.h"

#define TFS_MAGIC "TFSHIM1\n"
#define TFS_FORMAT_VERSION 3u
#define TFS_FORMAT_OLDEST 2u  /* that is still read */
#define TFS_FORMAT_DIVIDED 3u /* from here on families 51 to 60 are told from those beside them */
#define TFS_HEADER_BYTES 4096u
#define TFS_CHUNK_BYTES (256u << 10) /* the longest */
#define TFS_CHUNK_STEP 64u           /* chunks start at multiples of it */
#define TFS_CHUNK_PARTS 3u
#define TFS_CHUNK_MAGIC 0x43534654u /* "TFSC" */

enum tfs_clock { TFS_CLOCK_MONOTONIC = 0, TFS_CLOCK_TSC = 1 };
enum tfs_chunk_kind { TFS_CHUNK_RECORDS = 1, TFS_CHUNK_AGGREGATES = 2 };

/* What was lost, and how often: live counters in the file header. */
#define TFS_LOSSES(X)                                                                              \
	X(0, records_dropped, "records dropped: no room in the file or on the disk")               \
	X(1, aggregates_full, "calls missing from totals: the thread's table was full")            \
	X(2, sites_full, "call sites merged: the table was full")                                  \
	X(3, stacks_short, "call stacks cut: no unwinder, or it failed")                           \
	X(4, cupti_dropped, "activity records dropped by CUPTI")                                   \
	X(5, cupti_unknown, "activity records of an unknown kind or size")                         \
	X(6, threads_failed, "threads not recorded: no memory for their buffers")                  \
	X(7, strings_cut, "names cut short")                                                       \
	X(8, ranges_full, "memory ranges not registered: the table was full")                      \
	X(9, steps_dropped, "step times dropped")                                                  \
	X(10, lines_dropped, "log lines not printed: standard error was full")

enum tfs_loss {
#define X(number, name, text) TFS_LOSS_##name = number,
	TFS_LOSSES(X)
#undef X
		TFS_LOSS_COUNT = 16
};

struct tfs_file_header {
	char magic[8];
	uint32_t version;
	uint32_t header_bytes;
	uint32_t chunk_bytes; /* the longest a chunk may be */
	uint32_t clock;       /* enum tfs_clock: unit of every field named _ticks */
	uint32_t pid;
	uint32_t rank;
	uint64_t start_realtime_ns;
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t start_ticks;
	uint64_t finished;     /* 1 once the process closed its recording */
	uint64_t limit_bytes;  /* the size cap that was in force */
	uint64_t chunks_taken; /* chunks handed out so far */
	uint64_t lost[TFS_LOSS_COUNT];
	char program[256]; /* path of the executable, cut if need be, NUL-terminated */
	char version_text[32];
	uint64_t run; /* which `tfshim run` it is of, by TFSHIM_RUN; 0 = none */
};

struct tfs_chunk {
	uint32_t magic; /* 0 until a thread took the chunk */
	uint16_t kind;
	uint16_t heads;     /* in memory: parts whose head is in the file, by bit; else 0 */
	uint32_t thread;    /* index of the thread within the file, from 0 */
	uint32_t sequence;  /* n-th chunk of this kind of this thread, from 0 */
	uint64_t committed; /* payload bytes that are whole; stored last, with release */
	uint64_t offset;    /* of this chunk in the file */
	uint32_t bytes;     /* that it takes there, this head included */
	uint32_t reserved0;
	uint64_t parts[TFS_CHUNK_PARTS]; /* in memory: where aggregates are in the file; else 0 */
};

/* One function called from one call site in one thread, over the whole run. */
struct tfs_aggregate {
	uint32_t site;
	uint16_t function;
	uint16_t reserved0;
	uint64_t count;
	uint64_t amount; /* sum of the calls' amounts */
	uint64_t ticks;  /* sum of the calls' durations */
	uint64_t longest_ticks;
	uint64_t first_ticks; /* start of the first and of the latest call */
	uint64_t latest_ticks;
	uint64_t failures; /* calls that returned anything but success */
};

TFS_SIZE_IS(struct tfs_file_header, 8 + 6 * 4 + 6 * 8 + TFS_LOSS_COUNT * 8 + 256 + 32 + 8);
TFS_SIZE_IS(struct tfs_chunk, 64);
TFS_SIZE_IS(struct tfs_aggregate, 64);

#endif
