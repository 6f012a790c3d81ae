/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_RECORD_LIVE_H
#define TFS_SHIM_RECORD_LIVE_H

/*
 * Allocations outside windows whose records are not in the recording. They come to it when a window
 * opens and at the end, if they are live by then: a program that allocates and frees in every step
 * would fill the recording with what nobody asks for.
 */

#include <stdbool.h>
#include <stdint.h>

#include "shim/trace/format/format.h"

#define TFS_LIVE_UNITS 3u /* the longest record that is kept */

struct tfs_live {
	uint64_t address;
	uint64_t end_ticks; /* of the call; 0 = nothing here */
	uint64_t words[TFS_LIVE_UNITS * TFS_UNIT / sizeof(uint64_t)];
};

/* Keeps it, instead of what was at the same address. False when there is no room. Any thread. */
bool tfs_live_add(const struct tfs_live *live);

/* Takes out the allocation at `address` that was over at `ticks`, when its release began; false
 * when there is none. Any thread. */
bool tfs_live_take(uint64_t address, uint64_t ticks, struct tfs_live *out_live);

/* Records one that was taken out, or all. Any thread. */
void tfs_live_put(const struct tfs_live *live);
void tfs_live_record(void);

#endif
