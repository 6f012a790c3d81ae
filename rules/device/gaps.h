/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_DEVICE_GAPS_H
#define TFS_RULES_DEVICE_GAPS_H

/*
 * Bytes of a range that nothing has touched yet. Any thread, each its own.
 */

#include <stdbool.h>
#include <stdint.h>

#define TFS_GAPS_MOST 32u

struct tfs_gaps {
	struct {
		uint64_t start;
		uint64_t end; /* not of it any more */
	} items[TFS_GAPS_MOST];
	unsigned count;
	bool full; /* there were more gaps: of those that are missing nothing is known */
};

/* What was touched from start up to end is no gap any more. */
void tfs_gaps_remove(struct tfs_gaps *gaps, uint64_t start, uint64_t end);

/* Is any byte from start up to end in a gap? Are they all? */
bool tfs_gaps_touch(const struct tfs_gaps *gaps, uint64_t start, uint64_t end);
bool tfs_gaps_hold(const struct tfs_gaps *gaps, uint64_t start, uint64_t end);

#endif
