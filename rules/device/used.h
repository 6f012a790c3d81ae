/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_DEVICE_USED_H
#define TFS_RULES_DEVICE_USED_H

/*
 * What memory calls use, as far as they say, and whether two of them use the same.
 */

#include <stdbool.h>

#include "rules/timeline/timeline.h"

#define TFS_USED_OPERANDS 16u

struct tfs_used {
	struct tfs_operand items[TFS_USED_OPERANDS];
	unsigned count;
	bool whole; /* these are all */
};

struct tfs_used tfs_used_by(const struct tfs_timeline *timeline, const struct tfs_host_call *call);

/* Whether they have memory in common that one of them may write. How far a kernel reaches is not
 * known: as far as the range does. */
bool tfs_used_both(const struct tfs_timeline *timeline, const struct tfs_used *one,
	const struct tfs_used *other);

/* Whether it is not seen what a call uses; a kernel of the program that names memory is taken by
 * what it names. */
bool tfs_used_unknown(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	const struct tfs_used *used);

#endif
