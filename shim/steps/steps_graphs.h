/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_STEPS_STEPS_GRAPHS_H
#define TFS_SHIM_STEPS_STEPS_GRAPHS_H

/*
 * Within the steps: what graphs do, whichever thread made them, for the searches of those that
 * launch them. All of it keeps errno.
 */

#include <stdatomic.h>
#include <stdbool.h>

#include "shim/record/details.h"

struct tfs_loops;
struct tfs_loops_operand;

extern _Atomic uint32_t tfs_step_graphs_capturing; /* captures under way */

/* Takes in a call that captures, makes graphs, or is captured; its callers need not be known. True
 * when the operands are a graph's, and nothing was done with them yet. */
bool tfs_step_graphs_take(const struct tfs_frame *frame, const struct tfs_details *details,
	const struct tfs_loops_operand *operands, uint32_t count);

static inline bool tfs_step_graphs_heed(const struct tfs_frame *frame,
	const struct tfs_details *details, const struct tfs_loops_operand *operands, uint32_t count)
{
	const uint32_t family = frame->entry->function->family;

	return (family == TFS_FAMILY_graph_other || family == TFS_FAMILY_graph_instantiate ||
		       family == TFS_FAMILY_graph_update || family == TFS_FAMILY_capture ||
		       atomic_load_explicit(&tfs_step_graphs_capturing, memory_order_relaxed) !=
			       0) &&
	       tfs_step_graphs_take(frame, details, operands, count);
}

/* Logs what a graph does that a call launches, which was just fed. Returns how much that was. */
uint32_t tfs_step_graphs_launched(
	struct tfs_loops *loops, const struct tfs_frame *frame, const struct tfs_details *details);

/* Nothing is searched any more. */
void tfs_step_graphs_release(void);

#endif
