/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/measure/period.h"

#include <math.h>
#include <string.h>

#include "shim/rewrites/measure/trial.h"

#define LIKE 0.75       /* of the usual difference between two steps: less, and they are alike */
#define AS_LIKE 1.1     /* a multiple of the period does no better than this */
#define NEGLIGIBLE 0.01 /* of a step: what differs by less than that does not count */

/* How much steps that lie `lag` apart differ, in the mean. Absolute, not squared: what one step in
 * fifty takes longer would hide everything else. */
static double difference(const double *times, uint32_t lag)
{
	double sum = 0;

	for (uint32_t i = 0; i + lag < TFS_PERIOD_STEPS; i++)
		sum += fabs(times[i + lag] - times[i]);
	return sum / (TFS_PERIOD_STEPS - lag);
}

uint32_t tfs_period_find(const double times[TFS_PERIOD_STEPS])
{
	double own[TFS_PERIOD_STEPS], by_lag[2 * TFS_PERIOD_MOST + 1], usual = 0;
	uint32_t best = 1;

	memcpy(own, times, sizeof(own));
	const double median = tfs_trial_median(own, TFS_PERIOD_STEPS);
	for (uint32_t i = 0; i < TFS_PERIOD_STEPS; i++)
		own[i] = times[i] < TFS_TRIAL_CAP * median ? times[i] : TFS_TRIAL_CAP * median;
	for (uint32_t lag = 1; lag <= 2 * TFS_PERIOD_MOST; lag++) {
		by_lag[lag] = difference(own, lag);
		usual += by_lag[lag] / (2 * TFS_PERIOD_MOST);
	}
	for (uint32_t lag = 2; lag <= TFS_PERIOD_MOST; lag++)
		best = by_lag[lag] < by_lag[best] ? lag : best;
	/* What repeats once does so twice. */
	if (!(by_lag[best] < LIKE * usual && by_lag[2 * best] < LIKE * usual) ||
		usual < NEGLIGIBLE * median)
		return 1;
	for (uint32_t lag = 2; lag < best; lag++)
		if (by_lag[lag] <= AS_LIKE * by_lag[best] + NEGLIGIBLE * median &&
			by_lag[lag] < by_lag[lag - 1])
			return lag;
	return best;
}
