/* SPDX-License-Identifier: MIT */
/* The test by flipped signs: its chances, its interval. */
#include <math.h>

#include "shim/rewrites/measure/sign_flip.h"

#include "tests/test.h"

static struct tfs_sign_flip room;

/* Of 2^n ways to set the signs one is as good as the best. */
static void check_extremes(void)
{
	double values[TFS_SIGN_FLIP_MOST], large, small, ways = 1;

	for (uint32_t n = 1; n <= TFS_SIGN_FLIP_MOST; n++) {
		ways *= 2;
		values[n - 1] = 10 + n % 7;
		tfs_sign_flip(values, n, 0, &room, &large, &small);
		TEST_IN(large * ways, 0.999, 1.001);
		TEST_IN(small, 0.999, 1.001);
		tfs_sign_flip(values, n, 1000, &room, &large, &small);
		TEST_IN(small * ways, 0.999, 1.001);
	}
}

/* Every way to set the signs, counted. */
static void check_counted(void)
{
	const double values[] = {5, -3, 8, 1, -2, 9, 4, -6, 7, 3};
	const uint32_t n = sizeof(values) / sizeof(values[0]);
	double sum = 0, large, small;
	uint32_t as_large = 0, as_small = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += values[i];
	for (uint32_t signs = 0; signs < 1u << n; signs++) {
		double other = 0;

		for (uint32_t i = 0; i < n; i++)
			other += (signs >> i & 1) != 0 ? values[i] : -values[i];
		as_large += other >= sum;
		as_small += other <= sum;
	}
	tfs_sign_flip(values, n, 0, &room, &large, &small);
	TEST_IN(large, as_large / 1024.0 - 0.02, as_large / 1024.0 + 0.02);
	TEST_IN(small, as_small / 1024.0 - 0.02, as_small / 1024.0 + 0.02);
}

static void check_interval(void)
{
	double values[64], low = 7, high = 7;

	for (uint32_t i = 0; i < 64; i++)
		values[i] = 100 + (i * 37 % 64) - 31.5;
	/* With eight at 0.5 % only the very best is out: the least and the largest. */
	TEST_TRUE(!tfs_sign_flip_interval(values, 7, 0.005, &room, &low, &high));
	TEST_EQ(low, 7);
	TEST_TRUE(tfs_sign_flip_interval(values, 8, 0.005, &room, &low, &high));
	TEST_IN(low, 68, 69.5);
	TEST_IN(high, 124.5, 126);
	/* 2.58 standard errors of 18.5 / 8 on each side. */
	TEST_TRUE(tfs_sign_flip_interval(values, 64, 0.005, &room, &low, &high));
	TEST_IN(low, 93.5, 94.7);
	TEST_IN(high, 105.3, 106.5);
}

int main(void)
{
	const double none[8] = {0};
	double large, small;

	check_extremes();
	check_counted();
	check_interval();
	tfs_sign_flip(none, 8, 0, &room, &large, &small);
	TEST_EQ(large, 1);
	TEST_EQ(small, 1);
	tfs_sign_flip((double[]){1, INFINITY}, 2, 0, &room, &large, &small);
	TEST_EQ(large, 1);
	return test_result();
}
