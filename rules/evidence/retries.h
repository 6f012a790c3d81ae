/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_EVIDENCE_RETRIES_H
#define TFS_RULES_EVIDENCE_RETRIES_H

/* Allocations that fail for want of memory, and succeed once memory was freed. */

#include "rules/evidence/findings.h"

/* Calls among which the next try is looked for: an allocator frees what it has, block by block. */
#define TFS_RETRY_CALLS 65536u

bool tfs_retry_allocates(const struct tfs_host_call *call);
/* One that fails frees nothing. */
bool tfs_retry_frees(const struct tfs_host_call *call);

/* Where the call, an index of the evidence, succeeds if it is an allocation that failed, likewise
 * an index; TFS_NONE: nowhere. What is freed until then is added to `freed`. */
uint32_t tfs_retry_find(const struct tfs_steady *steady, uint32_t failed, struct tfs_hits *freed);

#endif
