/* SPDX-License-Identifier: MIT */
/* Sets of intervals: united, both, one without the other. */
#include "rules/support/intervals.h"

#include "tests/test.h"

static void check_intervals(void)
{
	struct tfs_intervals a = {0}, b = {0}, out = {0};

	tfs_intervals_add(&a, 50, 60);
	tfs_intervals_add(&a, 10, 20);
	tfs_intervals_add(&a, 15, 30);
	tfs_intervals_add(&a, 30, 35);
	tfs_intervals_add(&a, 9, 9);
	tfs_intervals_unite(&a);
	TEST_EQ(a.count, 2);
	TEST_EQ(tfs_intervals_total(&a), 35);
	TEST_EQ(tfs_intervals_covered(&a, 0, 100), 35);
	TEST_EQ(tfs_intervals_covered(&a, 20, 55), 20);
	TEST_EQ(tfs_intervals_covered(&a, 36, 49), 0);
	tfs_intervals_add(&b, 12, 14);
	tfs_intervals_add(&b, 33, 52);
	TEST_EQ(tfs_intervals_both(&a, &b, &out), 0);
	TEST_EQ(out.count, 3);
	TEST_EQ(tfs_intervals_total(&out), 6);
	tfs_intervals_finish(&a);
	tfs_intervals_finish(&b);
	tfs_intervals_finish(&out);
}

int main(void)
{
	check_intervals();
	return test_result();
}
