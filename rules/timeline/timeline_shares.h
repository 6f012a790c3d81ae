/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_TIMELINE_TIMELINE_SHARES_H
#define TFS_RULES_TIMELINE_TIMELINE_SHARES_H

/*
 * Which of the recorded steps are judged, where there are several windows. Windows lie ever further
 * apart, and each stands for the steps of the run that are nearest to it: so many of its steps are
 * judged as these are a part of the run, its last ones. Whatever is found in a part of the judged
 * steps is then so in that part of the run; a program's first steps are no longer most of the
 * evidence when it has run for a million.
 */

#include "rules/timeline/timeline.h"

/* The steps of a run. */
struct tfs_run_steps {
	uint64_t first, last;
};

/* Keeps these of `judged`, which are indices of steps in order of time, in place; returns how many,
 * or -ENOMEM. */
int64_t tfs_timeline_shares(const struct tfs_step *steps, uint32_t *judged, uint32_t count,
	const struct tfs_run_steps *run);

#endif
