/* SPDX-License-Identifier: MIT */
/* What lt-search says of times, and when it tries a product again. */
#include "shim/rewrites/lt_search/lt_known.h"
#include "shim/rewrites/lt_search/lt_measure.h"
#include "tests/test.h"

static bool clear(float own_ms, float own_spread_ms, float best_ms, float best_spread_ms)
{
	const struct tfs_lt_time own = {own_ms, own_spread_ms, 0},
				 best = {best_ms, best_spread_ms, 0};

	return tfs_lt_clear(&own, &best);
}

/* Nothing is claimed from less than 5 %, or from what the spread alone explains. */
static void check_times(void)
{
	TEST_EQ(clear(1, 0, 0.9f, 0), true);
	TEST_EQ(clear(1, 0, 0.94f, 0), true);
	TEST_EQ(clear(1, 0, 0.96f, 0), false);
	TEST_EQ(clear(1, 0, 1, 0), false);
	TEST_EQ(clear(1, 0, 1.5f, 0), false);
	TEST_EQ(clear(1, 0.04f, 0.9f, 0.04f), true);
	TEST_EQ(clear(1, 0.11f, 0.9f, 0), false);
	TEST_EQ(clear(1, 0, 0.9f, 0.11f), false);
	TEST_EQ(clear(1, 0.06f, 0.9f, 0.06f), false);
	TEST_EQ(clear(1, 0.3f, 0.5f, 0.1f), true);
}

static void check_tries(void)
{
	unsigned due = 0;

	for (unsigned call = 1; call <= 64; call++) {
		const bool now = tfs_lt_known_due(5);

		TEST_EQ(now, call == 1 || call == 2 || call == 4 || call == 8 || call == 16 ||
				     call == 32 || call == 64);
		due += now;
	}
	TEST_EQ(due, 7);
	struct tfs_lt_known *known = tfs_lt_known_due(6);
	TEST_NEED(known);
	tfs_lt_known_settle(known);
	for (unsigned call = 2; call <= 8; call++)
		TEST_TRUE(!tfs_lt_known_due(6));
	/* Another that goes to the same slot is another; the table never overflows. */
	TEST_TRUE(tfs_lt_known_due(UINT64_C(6) + (UINT64_C(1) << 32)));
	for (uint64_t i = 1; i < 10000; i++)
		tfs_lt_known_due(i << 40);
	TEST_TRUE(!tfs_lt_known_due(UINT64_C(1) << 63 | 1 << 20));
}

int main(void)
{
	check_times();
	check_tries();
	return test_result();
}
