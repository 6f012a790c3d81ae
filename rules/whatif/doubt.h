/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_WHATIF_DOUBT_H
#define TFS_RULES_WHATIF_DOUBT_H

/* When a replay is no ground for a cost: a cost that may be wrong by any factor is not told. */

#include <stddef.h>

#include "rules/replay/replay.h"

/* The reason, as the end of a sentence, or NULL; `error` is that of the replay, 0.02 = 2 %. */
const char *tfs_replay_doubt(struct tfs_replay *const *replays, size_t count, double error);

#endif
