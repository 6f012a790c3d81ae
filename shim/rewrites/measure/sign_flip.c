/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/measure/sign_flip.h"

#include <math.h>
#include <string.h>

#define HALVINGS 14 /* of the range in which the interval's ends are sought */

/* The size as so many parts of the sum of all sizes. */
static uint32_t parts(double value, double all)
{
	return (uint32_t)(fabs(value) / all * TFS_SIGN_FLIP_PARTS + 0.5);
}

void tfs_sign_flip(const double *values, uint32_t count, double shift, struct tfs_sign_flip *room,
	double *out_large, double *out_small)
{
	double *chance = room->chance;
	uint32_t used = 0;
	uint32_t seen = 0;
	double all = 0;

	*out_large = *out_small = 1;
	for (uint32_t i = 0; i < count; i++)
		all += fabs(values[i] - shift);
	if (!(all > 0) || !isfinite(all) || count > TFS_SIGN_FLIP_MOST)
		return;
	/* Of the sum of those that come out positive. */
	chance[0] = 1;
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t size = parts(values[i] - shift, all);

		memset(chance + used + 1, 0, size * sizeof(*chance));
		used += size;
		for (uint32_t sum = used; sum >= size && size > 0; sum--)
			chance[sum] = (chance[sum] + chance[sum - size]) / 2;
		for (uint32_t sum = 0; sum < size && size > 0; sum++)
			chance[sum] /= 2;
		seen += values[i] > shift ? size : 0;
	}
	*out_large = *out_small = 0;
	for (uint32_t sum = 0; sum <= used; sum++) {
		*out_large += sum >= seen ? chance[sum] : 0;
		*out_small += sum <= seen ? chance[sum] : 0;
	}
}

/* Between a shift that is ruled out and one that is not. */
static double end_of(const double *values, uint32_t count, double level, struct tfs_sign_flip *room,
	double ruled_out, double mean)
{
	const bool below = ruled_out < mean;
	double large, small;

	for (int i = 0; i < HALVINGS; i++) {
		const double middle = (ruled_out + mean) / 2;

		tfs_sign_flip(values, count, middle, room, &large, &small);
		if ((below ? large : small) <= level)
			ruled_out = middle;
		else
			mean = middle;
	}
	return ruled_out;
}

bool tfs_sign_flip_interval(const double *values, uint32_t count, double level,
	struct tfs_sign_flip *room, double *out_low, double *out_high)
{
	double least = INFINITY, most = -INFINITY, sum = 0;

	if (count == 0 || count > TFS_SIGN_FLIP_MOST ||
		1 / (double)(UINT64_C(1) << (count - 1)) > 2 * level)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		least = values[i] < least ? values[i] : least;
		most = values[i] > most ? values[i] : most;
		sum += values[i];
	}
	const double margin = (most - least) / TFS_SIGN_FLIP_PARTS;

	*out_low = end_of(values, count, level, room, least - margin, sum / count);
	*out_high = end_of(values, count, level, room, most + margin, sum / count);
	return true;
}
