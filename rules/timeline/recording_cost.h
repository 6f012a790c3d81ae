/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_TIMELINE_RECORDING_COST_H
#define TFS_RULES_TIMELINE_RECORDING_COST_H

/*
 * What recording costs the program: how much longer its steps take inside windows than outside.
 */

#include <stdbool.h>

#include "rules/timeline/timeline.h"

/* Steps on either side that an interval needs. */
#define TFS_COST_LEAST_STEPS 7u

/* An interval of the median of `count` sorted values, which holds it with 97.5 %, so that two such
 * hold both medians with 95 %. False where there are fewer than TFS_COST_LEAST_STEPS. Any thread.
 */
bool tfs_median_interval(const double *sorted, size_t count, double *out_low, double *out_high);

/* Figures of these durations, which it sorts. Any thread. */
struct tfs_step_times tfs_step_times_of(double *ns, size_t count);

/* The share by which recording makes steps longer, as an interval that holds it with 95 %; never
 * negative: recording makes nothing faster. False where too few steps are known. */
bool tfs_recording_cost(const struct tfs_timeline *timeline, double *out_low, double *out_high);

/* The same in nanoseconds per step, by medians or trimmed means, whichever differ less; 0 where it
 * is not known. */
double tfs_recording_added_ns(
	const struct tfs_timeline *timeline, double *out_low_ns, double *out_high_ns);

/* What is left of time per step that the device was idle in, without what recording adds to a step:
 * by so much it may have waited for that alone. */
double tfs_recording_apart_ns(const struct tfs_timeline *timeline, double idle_ns);

#endif
