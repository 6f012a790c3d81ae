/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_STATE_CAPTURE_H
#define TFS_SHIM_STATE_CAPTURE_H

/*
 * Is any stream being captured? While one is, no rewrite takes part: an allocation, a query or a
 * copy through a buffer of ours would end up in the graph, or invalidate the capture.
 */

#include <stdbool.h>
#include <stdint.h>

extern unsigned tfs_captures_open; /* relaxed atomic */

static inline bool tfs_capturing(void)
{
	return __atomic_load_n(&tfs_captures_open, __ATOMIC_RELAXED) != 0;
}

/* A capture was begun, or ended, by a call with this result. Any thread. */
void tfs_capture_began(uint32_t status);
void tfs_capture_ended(uint32_t status);

#endif
