/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_MEMORY_PATIENCE_H
#define TFS_SHIM_REWRITES_MEMORY_PATIENCE_H

/*
 * How long rewrites wait in vain for a device that may be busy, where the program would not wait:
 * 20 ms in all of the run, or a hundredth of the search's time where that is more; half of it for
 * each purpose. Who waits takes a part of what is left, so that the last one has some patience too.
 * Any thread.
 */

#include <stdbool.h>
#include <stdint.h>

enum tfs_patience_purpose {
	TFS_PATIENCE_SEARCH,    /* to measure on an idle device */
	TFS_PATIENCE_GIVE_BACK, /* memory, which waits for the device */
	TFS_PATIENCE_PURPOSES,
};

struct tfs_patience {
	enum tfs_patience_purpose purpose;
	uint64_t start_ns;
	uint64_t most_ns;
};

/* From now on: with a part of what is left, which nobody else has meanwhile. */
struct tfs_patience tfs_patience_begin(enum tfs_patience_purpose purpose);

/* Is there some of it left? */
bool tfs_patience_lasts(const struct tfs_patience *patience);

/* The rest goes back; all of it where the wait was not in vain. */
void tfs_patience_end(const struct tfs_patience *patience, bool over);

#endif
