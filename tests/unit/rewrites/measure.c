/* SPDX-License-Identifier: MIT */
/* Several rewrites: each is measured alone, those that won are on from then; a change of the steps
 * asks anew, and the next run goes on. */
#include "shim/rewrites/measure.h"

#include <math.h>

#include "tests/test.h"
#include "tests/unit/rewrites/made_up_rewrites.h"

static double gains[REWRITES]; /* of a rewrite that is on, in ns per step */
static double loss_together;   /* of the first three */
static uint64_t moved = 1000;  /* bytes, by each step */
static uint32_t seen_on;       /* since it was cleared */
static uint32_t absent;        /* rewrites that take no part */

/* Runs `steps` steps of about `base` ns. */
static void run(unsigned steps, double base)
{
	for (unsigned step = 0; step < steps; step++) {
		double ns = base + step * 7 % 3;

		for (uint32_t i = 0; i < REWRITES; i++) {
			if ((tfs_measure_on >> i & 1) == 0 || (absent >> i & 1) != 0)
				continue;
			applied[i]++;
			ns -= gains[i];
		}
		if ((tfs_measure_on & 7) == 7)
			ns += loss_together;
		seen_on |= tfs_measure_on & 63;
		tfs_measure_step((uint64_t)ns, moved + step % 5);
	}
}

#define BEFORE (8 + 128) /* steps before the first question */
#define DECIDES 160      /* steps of a clear one */
#define DENIES 1280      /* of one that is in vain */

static enum tfs_outcome outcome(uint32_t i)
{
	struct tfs_measured measured;

	tfs_measure_result(i, &measured);
	return measured.outcome;
}

/* 0 and 1 win, 2 loses: it is never on but for its own question. */
static void check_three(void)
{
	struct tfs_measured measured;

	gains[0] = 500, gains[1] = 300, gains[2] = -200;
	tfs_measure_start(7);
	TEST_EQ(tfs_measure_on & 7, 7);
	run(8, 10000);
	TEST_EQ(tfs_measure_on & 7, 0);
	run(128, 10000);
	seen_on = 0;
	run(DECIDES, 10000);
	TEST_EQ(seen_on & 7, 1);
	TEST_EQ(decided, 1);
	seen_on = 0;
	run(1, 10000);
	TEST_TRUE((seen_on & 1) != 0);
	run(DECIDES - 1, 10000);
	TEST_EQ(seen_on & 7, 3);
	run(DECIDES, 10000);
	TEST_EQ(decided, 7);
	TEST_EQ(tfs_measure_on & 7, 3);
	TEST_EQ(tfs_measure_against & 7, 4);
	TEST_EQ(outcome(0), TFS_OUTCOME_FASTER);
	TEST_EQ(outcome(1), TFS_OUTCOME_FASTER);
	TEST_EQ(outcome(2), TFS_OUTCOME_SLOWER);
	tfs_measure_result(0, &measured);
	TEST_IN(measured.gain.middle, 495, 505);
	TEST_EQ(measured.reason.code, TFS_REASON_faster);
	TEST_EQ(measured.reason.numbers[0], 8);
	TEST_EQ(measured.reason.numbers[1], 8);
	TEST_EQ(measured.reason.numbers[3], 0);
	/* Nothing changes: nothing is asked again. */
	decided = 0;
	run(1000, 10000);
	TEST_EQ(decided, 0);
	TEST_EQ(tfs_measure_on & 7, 3);
}

/* The steps change. Alone all three win, but the third not beside the others. */
static void check_changed(void)
{
	struct tfs_measured measured;

	gains[2] = 700;
	loss_together = 5000;
	run(32 + 64 + BEFORE + 3 * DECIDES, 20000);
	TEST_EQ(decided, 7);
	TEST_EQ(tfs_measure_on & 7, 3);
	TEST_EQ(outcome(2), TFS_OUTCOME_SLOWER);
	tfs_measure_result(0, &measured);
	TEST_EQ(measured.reason.code, TFS_REASON_faster);
	TEST_EQ(measured.reason.numbers[3], 1);
	loss_together = 0;
	/* Other shapes, in the same time. */
	decided = 0;
	moved = 1500;
	run(32 + 64 + BEFORE + 3 * DECIDES, 20000);
	TEST_EQ(decided, 7);
	TEST_EQ(tfs_measure_on & 7, 7);
}

