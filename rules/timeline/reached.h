/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_TIMELINE_REACHED_H
#define TFS_RULES_TIMELINE_REACHED_H

/* How far training is at a moment, recorded or not. */

#include <stdint.h>

#include "shim/trace/trace.h"

/* The training step that a moment is in or behind; zeroed = before the first one. */
struct tfs_reached {
	uint64_t step;
	uint64_t ticks; /* where it begins */
};

/* Of a moment in the trace's ticks; UINT64_MAX: the last step. */
struct tfs_reached tfs_reached_at(const struct tfs_trace *trace, uint64_t ticks);

#endif
