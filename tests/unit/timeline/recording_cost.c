/* SPDX-License-Identifier: MIT */
/* What recording costs, as an interval: how often it holds the truth, and that it is no gain. */
#include <stdlib.h>

#include "rules/timeline/recording_cost.h"

#include <math.h>

#include "tests/test.h"

#define RUNS 2000u

static uint32_t state = 12345;

static double uniform(void)
{
	state = state * UINT32_C(1664525) + UINT32_C(1013904223);
	return (state >> 8) / 16777216.0;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorted step times whose median is 100, some of which take much longer. */
static void draw(double *out, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const double at = uniform();

		out[i] = at < 0.5 ? 90 + 20 * at : 100 + (at - 0.5) * (at > 0.95 ? 400 : 20);
	}
	qsort(out, count, sizeof(*out), compare);
}

/* At least 97.5 % of the intervals hold the median, less what 2000 runs leave to chance. */
static void holds(size_t count)
{
	double values[256], low, high;
	unsigned held = 0;

	for (unsigned i = 0; i < RUNS; i++) {
		draw(values, count);
		TEST_NEED(tfs_median_interval(values, count, &low, &high));
		held += low <= 100 && 100 <= high;
	}
	if (!TEST_TRUE(held >= RUNS * 0.965))
		printf("  %zu values: %u of %u\n", count, held, RUNS);
}

static struct tfs_step_times times(uint64_t count, double low, double high)
{
	return (struct tfs_step_times){
		.count = count, .median_low_ns = low, .median_high_ns = high};
}

static void of_windows(void)
{
	struct tfs_timeline timeline = {
		.inside = times(50, 102, 104), .outside = times(500, 99, 100)};
	double low = -1, high = -1;

	TEST_TRUE(tfs_recording_cost(&timeline, &low, &high));
	TEST_IN(low, 0.0199, 0.0201);
	TEST_IN(high, 104.0 / 99 - 1.0001, 104.0 / 99 - 0.9999);
	/* No gain, whatever was measured. */
	timeline.inside = times(50, 95, 101);
	TEST_TRUE(tfs_recording_cost(&timeline, &low, &high));
	TEST_EQ(low, 0);
	TEST_IN(high, 101.0 / 99 - 1.0001, 101.0 / 99 - 0.9999);
	timeline.inside = times(50, 90, 95);
	TEST_TRUE(tfs_recording_cost(&timeline, &low, &high));
	TEST_EQ(low, 0);
	TEST_EQ(high, 0);
	timeline.outside = times(6, 99, 100);
	low = high = -1;
	TEST_TRUE(!tfs_recording_cost(&timeline, &low, &high));
	TEST_EQ(low, -1);
	TEST_EQ(high, -1);
}

/* What recording adds may all have been idle time of the device. */
static void of_idle_time(void)
{
	struct tfs_timeline timeline = {
		.inside = times(50, 120, 140), .outside = times(500, 99, 101)};
	double low = -1, high = -1;

	timeline.inside.median_ns = timeline.inside.trimmed_ns = 130;
	timeline.outside.median_ns = timeline.outside.trimmed_ns = 100;
	TEST_EQ(lround(tfs_recording_added_ns(&timeline, &low, &high)), 30);
	TEST_EQ(lround(low), 19);
	TEST_EQ(lround(high), 41);
	TEST_EQ(lround(tfs_recording_apart_ns(&timeline, 50)), 20);
	TEST_EQ(lround(tfs_recording_apart_ns(&timeline, 20)), 0);
	/* It makes nothing faster, and is nothing where it is not known. */
	timeline.inside.median_ns = 90;
	TEST_EQ(lround(tfs_recording_apart_ns(&timeline, 50)), 50);
	timeline.inside.median_ns = 130;
	timeline.outside.count = 6;
	TEST_EQ(lround(tfs_recording_apart_ns(&timeline, 50)), 50);
}

/* Every other step waits for a batch: inside as long as outside, but the medians are of either
 * kind. */
static void of_two_kinds(void)
{
	double inside[21], outside[101], low = -1, high = -1;
	struct tfs_timeline timeline = {.trace = NULL};

	for (unsigned i = 0; i < 21; i++)
		inside[i] = i % 2 ? 3 : 31;
	for (unsigned i = 0; i < 101; i++)
		outside[i] = i % 2 ? 31 : 3;
	timeline.inside = tfs_step_times_of(inside, 21);
	timeline.outside = tfs_step_times_of(outside, 101);
	TEST_EQ(lround(timeline.inside.median_ns), 31);
	TEST_EQ(lround(timeline.outside.median_ns), 3);
	TEST_EQ(lround(21 * timeline.inside.mean_ns), 11 * 31 + 10 * 3);
	TEST_IN(tfs_recording_added_ns(&timeline, &low, &high), 0, 1.5);
	TEST_EQ(lround(low), 0);
	TEST_EQ(lround(high), 28);
	/* Single ones of another kind are not looked at. */
	outside[99] = outside[100] = 1e6;
	timeline.outside = tfs_step_times_of(outside, 101);
	TEST_IN(timeline.outside.trimmed_ns, 3, 31);
}

int main(void)
{
	holds(7);
	holds(20);
	holds(50);
	holds(256);
	of_windows();
	of_idle_time();
	of_two_kinds();
	return test_result();
}
