/* SPDX-License-Identifier: MIT */
#include "rules/rewrites/trial.h"

#include <math.h>
#include <stddef.h>

#define LEFT_OUT 2u /* steps at the start of a block that still feel the one before */
#define SIDE_MOST (TFS_TRIAL_MOST / 2)

void tfs_trial_init(struct tfs_trial *trial, uint32_t most_steps)
{
	uint32_t steps = most_steps / (3 * TFS_TRIAL_LEAST);

	if (steps > TFS_TRIAL_BLOCK_MOST)
		steps = TFS_TRIAL_BLOCK_MOST;
	if (steps < TFS_TRIAL_SHORTEST)
		steps = TFS_TRIAL_SHORTEST;
	uint32_t blocks = most_steps / steps / 4 * 4;
	if (blocks > TFS_TRIAL_MOST)
		blocks = TFS_TRIAL_MOST;
	*trial = (struct tfs_trial){
		.blocks = blocks, .block_steps = steps, .most_steps = most_steps};
}

/* Thue-Morse: a drift, also one that bends, falls on both kinds alike. */
bool tfs_trial_on(const struct tfs_trial *trial)
{
	return (__builtin_popcount(trial->block) & 1) != 0;
}

static void sort(double *values, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		const double value = values[i];
		uint32_t j = i;

		for (; j > 0 && values[j - 1] > value; j--)
			values[j] = values[j - 1];
		values[j] = value;
	}
}

double tfs_trial_median(double *values, uint32_t count)
{
	if (count == 0)
		return NAN;
	sort(values, count);
	return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

void tfs_trial_step(struct tfs_trial *trial, double ns)
{
	const bool on = tfs_trial_on(trial);

	if (tfs_trial_over(trial))
		return;
	trial->steps++;
	trial->times[trial->step++] = ns;
	if (trial->step < trial->block_steps)
		return;
	if (trial->counts[on] < SIDE_MOST)
		trial->medians[on][trial->counts[on]++] =
			tfs_trial_median(trial->times + LEFT_OUT, trial->step - LEFT_OUT);
	trial->step = 0;
	trial->block++;
}

void tfs_trial_interrupt(struct tfs_trial *trial)
{
	trial->step = 0;
}

bool tfs_trial_over(const struct tfs_trial *trial)
{
	return trial->block >= trial->blocks || trial->steps >= trial->most_steps;
}

/*
 * How many of the n*m differences may be left out at each end: the largest k for which the
 * Mann-Whitney statistic is below k with probability <= 2.5 %. Its exact distribution comes from
 * the generating function prod (1 - q^(m+i)) / (1 - q^i), i = 1..n.
 */
static uint32_t left_out(uint32_t n, uint32_t m)
{
	double ways[SIDE_MOST * SIDE_MOST + 1] = {1};
	const uint32_t most = n * m;
	double all = 0;
	double sum = 0;
	uint32_t k = 0;

	for (uint32_t i = 1; i <= n; i++) {
		for (uint32_t u = most; u >= m + i; u--)
			ways[u] -= ways[u - m - i];
		for (uint32_t u = i; u <= most; u++)
			ways[u] += ways[u - i];
	}
	for (uint32_t u = 0; u <= most; u++)
		all += ways[u];
	while (k < most / 2 && (sum + ways[k]) / all <= 0.025)
		sum += ways[k++];
	return k;
}

/*
 * Hodges and Lehmann's estimate of a shift, the median of all differences between a block without
 * and a block with, and Moses' distribution-free interval for it: the k-th smallest and k-th
 * largest difference. Hollander, Wolfe, Chicken, Nonparametric Statistical Methods, 3rd ed., 4.2
 * and 4.3. One block that something else slowed down moves neither.
 */
bool tfs_trial_gain(const struct tfs_trial *trial, struct tfs_gain *out_gain)
{
	double differences[SIDE_MOST * SIDE_MOST];
	const uint32_t n = trial->counts[0];
	const uint32_t m = trial->counts[1];
	uint32_t count = 0;

	*out_gain = (struct tfs_gain){NAN, NAN, NAN};
	if (n < TFS_TRIAL_LEAST || m < TFS_TRIAL_LEAST)
		return false;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < m; j++)
			differences[count++] = trial->medians[0][i] - trial->medians[1][j];
	const uint32_t k = left_out(n, m);
	out_gain->middle = tfs_trial_median(differences, count);
	out_gain->low = differences[k - 1];
	out_gain->high = differences[count - k];
	return true;
}
