/* SPDX-License-Identifier: MIT */
/* One question: its blocks, its coin, its looks, and what a period that was not seen does to it. */
#include "shim/rewrites/measure/trial.h"

#include <math.h>

#include "tests/test.h"

static struct tfs_sign_flip room;

static void check_plan(void)
{
	for (uint32_t period = 1; period <= TFS_PERIOD_MOST; period++) {
		const struct tfs_blocks_plan plan = tfs_trial_plan(period);

		TEST_TRUE(plan.counted >= 8 && plan.counted % period == 0);
		TEST_TRUE(plan.counted < 8 + period && plan.counted <= TFS_PERIOD_MOST);
		TEST_EQ(plan.left_out, period > 2 ? period : 2);
	}
}

/* A coin has no memory: each half of the pairs begins so and so about equally often, as do pairs
 * that follow each other. */
static void check_coin(void)
{
	unsigned first = 0, same = 0;

	for (uint32_t seed = 0; seed < 1000; seed++) {
		for (uint32_t pair = 0; pair + 1 < TFS_TRIAL_PAIRS; pair++) {
			const bool one = tfs_trial_on_first(seed * 7919, pair);

			first += one;
			same += one == tfs_trial_on_first(seed * 7919, pair + 1);
		}
	}
	TEST_IN(first / 63000.0, 0.49, 0.51);
	TEST_IN(same / 63000.0, 0.49, 0.51);
	TEST_TRUE(tfs_trial_seed("pinned-staging") != tfs_trial_seed("alloc-pool"));
}

/* Steps of 1000, `gain` less where it is on, the first two after a switch slower by 700. */
static void run(struct tfs_trial *trial, double gain, uint32_t steps)
{
	tfs_trial_init(trial, "some", 1, steps);
	while (!tfs_trial_over(trial)) {
		const double late = trial->step < 2 ? 700 : 0;

		tfs_trial_step(trial,
			1000 + late + trial->steps % 3 - (tfs_trial_on(trial) ? gain : 0), &room);
	}
}

static void check_looks(void)
{
	struct tfs_trial trial;

	run(&trial, 100, 4000);
	TEST_EQ(trial.outcome, TFS_OUTCOME_FASTER);
	TEST_EQ(trial.pairs, 8);
	TEST_EQ(trial.steps, 160);
	const struct tfs_gain gain = tfs_trial_gain(&trial, &room);
	TEST_IN(gain.middle, 99, 101);
	TEST_TRUE(gain.low > 98 && gain.high < 102);
	run(&trial, -100, 4000);
	TEST_EQ(trial.outcome, TFS_OUTCOME_SLOWER);
	run(&trial, 0, 4000);
	TEST_EQ(trial.outcome, TFS_OUTCOME_NO_DIFFERENCE);
	TEST_EQ(trial.pairs, 64);
	run(&trial, 100, 159);
	TEST_EQ(trial.outcome, TFS_OUTCOME_UNDECIDED);
	TEST_EQ(trial.pairs, 7);
	TEST_TRUE(isnan(tfs_trial_gain(&trial, &room).middle));
	run(&trial, 0, 1000000);
	TEST_TRUE(trial.steps <= TFS_TRIAL_STEPS);
	/* No other looks: nine good pairs say nothing before there are 16. */
	tfs_trial_init(&trial, "some", 1, 4000);
	tfs_trial_pair(&trial, -1, &room);
	for (uint32_t i = 1; i < 16; i++) {
		TEST_EQ(trial.outcome, TFS_OUTCOME_UNDECIDED);
		tfs_trial_pair(&trial, 50 + i, &room);
	}
	TEST_EQ(trial.outcome, TFS_OUTCOME_FASTER);
}

/* The next run goes on where this one stopped. */
static void check_resumed(void)
{
	struct tfs_trial begun, trial;

	run(&begun, 100, 100);
	TEST_EQ(begun.pairs, 5);
	tfs_trial_init(&trial, "some", 1, 4000);
	tfs_trial_resume(&trial, begun.gains, begun.pairs);
	while (!tfs_trial_over(&trial))
		tfs_trial_step(&trial, tfs_trial_on(&trial) ? 900 : 1000 + trial.steps % 2, &room);
	TEST_EQ(trial.outcome, TFS_OUTCOME_FASTER);
	TEST_EQ(trial.steps, 60);
}