/* The next run goes by what the file says, and goes on with what is not decided. */
static void check_next_run(void)
{
	struct tfs_measured measured;

	tfs_measure_keep();
	TEST_EQ(file_count, 3);
	memset(applied, 0, sizeof(applied));
	tfs_measure_start(15);
	TEST_EQ(tfs_measure_on & 15, 15);
	gains[3] = 0;
	run(BEFORE + 100, 20000);
	tfs_measure_result(0, &measured);
	TEST_EQ(measured.reason.numbers[0], 8);
	TEST_EQ(measured.reason.numbers[4], 1);
	TEST_EQ(outcome(3), TFS_OUTCOME_UNDECIDED);
	TEST_TRUE((tfs_measure_on & 7) == 7);
	for (int runs = 0; runs < 40 && outcome(3) == TFS_OUTCOME_UNDECIDED; runs++) {
		tfs_measure_keep();
		TEST_EQ(file_count, 4);
		tfs_measure_start(15);
		run(8 + 50, 20000);
	}
	TEST_EQ(outcome(3), TFS_OUTCOME_NO_DIFFERENCE);
	TEST_EQ(tfs_measure_on & 15, 7);
	/* Steps of another kind: what was found of others does not hold. */
	tfs_measure_keep();
	tfs_measure_start(15);
	TEST_EQ(tfs_measure_on & 15, 7);
	run(8, 90000);
	TEST_EQ(tfs_measure_on & 15, 7);
	seen_on = 0;
	run(64 + 8, 90000);
	TEST_EQ(seen_on & 15, 15);
	TEST_EQ(tfs_measure_on & 15, 0);
	run(BEFORE + 3 * DECIDES + DENIES, 90000);
	TEST_EQ(tfs_measure_on & 15, 7);
}

/* Undecided: off for the rest of the run. */
static void check_few_steps(void)
{
	struct tfs_measured measured;

	file_count = 0;
	tfs_options.measure = 100;
	tfs_measure_start(1);
	tfs_measure_result(0, &measured);
	TEST_TRUE(!measured.asked);
	run(BEFORE - 1, 10000);
	tfs_measure_result(0, &measured);
	TEST_TRUE(measured.asked && measured.outcome == TFS_OUTCOME_UNDECIDED);
	run(1 + 100, 10000);
	TEST_EQ(outcome(0), TFS_OUTCOME_UNDECIDED);
	TEST_EQ(tfs_measure_on & 1, 0);
	seen_on = 0;
	run(1000, 10000);
	TEST_EQ(seen_on & 1, 0);
	tfs_options.measure = 4000;
}

/* What took part before, but not in these steps, is not asked about; once it does, it is. */
static void check_absent(void)
{
	struct tfs_measured measured;

	file_count = 0;
	decided = 0;
	gains[0] = 500, gains[1] = 300;
	absent = 2;
	applied[1] = 7;
	tfs_measure_start(3);
	run(BEFORE + 2 * DECIDES, 10000);
	TEST_EQ(decided, 1);
	tfs_measure_result(1, &measured);
	TEST_TRUE(!measured.asked);
	absent = 0;
	run(32 + BEFORE + DECIDES, 10000);
	TEST_EQ(decided, 3);
	TEST_EQ(outcome(1), TFS_OUTCOME_FASTER);
}

/* What the program does between steps is in no block that is counted: without a whole block nothing
 * is decided. */
