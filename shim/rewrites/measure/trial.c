/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/measure/trial.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Of the mean from 0, in which it is decided four times out of five: the normal distribution's
 * 99.5 % and 80 %. */
#define DEVIATIONS (2.58 + 0.84)

struct tfs_blocks_plan tfs_trial_plan(uint32_t period)
{
	return (struct tfs_blocks_plan){.left_out = period > 2 ? period : 2,
		.counted = (TFS_TRIAL_BLOCK + period - 1) / period * period};
}

/* FNV-1a. */
uint32_t tfs_trial_seed(const char *name)
{
	uint32_t seed = UINT32_C(2166136261);

	for (; *name != '\0'; name++)
		seed = (seed ^ (unsigned char)*name) * UINT32_C(16777619);
	return seed;
}

/* The finish of MurmurHash3, of both together. */
bool tfs_trial_on_first(uint32_t seed, uint32_t pair)
{
	uint32_t bits = seed ^ (pair * UINT32_C(0x9e3779b9));

	bits = (bits ^ bits >> 16) * UINT32_C(0x85ebca6b);
	bits = (bits ^ bits >> 13) * UINT32_C(0xc2b2ae35);
	return ((bits ^ bits >> 16) & 1) != 0;
}

void tfs_trial_init(struct tfs_trial *trial, const char *name, uint32_t period, uint32_t most_steps)
{
	*trial = (struct tfs_trial){
		.plan = tfs_trial_plan(period),
		.most_steps = most_steps < TFS_TRIAL_STEPS ? most_steps : TFS_TRIAL_STEPS,
		.seed = tfs_trial_seed(name),
	};
}

void tfs_trial_resume(struct tfs_trial *trial, const double *gains, uint32_t pairs)
{
	memcpy(trial->gains, gains, pairs * sizeof(*gains));
	trial->pairs = pairs;
}

bool tfs_trial_on(const struct tfs_trial *trial)
{
	return tfs_trial_on_first(trial->seed, trial->pairs) != (trial->second != 0);
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

bool tfs_trial_differ(double one, double other, double factor)
{
	return one > 0 && other > 0 && (one > other * factor || other > one * factor);
}

double tfs_trial_sum(double *times, uint32_t count)
{
	const double most = TFS_TRIAL_CAP * tfs_trial_median(times, count);
	double sum = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += times[i] < most ? times[i] : most;
	return sum;
}

static void look(struct tfs_trial *trial, struct tfs_sign_flip *room)
{
	double large, small;

	tfs_sign_flip(trial->gains, trial->pairs, 0, room, &large, &small);
	if (large <= TFS_TRIAL_LEVEL)
		trial->outcome = TFS_OUTCOME_FASTER;
	else if (small <= TFS_TRIAL_LEVEL)
		trial->outcome = TFS_OUTCOME_SLOWER;
	else if (trial->pairs == TFS_TRIAL_PAIRS)
		trial->outcome = TFS_OUTCOME_NO_DIFFERENCE;
}

void tfs_trial_pair(struct tfs_trial *trial, double gain, struct tfs_sign_flip *room)
{
	if (trial->outcome != TFS_OUTCOME_UNDECIDED)
		return;
	trial->gains[trial->pairs++] = gain;
	if (trial->pairs >= TFS_TRIAL_FIRST_LOOK && (trial->pairs & (trial->pairs - 1)) == 0)
		look(trial, room);
}

void tfs_trial_step(struct tfs_trial *trial, double ns, struct tfs_sign_flip *room)
{
	const struct tfs_blocks_plan *plan = &trial->plan;

	if (tfs_trial_over(trial))
		return;
	trial->steps++;
	if (trial->step++ < plan->left_out)
		return;
	trial->times[trial->step - plan->left_out - 1] = ns;
	if (trial->step < plan->left_out + plan->counted)
		return;
	trial->sums[tfs_trial_on(trial)] = tfs_trial_sum(trial->times, plan->counted);
	trial->step = 0;
	trial->second ^= 1;
	if (trial->second == 0)
		tfs_trial_pair(trial, (trial->sums[0] - trial->sums[1]) / plan->counted, room);
}

void tfs_trial_interrupt(struct tfs_trial *trial)
{
	trial->step = 0;
}

bool tfs_trial_over(const struct tfs_trial *trial)
{
	return trial->outcome != TFS_OUTCOME_UNDECIDED || trial->steps >= trial->most_steps;
}

uint32_t tfs_trial_more_steps(const struct tfs_trial *trial)
{
	const uint32_t steps = 2 * (trial->plan.left_out + trial->plan.counted),
		       pairs = trial->pairs;
	uint32_t needed = TFS_TRIAL_FIRST_LOOK;
	double sum = 0, squares = 0;

	if (trial->outcome != TFS_OUTCOME_UNDECIDED || pairs < 2 || pairs >= TFS_TRIAL_PAIRS)
		return 0;
	for (uint32_t i = 0; i < pairs; i++)
		sum += trial->gains[i];
	for (uint32_t i = 0; i < pairs; i++)
		squares += (trial->gains[i] - sum / pairs) * (trial->gains[i] - sum / pairs);
	/* At 64 pairs it is over, whatever they show. */
	while (needed < TFS_TRIAL_PAIRS &&
		(needed <= pairs || needed * (sum / pairs) * (sum / pairs) <
					    DEVIATIONS * DEVIATIONS * squares / (pairs - 1)))
		needed *= 2;
	return (needed - pairs) * steps;
}

struct tfs_gain tfs_trial_gain(const struct tfs_trial *trial, struct tfs_sign_flip *room)
{
	struct tfs_gain gain = {NAN, NAN, NAN};
	double sum = 0;

	for (uint32_t i = 0; i < trial->pairs; i++)
		sum += trial->gains[i];
	if (tfs_sign_flip_interval(
		    trial->gains, trial->pairs, TFS_TRIAL_LEVEL, room, &gain.low, &gain.high))
		gain.middle = sum / trial->pairs;
	return gain;
}
