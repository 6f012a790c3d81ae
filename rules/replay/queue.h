/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_REPLAY_QUEUE_H
#define TFS_RULES_REPLAY_QUEUE_H

/* How many operations a stream accepts before the host has to wait for one to end. */

#include "rules/replay/replay.h"

/* As the measurement shows it, or as is usual where no stream was given that many; 0 without
 * memory.
 */
uint32_t tfs_queue_depth(const struct tfs_graph *graph);

#endif