static void check_interruption(void)
{
	struct tfs_trial trial;

	tfs_trial_init(&trial, "some", 1, 4000);
	for (int i = 0; !tfs_trial_over(&trial); i++) {
		tfs_trial_step(&trial, 1000, &room);
		if (i % 9 == 8)
			tfs_trial_interrupt(&trial);
	}
	TEST_EQ(trial.steps, 4000);
	TEST_EQ(trial.pairs, 0);
	/* An evaluation every 24 steps costs a few blocks. */
	tfs_trial_init(&trial, "some", 1, 4000);
	for (int i = 0; !tfs_trial_over(&trial); i++) {
		tfs_trial_step(&trial, tfs_trial_on(&trial) ? 900 : 1000, &room);
		if (i % 24 == 23)
			tfs_trial_interrupt(&trial);
	}
	TEST_EQ(trial.outcome, TFS_OUTCOME_FASTER);
	/* What takes a hundred times as long counts three times. */
	double times[8] = {10, 10, 1000, 10, 10, 10, 10, 10};
	TEST_EQ(tfs_trial_sum(times, 8), 100);
}

static uint64_t seed = 1;

static double noise(void)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(seed >> 40) / (double)(1 << 24) - 0.5;
}

/* Steps with a period of 8 or 20, taken for ones without: the coin keeps a nothing from winning. */
static void check_missed_period(uint32_t period)
{
	unsigned kept = 0;
	char name[16];

	for (uint32_t i = 0; i < 2000; i++) {
		struct tfs_trial trial;

		snprintf(name, sizeof(name), "rewrite-%u", i);
		tfs_trial_init(&trial, name, 1, 4000);
		for (uint32_t step = i; !tfs_trial_over(&trial); step++)
			tfs_trial_step(
				&trial, 1000 + (step % period < 3 ? 500 : 0) + 50 * noise(), &room);
		kept += trial.outcome == TFS_OUTCOME_FASTER;
	}
	printf("a nothing was kept %u times of 2000, its period of %u not seen\n", kept, period);
	TEST_TRUE(kept <= 60);
}

/* How many more steps an undecided question is said to need: enough of them in most cases, and not
 * far more; where the gain is small, as many as end it. */
static void check_more_steps(void)
{
	const double gains[] = {30, 10, 50, -10, 20, 40, 0, 20, 30, 10};
	struct tfs_trial trial = {.plan = tfs_trial_plan(1)};
	unsigned decided = 0, asked = 0;

	/* 20 on average, with a deviation of 18: (3.42 * 18 / 20)^2 is 9.6 pairs, so by 16 of them.
	 */
	tfs_trial_resume(&trial, gains, 10);
	TEST_EQ(tfs_trial_more_steps(&trial), 6 * 2 * 10);
	/* A hundredth of that would take 96,000 pairs: by 64 it is over. */
	for (int i = 0; i < 10; i++)
		trial.gains[i] = gains[i] - 19.8;
	TEST_EQ(tfs_trial_more_steps(&trial), 54 * 2 * 10);
	trial.pairs = 1;
	TEST_EQ(tfs_trial_more_steps(&trial), 0);
	trial.pairs = 10;
	trial.outcome = TFS_OUTCOME_FASTER;
	TEST_EQ(tfs_trial_more_steps(&trial), 0);
	for (uint32_t i = 0; i < 500; i++) {
		struct tfs_trial one = {.plan = tfs_trial_plan(1)};
		uint32_t more;

		while (one.pairs < 10 && one.outcome == TFS_OUTCOME_UNDECIDED)
			tfs_trial_pair(&one, 20 + 90 * noise(), &room);
		more = tfs_trial_more_steps(&one) / 20;
		if (!more || one.pairs + more == TFS_TRIAL_PAIRS)
			continue;
		asked++;
		while (more--)
			tfs_trial_pair(&one, 20 + 90 * noise(), &room);
		decided += one.outcome != TFS_OUTCOME_UNDECIDED;
	}
	printf("%u of %u undecided questions were decided by the steps foretold\n", decided, asked);
	TEST_TRUE(asked > 100 && decided * 10 >= asked * 8);
}

static void check_periods(void)
{
	double times[TFS_PERIOD_STEPS];

	for (uint32_t period = 1; period <= TFS_PERIOD_MOST; period++) {
		for (uint32_t i = 0; i < TFS_PERIOD_STEPS; i++)
			times[i] = 1000 + (i % period < (period + 3) / 4 ? 400 : 0) + 50 * noise() +
				   (i == 50 ? 9000 : 0);
		TEST_EQ(tfs_period_find(times), period);
	}
	for (uint32_t i = 0; i < TFS_PERIOD_STEPS; i++)
		times[i] = 1000 + i;
	TEST_EQ(tfs_period_find(times), 1);
	for (uint32_t i = 0; i < TFS_PERIOD_STEPS; i++)
		times[i] = 0;
	TEST_EQ(tfs_period_find(times), 1);
}

int main(void)
{
	check_plan();
	check_coin();
	check_looks();
	check_resumed();
	check_interruption();
	check_missed_period(8);
	check_missed_period(20);
	check_more_steps();
	check_periods();
	return test_result();
}
