/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_REWRITE_OPS_H
#define TFS_SHIM_REWRITES_REWRITE_OPS_H

/* Which rewrites are asked about which kinds of calls. */

#include "shim/rewrites/rewrite.h"

/* From now on rewrite `i` is asked about the kinds that it wants, which are returned. At the start,
 * before hooks ask any. */
uint32_t tfs_rewrite_ops_add(size_t i);

/* None takes part any more; those that follow a kind are still asked about it. */
void tfs_rewrite_ops_finish(void);

#endif
