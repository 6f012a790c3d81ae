/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_DEVICE_UNSEEN_H
#define TFS_RULES_DEVICE_UNSEEN_H

/*
 * Rows of launches of which it was not seen what they work on. What a rule finds in rows, it cannot
 * tell of these.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules/evidence/findings.h"

struct tfs_unseen_row {
	uint32_t least; /* so many launches of one kernel behind each other in a step, */
	unsigned small; /* which take no longer than so many of the shortest kernels, on average */
	bool same_shape;
	bool apart; /* others may lie between them */
};

/* Where judged steps have such a row: sets the verdict to not measurable, unless there are findings
 * since `before`. False where there is none. */
bool tfs_unseen_conclude(const struct tfs_findings *findings, size_t before,
	const struct tfs_unseen_row *row, struct tfs_verdict *out_verdict);

#endif
