/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_DEVICE_UNTOUCHED_H
#define TFS_RULES_DEVICE_UNTOUCHED_H

/*
 * Bytes of a range that nothing has touched yet. Any thread, each its own.
 */

#include <stdbool.h>
#include <stdint.h>

#define TFS_UNTOUCHED_MOST 32u

struct tfs_untouched {
	struct {
		uint64_t start;
		uint64_t end; /* not of it any more */
	} items[TFS_UNTOUCHED_MOST];
	unsigned count;
	bool full; /* there were more gaps: of those that are missing nothing is known */
};

/* What was touched from start up to end is no gap any more. */
void tfs_untouched_remove(struct tfs_untouched *gaps, uint64_t start, uint64_t end);

/* Is any byte from start up to end in a gap? Are they all? */
bool tfs_untouched_any(const struct tfs_untouched *gaps, uint64_t start, uint64_t end);
bool tfs_untouched_all(const struct tfs_untouched *gaps, uint64_t start, uint64_t end);

#endif
