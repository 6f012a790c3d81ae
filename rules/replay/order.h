/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_REPLAY_ORDER_H
#define TFS_RULES_REPLAY_ORDER_H

/*
 * In which order the host threads of a graph work. Only those count that give the device work, and
 * the one that makes the steps: others, which load data or poll, go on whatever these do.
 */

#include <stdbool.h>

#include "rules/replay/replay.h"

struct tfs_order {
	uint32_t *threads; /* those that count */
	uint32_t count;
	bool *launches; /* per thread: whether it counts */
	/* Of their calls, the share that began during another thread's. */
	double beside;
	size_t compared; /* steps of which it is known what the one before was like, */
	size_t regular;  /* and those in which they launched as much by the same turns */
};

/* NULL without memory. The caller owns it. */
struct tfs_order *tfs_order_create(const struct tfs_graph *graph);
void tfs_order_destroy(struct tfs_order *order);

#endif
