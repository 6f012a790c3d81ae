/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_WHATIF_HOST_LOAD_H
#define TFS_RULES_WHATIF_HOST_LOAD_H

/*
 * Whether something else took the host's time while the judged steps were recorded. Calls of one
 * call site that wait for nothing take about as long each time; one that takes many times as long
 * was interrupted. Such time is in the steps, comes at other places in the next run, and is no
 * fix's to save.
 */

#include "rules/evidence/steady.h"
#include "rules/whatif/graph.h"

/* Time per step that interrupted calls took beyond the usual; 0 too without memory. */
double tfs_host_load_ns(const struct tfs_steady *steady, const struct tfs_run *runs,
	struct tfs_replay *const *replays, size_t count);

#endif
