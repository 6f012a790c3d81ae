/* SPDX-License-Identifier: MIT */
/* Which steps of several windows are judged. */
#include "rules/timeline/timeline_shares.h"

#include "tests/test.h"

#define MOST 4000u
#define WINDOWS 64u

static struct tfs_step steps[MOST];
static uint32_t judged[MOST];
static uint32_t count;
static uint32_t window;
static uint32_t kept_of[WINDOWS];

static void start(void)
{
	count = window = 0;
}

static void put(uint64_t first, uint32_t number)
{
	for (uint32_t i = 0; i < number; i++, count++) {
		steps[count] = (struct tfs_step){.index = first + i, .window = window};
		judged[count] = count;
	}
	window++;
}

static uint32_t take(uint64_t first, uint64_t last)
{
	const struct tfs_run_steps run = {first, last};
	const int64_t kept = tfs_timeline_shares(steps, judged, count, &run);

	TEST_TRUE(kept > 0 && kept <= count);
	for (uint32_t i = 0; i < WINDOWS; i++)
		kept_of[i] = 0;
	for (uint32_t i = 0; i < kept; i++) {
		TEST_TRUE(!i || judged[i] > judged[i - 1]);
		kept_of[steps[judged[i]].window]++;
	}
	return (uint32_t)kept;
}

/* One window is judged as a whole, and so are windows that follow each other. */
static void check_one(void)
{
	start();
	put(1, 1000);
	TEST_EQ(take(1, 1000000), 1000);
	start();
	put(1, 20);
	put(21, 30);
	TEST_EQ(take(1, 1000000), 50);
}

/* Steps 500 to 519 stand for 275 to 1000, or 72 %, and are all there are of it; the others for the
 * rest. */
static void check_two(void)
{
	start();
	put(1, 50);
	put(500, 20);
	TEST_EQ(take(1, 1000), 36);
	TEST_EQ(kept_of[0], 16);
	TEST_EQ(kept_of[1], 20);
	/* The window's last ones. */
	TEST_EQ(steps[judged[0]].index, 35);
	TEST_EQ(steps[judged[15]].index, 50);
	TEST_EQ(steps[judged[16]].index, 500);
}

/* A window of three stands for most of the run: as few steps are not all there is to judge. */
static void check_short(void)
{
	start();
	put(1, 50);
	put(500, 3);
	put(1000, 3);
	put(2000, 3);
	put(4000, 3);
	TEST_EQ(take(1, 5000), 20);
	TEST_EQ(kept_of[4], 3);
	TEST_EQ(kept_of[3], 3);
	/* The first one's latest. */
	TEST_EQ(kept_of[0], 20 - kept_of[1] - kept_of[2] - 6);
	TEST_EQ(steps[judged[kept_of[0] - 1]].index, 50);
	/* All that there is. */
	start();
	put(1, 5);
	put(900, 5);
	TEST_EQ(take(1, 1000), 10);
}

/* What began at half of a long run is a great part of the evidence, and what was over after a
 * twentieth is none. */
static void check_long(void)
{
	uint32_t late = 0, kept;

	start();
	put(1, 50);
	for (uint64_t at = 500; at < 1000000; at *= 2)
		put(at, 20);
	kept = take(1, 1000000);
	TEST_IN(kept, 35, 60);
	for (uint32_t i = 0; i < kept; i++) {
		late += steps[judged[i]].index >= 500000;
		TEST_TRUE(steps[judged[i]].index > 2000);
	}
	TEST_EQ(kept_of[window - 1], 20);
	TEST_IN((double)late / kept, 0.35, 0.65);
	for (uint32_t i = 0; i < window; i++)
		TEST_TRUE(!kept_of[i] || kept_of[i] >= 3);
}

/* Windows every ten minutes weigh the same, however many there are. */
static void check_many(void)
{
	start();
	put(1, 50);
	for (uint32_t i = 1; i < 48; i++)
		put(i * 10000, 20);
	TEST_IN(take(1, 480000), 5 * 47, 240);
	/* Of the first one's share fewer than three would be left: it is the second one's. */
	TEST_EQ(kept_of[0], 0);
	TEST_EQ(kept_of[1], 7);
	for (uint32_t i = 2; i < 47; i++)
		TEST_EQ(kept_of[i], 5);
	TEST_IN(kept_of[47], 5, 8);
}

/* The end of a run may be all that a window saw. */
static void check_cut(void)
{
	start();
	put(1, 50);
	put(500, 20);
	put(1000, 1);
	TEST_IN(take(1, 1000), 33, 40);
	TEST_EQ(kept_of[2], 1);
	/* Of a run whose first steps turned out to be none. */
	start();
	put(10001, 50);
	put(10500, 20);
	TEST_EQ(take(10001, 11000), 36);
}

int main(void)
{
	check_one();
	check_two();
	check_short();
	check_long();
	check_many();
	check_cut();
	return test_result();
}
