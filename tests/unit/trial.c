/* SPDX-License-Identifier: MIT */
/* The measurement of a rewrite: balanced blocks, a robust estimate, the exact interval. */
#include "rules/rewrites/trial.h"

#include <math.h>

#include "tests/test.h"

static uint64_t seed = 1;

static double noise(void)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(seed >> 40) / (double)(1 << 24);
}

/* Steps of 1000 ns, with `gain` less in blocks with; one block in five is disturbed. */
static struct tfs_gain run(double gain, double spread, double drift, bool disturbed)
{
	struct tfs_trial trial;
	struct tfs_gain out;
	double base = 1000;

	tfs_trial_init(&trial, 200);
	while (!tfs_trial_over(&trial)) {
		const double extra = disturbed && trial.block % 10 == 3 ? 5000 : 0;
		const double late = trial.step < 2 ? 700 : 0; /* warm-up of the block */

		tfs_trial_step(&trial, base + late + extra + spread * (noise() - 0.5) -
					       (tfs_trial_on(&trial) ? gain : 0));
		base += drift;
	}
	TEST_TRUE(tfs_trial_gain(&trial, &out));
	return out;
}

/* Every so many steps something else comes in between. */
static void check_evaluations(uint32_t steps)
{
	struct tfs_trial trial;
	struct tfs_gain gain;

	tfs_trial_init(&trial, steps);
	for (unsigned i = 1; !tfs_trial_over(&trial); i++) {
		tfs_trial_step(&trial, 1000);
		if (i % 24 == 0)
			tfs_trial_interrupt(&trial);
	}
	TEST_TRUE(tfs_trial_gain(&trial, &gain));
}

static void check_plan(void)
{
	struct tfs_trial trial;
	int balance = 0;

	tfs_trial_init(&trial, 200);
	TEST_EQ(trial.blocks, 24);
	TEST_EQ(trial.block_steps, 8);
	for (uint32_t i = 0; i < 24; i++) {
		trial.block = i;
		balance += tfs_trial_on(&trial) ? 1 : -1;
		TEST_IN(balance, -1, 1);
	}
	TEST_EQ(balance, 0);
	for (uint32_t steps = 40; steps <= 200; steps++) {
		tfs_trial_init(&trial, steps);
		TEST_TRUE(trial.blocks >= 8);
		TEST_TRUE(trial.blocks * trial.block_steps <= steps);
		if (steps >= TFS_TRIAL_STEPS)
			check_evaluations(steps);
	}
}

static void check_estimates(void)
{
	struct tfs_gain gain = run(100, 40, 0, false);

	TEST_IN(gain.middle, 90, 110);
	TEST_TRUE(gain.low > 0 && gain.low < gain.middle && gain.high > gain.middle);
	gain = run(100, 40, 0, true);
	TEST_IN(gain.middle, 90, 110);
	TEST_TRUE(gain.low > 0);
	gain = run(-100, 40, 0, false);
	TEST_TRUE(gain.high < 0);
	/* Steps that grow slower and slower are no gain and no loss. */
	gain = run(0, 40, 1, false);
	TEST_TRUE(gain.low <= 0 && gain.high >= 0);
}

/* Without any gain "it gains" may be said in 2.5 % of all cases. */
static void check_error_rate(void)
{
	unsigned wrong = 0;

	for (int i = 0; i < 2000; i++)
		wrong += run(0, 40, 0, false).low > 0;
	TEST_IN(wrong, 10, 65);
}

/* The interval holds the gain in 95 % of all cases, also with few blocks and now and then a step
 * that takes many times as long. */
static void check_coverage(uint32_t steps)
{
	struct tfs_trial trial;
	struct tfs_gain gain;
	unsigned held = 0;

	for (int i = 0; i < 2000; i++) {
		tfs_trial_init(&trial, steps);
		while (!tfs_trial_over(&trial)) {
			const double extra = noise() < 0.05 ? 3000 * noise() : 0;

			tfs_trial_step(&trial,
				1000 + extra + 300 * noise() - (tfs_trial_on(&trial) ? 100 : 0));
		}
		TEST_TRUE(tfs_trial_gain(&trial, &gain));
		held += gain.low <= 100 && 100 <= gain.high;
	}
	TEST_IN(held, 1885, 1990);
}

/* Tables of the Wilcoxon rank-sum test: at 4 and 4 only the extremes may be cut, nothing more. */
static void check_interval(void)
{
	struct tfs_trial trial;
	struct tfs_gain gain;

	tfs_trial_init(&trial, 50);
	TEST_EQ(trial.blocks, 8);
	for (uint32_t i = 0; i < 3; i++)
		trial.medians[0][i] = 10 + i, trial.medians[1][i] = i;
	trial.counts[0] = trial.counts[1] = 3;
	TEST_TRUE(!tfs_trial_gain(&trial, &gain) && isnan(gain.middle));
	trial.medians[0][3] = 13;
	trial.medians[1][3] = 3;
	trial.counts[0] = trial.counts[1] = 4;
	TEST_TRUE(tfs_trial_gain(&trial, &gain));
	TEST_EQ(gain.middle, 10);
	TEST_EQ(gain.low, 7);
	TEST_EQ(gain.high, 13);
	/* 12 and 12: U <= 37 has at most 2.5 %, so the 38th of the 144 differences. */
	tfs_trial_init(&trial, 200);
	for (uint32_t i = 0; i < 12; i++)
		trial.medians[0][i] = 100 * (i + 1), trial.medians[1][i] = i;
	trial.counts[0] = trial.counts[1] = 12;
	TEST_TRUE(tfs_trial_gain(&trial, &gain));
	/* The differences are 100 a - b; sorted they come by a, then by b downwards. */
	TEST_EQ(gain.low, 400 - 10);
}

static void check_interruption(void)
{
	struct tfs_trial trial;
	struct tfs_gain gain;

	tfs_trial_init(&trial, 200);
	for (int i = 0; !tfs_trial_over(&trial); i++) {
		tfs_trial_step(&trial, 1000);
		if (i % 5 == 4)
			tfs_trial_interrupt(&trial);
	}
	TEST_EQ(trial.steps, 200);
	TEST_EQ(trial.block, 0);
	TEST_TRUE(!tfs_trial_gain(&trial, &gain));
}

int main(void)
{
	check_plan();
	check_estimates();
	check_error_rate();
	check_coverage(50);
	check_coverage(66);
	check_coverage(200);
	check_interval();
	check_interruption();
	return test_result();
}
