/* SPDX-License-Identifier: MIT */
/* Several rewrites: each is measured alone, the winners together; a change of the steps asks anew.
 * The rewrites are made up: what they take part in and what they gain stands in a table. */
#include "rules/rewrites/measure.h"

#include <math.h>
#include <string.h>

#include "rules/rewrites/measure_ranks.h"
#include "rules/rewrites/rewrite.h"
#include "shim/env.h"
#include "shim/steps.h"
#include "tests/test.h"

struct tfs_options tfs_options = {.measure = 200, .ranks = 1};

/* With several ranks, all of this is decided elsewhere. */
static uint32_t planned;

void tfs_measure_ranks_start(uint32_t switchable)
{
	planned = switchable;
}

bool tfs_measure_ranks_verdict(uint32_t i, struct tfs_ranked_verdict *out_verdict)
{
	(void)i, (void)out_verdict;
	return false;
}

uint32_t tfs_measure_ranks_mask(uint64_t step, uint32_t trusted)
{
	(void)step;
	return trusted;
}

bool tfs_measure_ranks_begun(uint64_t step)
{
	return step > 0;
}

uint64_t tfs_steps_count(void)
{
	return 0;
}

static uint64_t applied[32];
#define REWRITES 6u
static double gains[REWRITES]; /* of a rewrite that is on, in ns per step */
static double loss_together;
static unsigned decided;
static uint64_t moved = 1000; /* bytes, by each step */

uint64_t tfs_rewrite_applied(uint32_t i)
{
	return applied[i];
}

double tfs_rewrite_predicted(uint32_t i)
{
	(void)i;
	return 1;
}

void tfs_rewrite_decided(uint32_t i)
{
	decided |= 1u << i;
}

/* Runs `steps` steps of about `base` ns. */
static void run(unsigned steps, double base)
{
	for (unsigned step = 0; step < steps; step++) {
		double ns = base + step % 3;

		for (uint32_t i = 0; i < REWRITES; i++) {
			if ((tfs_measure_on >> i & 1) == 0)
				continue;
			applied[i]++;
			ns -= gains[i];
		}
		if ((tfs_measure_on & 7) == 7)
			ns += loss_together;
		tfs_measure_step((uint64_t)ns, moved + step % 5);
	}
}

static enum tfs_verdict verdict(uint32_t i)
{
	struct tfs_measured measured;

	tfs_measure_result(i, 1, &measured);
	return measured.verdict;
}

/* More than one question's steps are enough for: it takes two, and the second one leaves off what
 * lost in the first. */
static void check_many(void)
{
	struct tfs_measured measured;

	for (uint32_t i = 0; i < REWRITES; i++)
		gains[i] = 100 * (i + 1);
	gains[1] = -200;
	loss_together = 0;
	decided = 0;
	tfs_measure_start((1u << REWRITES) - 1);
	run(8 + 4 * 40 + 4, 10000);
	TEST_EQ(decided, 7);
	TEST_EQ(tfs_measure_on & 63, 63 - 2);
	run(32 + 8 + 30, 10000);
	TEST_EQ(tfs_measure_on & 7, 7 - 2);
	run(200, 10000);
	TEST_EQ(decided, 63);
	TEST_EQ(tfs_measure_on & 63, 63 - 2);
	for (uint32_t i = 0; i < REWRITES; i++)
		TEST_EQ(verdict(i), i == 1 ? TFS_VERDICT_LOST : TFS_VERDICT_WON);
	tfs_measure_result(5, 1, &measured);
	TEST_IN(measured.gain.middle, 595, 605);
	TEST_TRUE(strstr(measured.reason, "asked again") == NULL);
	decided = 0;
	run(1000, 10000);
	TEST_EQ(decided, 0);
	/* Other shapes, in the same time. */
	moved = 1500;
	gains[1] = 300;
	run(3 * 32 + 2 * (8 + 200) + 32, 10000);
	TEST_EQ(decided, 63);
	TEST_EQ(tfs_measure_on & 63, 63);
	tfs_measure_result(1, 1, &measured);
	TEST_TRUE(strstr(measured.reason, "asked again") != NULL);
}

int main(void)
{
	struct tfs_measured measured;

	/* 0 and 1 win, 2 loses. */
	gains[0] = 500, gains[1] = 300, gains[2] = -200;
	tfs_measure_start(7);
	TEST_EQ(tfs_measure_on & 7, 7);
	run(8 + 200, 10000);
	TEST_EQ(decided, 7);
	TEST_EQ(tfs_measure_on & 7, 3);
	TEST_EQ(verdict(0), TFS_VERDICT_WON);
	TEST_EQ(verdict(1), TFS_VERDICT_WON);
	TEST_EQ(verdict(2), TFS_VERDICT_LOST);
	tfs_measure_result(0, 1, &measured);
	TEST_IN(measured.gain.middle, 495, 505);
	TEST_TRUE(measured.gain.low <= measured.gain.middle);

	/* Nothing changes: nothing is asked again. */
	decided = 0;
	run(1000, 10000);
	TEST_EQ(decided, 0);
	TEST_EQ(tfs_measure_on & 7, 3);

	/* The steps change, and now all three win alone; together they lose, so the best stays. */
	gains[2] = 700;
	loss_together = 5000;
	run(600, 20000);
	TEST_EQ(decided, 7);
	TEST_EQ(tfs_measure_on & 7, 4);
	TEST_EQ(verdict(0), TFS_VERDICT_LOST);
	TEST_EQ(verdict(2), TFS_VERDICT_WON);
	tfs_measure_result(0, 1, &measured);
	TEST_STR(measured.reason, "wins alone, but not together with the others: off");
	check_many();
	/* NCCL says only now that there are several ranks. */
	TEST_EQ(planned, 0);
	tfs_options.ranks = 4;
	run(1, 10000);
	TEST_EQ(planned, 63);
	return test_result();
}
