/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_STEPS_PLACEMENT_H
#define TFS_SHIM_STEPS_PLACEMENT_H

/*
 * Where the later windows of a run are whose length nobody knows: at a step, and then at twice as
 * many each time. However long the run is, one of them lies within a factor of 1.4 of its half, of
 * its tenth and of its hundredth, as soon as these lie behind the first one; and a million steps
 * have a dozen. Pure.
 */

#include <stdint.h>

/* The first of the steps `first`, 2 * first, 4 * first, ... that is at least `index`; UINT64_MAX
 * where `first` is 0. */
uint64_t tfs_placement_next(uint64_t first, uint64_t index);

/* What windows may use of a recording. */
struct tfs_placement_room {
	uint64_t used_bytes; /* so far, by everything */
	uint64_t left_bytes; /* before records are dropped */
	uint64_t steps;      /* recorded so far */
};

/* How many of the `wanted` steps a later window gets: those that half of what is left has room
 * for, so that there always is some for the windows behind it. 0 = not even the few that are worth
 * a window. */
uint64_t tfs_placement_steps(uint64_t wanted, const struct tfs_placement_room *room);

#endif
