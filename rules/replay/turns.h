/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_REPLAY_TURNS_H
#define TFS_RULES_REPLAY_TURNS_H

/*
 * Where operations had their engine in another order than that of the calls: two streams were ready
 * at once, and the one that was given its work later came first. They wait for each other all the
 * same, whichever comes first in a replay.
 */

#include "rules/replay/replay.h"

/* For each of these operations, when the latest one that began before it on its engine ended; below
 * 0 for all others, which had their turn in the order of the calls. The caller frees; NULL without
 * memory. */
double *tfs_turns_find(const struct tfs_graph *graph);

#endif
