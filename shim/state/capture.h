/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_STATE_CAPTURE_H
#define TFS_SHIM_STATE_CAPTURE_H

/*
 * Is any stream being captured? While one is, no rewrite takes part: an allocation, a query or a
 * copy through a buffer of ours would end up in the graph, or invalidate the capture.
 */

#include <stdbool.h>

extern unsigned tfs_captures_open; /* relaxed atomic */

static inline bool tfs_capturing(void)
{
	return __atomic_load_n(&tfs_captures_open, __ATOMIC_RELAXED) != 0;
}

#endif
