/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_EVIDENCE_STREAMS_H
#define TFS_RULES_EVIDENCE_STREAMS_H

/* On which stream calls work, or for which one they wait. */

#include <stdint.h>

struct tfs_host_call;
struct tfs_place;
struct tfs_pool;
struct tfs_timeline;

/* Index of a call's stream: that of the work it caused, else the one it names; or TFS_NONE. */
uint32_t tfs_stream_of(const struct tfs_timeline *timeline, const struct tfs_host_call *call);

/* What a report calls the stream of a place's calls: "legacy", "per-thread", the number that device
 * records have, or "several". NULL = they have none, or it is not known. Owned by the pool. */
const char *tfs_stream_name(
	struct tfs_pool *pool, const struct tfs_timeline *timeline, const struct tfs_place *place);

#endif
