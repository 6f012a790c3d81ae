/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_DEVICE_UNSEEN_H
#define TFS_RULES_DEVICE_UNSEEN_H

/*
 * Rows of launches of which it was not seen what they work on. What a rule finds in rows, it cannot
 * tell of these.
 */

#include <stdbool.h>
#include <stdint.h>

#include "rules/evidence/steady.h"

struct tfs_unseen_row {
	uint32_t least; /* so many launches of one kernel behind each other in a step, */
	unsigned small; /* which take no longer than so many of the shortest kernels, on average */
	bool same_shape;
};

/* The call of judged steps that begins such a row, or TFS_NONE. */
uint32_t tfs_unseen_find(const struct tfs_steady *steady, const struct tfs_unseen_row *row);

#endif