static void check_interrupted(void)
{
	file_count = 0;
	decided = 0;
	tfs_measure_start(1);
	run(BEFORE, 10000);
	for (unsigned i = 0; i < 2 * DECIDES / 9; i++) {
		run(9, 10000);
		tfs_measure_interrupt();
	}
	TEST_EQ(decided, 0);
	run(DECIDES, 10000);
	TEST_EQ(decided, 1);
	TEST_EQ(outcome(0), TFS_OUTCOME_FASTER);
}

/* One whose own model sees no gain is not on to be seen, neither at first nor later; one that gives
 * up is off. */
static void check_predicted(void)
{
	file_count = 0;
	predicted_loss[1] = 1;
	absent = 2;
	tfs_measure_start(7);
	TEST_EQ(tfs_measure_on & 7, 5);
	TEST_EQ(tfs_measure_against & 7, 2);
	run(BEFORE + DECIDES, 10000);
	TEST_EQ(tfs_measure_against & 7, 0);
	run(DENIES, 10000);
	TEST_EQ(tfs_measure_on & 7, 5);
	predicted_loss[1] = 0;
	absent = 0;
	tfs_measure_start(7);
	tfs_measure_give_up(2);
	TEST_EQ(tfs_measure_on & 7, 3);
	TEST_EQ(tfs_measure_against & 7, 4);
}

/* What an earlier run began is gone on with where steps take as long as then, and not else. */
static void check_begun(void)
{
	struct tfs_measured measured;

	file_count = 0;
	tfs_measure_start(1);
	run(BEFORE + 100, 10000);
	tfs_measure_keep();
	TEST_EQ(file_count, 1);
	tfs_measure_start(1);
	run(8, 15000);
	tfs_measure_result(0, &measured);
	TEST_EQ(measured.reason.numbers[0], 5);
	tfs_measure_start(1);
	run(8, 25000);
	tfs_measure_result(0, &measured);
	TEST_EQ(measured.reason.numbers[0], 0);
	run(128, 25000);
	TEST_EQ(outcome(0), TFS_OUTCOME_UNDECIDED);
	run(DECIDES, 25000);
	TEST_EQ(outcome(0), TFS_OUTCOME_FASTER);
}

/* The next run takes the steps with what has won for the usual ones, not those without it. */
static void check_usual(void)
{
	file_count = 0;
	gains[0] = 5000, gains[1] = 300, gains[2] = 700;
	tfs_measure_start(1);
	run(BEFORE + DECIDES, 10000);
	TEST_EQ(outcome(0), TFS_OUTCOME_FASTER);
	tfs_measure_keep();
	run(32, 10000);
	tfs_measure_keep();
	TEST_IN(file[0].step_ns, 4000, 4002);
	TEST_IN(file[0].step_bytes, moved, moved + 5);
	decided = 0;
	tfs_measure_start(1);
	run(8 + 2 * 32 + BEFORE + DECIDES, 10000);
	TEST_EQ(decided, 0);
	TEST_EQ(tfs_measure_on & 1, 1);
	gains[0] = 500;
}

/* Steps that change for ever are not measured for ever. */
static void check_rounds(void)
{
	unsigned rounds = 0;

	file_count = 0;
	tfs_measure_start(1);
	for (unsigned i = 0; i < 20; i++) {
		decided = 0;
		run(32 + 64 + BEFORE + DECIDES, i % 2 == 0 ? 10000 : 20000);
		rounds += decided;
	}
	TEST_EQ(rounds, 8);
	TEST_EQ(tfs_measure_on & 1, 1);
}

int main(void)
{
	check_three();
	check_changed();
	check_next_run();
	check_absent();
	check_few_steps();
	check_interrupted();
	check_predicted();
	check_begun();
	check_usual();
	check_rounds();
	/* NCCL says only now that there are several ranks. */
	TEST_EQ(planned, 0);
	tfs_options.ranks = 4;
	run(1, 10000);
	TEST_EQ(planned, 1);
	return test_result();
}
