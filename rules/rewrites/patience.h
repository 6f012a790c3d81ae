/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_REWRITES_PATIENCE_H
#define TFS_RULES_REWRITES_PATIENCE_H

/*
 * How long rewrites wait in vain for a device that may be busy, where the program would not wait:
 * 20 ms in all of the run, or a hundredth of the search's time where that is more. Who waits takes
 * a part of what is left, so that the last one has some patience too. Any thread.
 */

#include <stdbool.h>
#include <stdint.h>

struct tfs_patience {
	uint64_t start_ns;
	uint64_t most_ns;
};

/* From now on: an n-th of what is left, which nobody else has meanwhile. */
struct tfs_patience tfs_patience_begin(uint32_t part);

/* Is there some of it left? */
bool tfs_patience_lasts(const struct tfs_patience *patience);

/* The rest goes back; all of it where the device was idle. */
void tfs_patience_end(const struct tfs_patience *patience, bool idle);

#endif
