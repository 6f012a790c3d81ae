/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_IMPORT_MAKING_H
#define TFS_REPORTS_IMPORT_MAKING_H

/*
 * What the files share that make a recording: recording.c puts what all threads share, calls.c the
 * calls of each, streams.c says which streams there are.
 */

#include "reports/import/collected/collected.h"
#include "reports/import/making/chunks.h"
#include "reports/import/making/sites.h"

#define TFS_MOST_STREAMS 4096u

/* The work that a call gave, by its correlation id. */
struct tfs_given {
	uint32_t correlation;
	uint16_t stream; /* as calls name it */
	uint64_t bytes;
};

/* A call that recorded an event. */
struct tfs_recorded {
	uint32_t correlation;
	uint32_t stream; /* on which, as CUPTI numbers it; 0 = not known */
	uint16_t device;
};

struct tfs_making {
	struct tfs_collected *collected;
	struct tfs_chunks chunks;
	struct tfs_sites sites;
	struct tfs_given *given; /* sorted */
	size_t given_count;
	struct tfs_stream_record *streams;
	uint32_t stream_count;
	uint32_t working_count;        /* of these, the first ones */
	struct tfs_recorded *recorded; /* sorted; some of them more than once */
	size_t recorded_count;
	uint16_t *functions; /* ids by name */
	uint16_t function_count;
	int64_t first_ns, last_ns; /* on the tool's clock */
};

/* A moment on the recording's clock. */
uint64_t tfs_making_ns(const struct tfs_making *making, int64_t ns);

/* Sorts the device's work by time, puts its streams, and says what calls gave; 0 or -ENOMEM. */
int tfs_making_streams(struct tfs_making *making);

/* Puts threads, their calls, and what links these to the device's work; 0 or -ENOMEM. */
int tfs_making_calls(struct tfs_making *making);

#endif
