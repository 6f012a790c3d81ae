/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_TIMELINE_FLOW_H
#define TFS_RULES_TIMELINE_FLOW_H

/*
 * Data flow between calls through memory ranges, in the order the calls were made. Only recorded
 * calls count and nothing is followed from one window into another: where a question's answer may
 * lie outside the window, it is NULL. A role with TFS_ROLE_MAYBE may read, write or do neither.
 * Operands outside every known range have no flow.
 */

#include "rules/timeline/timeline.h"

struct tfs_access {
	uint64_t offset;   /* within the range */
	uint64_t bytes;    /* up to the range's end where the call does not say */
	uint64_t start_ns; /* of the call */
	uint32_t range;
	uint32_t call;
	uint32_t role;
	bool bounded; /* the call said how many bytes */
};

/* The latest access before `call` that touches any of [offset, offset + bytes) with one of the
 * roles; builds the index on first use, so one thread at a time. NULL = none seen. */
const struct tfs_access *tfs_flow_before(const struct tfs_timeline *timeline, uint32_t call,
	uint32_t range, uint64_t offset, uint64_t bytes, uint32_t roles);
/* The next one after `call`. */
const struct tfs_access *tfs_flow_after(const struct tfs_timeline *timeline, uint32_t call,
	uint32_t range, uint64_t offset, uint64_t bytes, uint32_t roles);

/* Who wrote last what an operand reads; who uses next what it wrote. */
const struct tfs_access *tfs_flow_writer(
	const struct tfs_timeline *timeline, uint32_t call, const struct tfs_operand *operand);
const struct tfs_access *tfs_flow_next_use(
	const struct tfs_timeline *timeline, uint32_t call, const struct tfs_operand *operand);

#endif
