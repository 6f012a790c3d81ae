/* SPDX-License-Identifier: MIT */
#include "rules/timeline/recording_cost.h"

#include <math.h>
#include <stdlib.h>

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

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

/* The mean of sorted values without a tenth of them at either end. */
static double trimmed(const double *sorted, size_t count)
{
	const size_t cut = count / 10;
	double sum = 0;

	for (size_t i = cut; i < count - cut; i++)
		sum += sorted[i];
	return sum / (double)(count - 2 * cut);
}

struct tfs_step_times tfs_step_times_of(double *ns, size_t count)
{
	struct tfs_step_times times = {.count = count};
	size_t last = count ? count - 1 : 0;
	double sum = 0;

	if (!count)
		return times;
	qsort(ns, count, sizeof(*ns), compare_doubles);
	for (size_t i = 0; i < count; i++)
		sum += ns[i];
	times.mean_ns = sum / (double)count;
	times.trimmed_ns = trimmed(ns, count);
	times.median_ns = (ns[last / 2] + ns[count / 2]) / 2;
	times.p95_ns = ns[last - last / 20];
	tfs_median_interval(ns, count, &times.median_low_ns, &times.median_high_ns);
	return times;
}

bool tfs_recording_cost(const struct tfs_timeline *timeline, double *out_low, double *out_high)
{
	const struct tfs_step_times *inside = &timeline->inside, *outside = &timeline->outside;

	if (inside->count < TFS_COST_LEAST_STEPS || outside->count < TFS_COST_LEAST_STEPS ||
		!(outside->median_low_ns > 0))
		return false;
	*out_low = fmax(fmin(inside->median_low_ns / outside->median_high_ns,
				inside->trimmed_ns / outside->trimmed_ns) -
				1,
		0);
	*out_high = fmax(inside->median_high_ns / outside->median_low_ns - 1, 0);
	return true;
}

double tfs_recording_added_ns(
	const struct tfs_timeline *timeline, double *out_low_ns, double *out_high_ns)
{
	const struct tfs_step_times *inside = &timeline->inside, *outside = &timeline->outside;
	const bool known =
		inside->count >= TFS_COST_LEAST_STEPS && outside->count >= TFS_COST_LEAST_STEPS;

	/* Of steps of two kinds, long and short, either may be the median. */
	const double added_ns = fmin(
		inside->median_ns - outside->median_ns, inside->trimmed_ns - outside->trimmed_ns);

	*out_low_ns = *out_high_ns = 0;
	if (!known)
		return 0;
	*out_low_ns = fmax(fmin(inside->median_low_ns - outside->median_high_ns, added_ns), 0);
	*out_high_ns = fmax(fmax(inside->median_high_ns - outside->median_low_ns, added_ns), 0);
	return fmax(added_ns, 0);
}

double tfs_recording_apart_ns(const struct tfs_timeline *timeline, double idle_ns)
{
	double low_ns, high_ns;

	return fmax(idle_ns - tfs_recording_added_ns(timeline, &low_ns, &high_ns), 0);
}
