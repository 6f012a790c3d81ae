/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_WHATIF_STEP_THREAD_H
#define TFS_RULES_WHATIF_STEP_THREAD_H

/* Which host thread makes the steps. */

#include "rules/evidence/steady.h"

/* Of `count` judged steps from `first` on: the thread that named most of them by NVTX, else that of
 * the calls that open them, else that of the first calls in them. It need not make many calls. */
uint32_t tfs_step_thread(const struct tfs_steady *steady, uint32_t first, uint32_t count);

#endif
