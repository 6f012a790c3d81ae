/* SPDX-License-Identifier: MIT */
#include "rules/timeline/recording_cost.h"

#include <math.h>

/* Standard deviations on either side of the middle: of the normal distribution's 97.5 %. */
#define DEVIATIONS 2.24

bool tfs_median_interval(const double *sorted, size_t count, double *out_low, double *out_high)
{
	size_t rank;

	if (count < TFS_COST_LEAST_STEPS)
		return false;
	/* More values than this lie below the median, by the binomial distribution. */
	rank = (size_t)fmax(((double)count - 1 - DEVIATIONS * sqrt((double)count)) / 2, 0);
	*out_low = sorted[rank];
	*out_high = sorted[count - 1 - rank];
	return true;
}

bool tfs_recording_cost(const struct tfs_timeline *timeline, double *out_low, double *out_high)
{
	const struct tfs_step_times *inside = &timeline->inside, *outside = &timeline->outside;

	if (inside->count < TFS_COST_LEAST_STEPS || outside->count < TFS_COST_LEAST_STEPS ||
		!(outside->median_low_ns > 0))
		return false;
	*out_low = fmax(inside->median_low_ns / outside->median_high_ns - 1, 0);
	*out_high = fmax(inside->median_high_ns / outside->median_low_ns - 1, 0);
	return true;
}
