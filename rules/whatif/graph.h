/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_WHATIF_GRAPH_H
#define TFS_RULES_WHATIF_GRAPH_H

/*
 * Makes graphs for the replay from the judged steps: one for each run of steps that follow each
 * other. See replay.h.
 */

#include "rules/evidence/steady.h"
#include "rules/replay/replay.h"

/* A run of judged steps; its calls are calls [first_call, first_call + graph.calls_count) of the
 * evidence. */
struct tfs_run {
	struct tfs_graph graph;
	uint32_t first_call;
	uint32_t first_step; /* in the list of judged steps */
	uint32_t steps;
};

/* Splits the judged steps into runs; 0 or -ENOMEM. Stops at a size that replays quickly. The caller
 * owns the result. */
int tfs_runs_create(const struct tfs_steady *steady, struct tfs_run **out_runs, size_t *out_count);
void tfs_runs_destroy(struct tfs_run *runs, size_t count);

#endif
