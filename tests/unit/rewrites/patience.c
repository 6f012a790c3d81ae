/* SPDX-License-Identifier: MIT */
/* How long rewrites wait for a busy device, in all: each wait takes a part of what is left, and
 * what it does not use goes back. */
#include "shim/rewrites/memory/patience.h"

#include <time.h>

#include "shim/base/env.h"
#include "tests/test.h"

#define MS 1000000

struct tfs_options tfs_options;

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

static uint64_t now_ns = 1; /* of a machine that has just been started */

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
	(void)clock;
	out->tv_sec = (time_t)(now_ns / 1000000000);
	out->tv_nsec = (long)(now_ns % 1000000000);
	return 0;
}

/* Of 10 ms for each purpose. */
static void check_search(void)
{
	const struct tfs_patience one = tfs_patience_begin(TFS_PATIENCE_SEARCH);

	TEST_EQ(one.most_ns, 5 * MS);
	TEST_TRUE(tfs_patience_lasts(&one));
	/* Another thread's, meanwhile. */
	const struct tfs_patience other = tfs_patience_begin(TFS_PATIENCE_SEARCH);
	TEST_EQ(other.most_ns, 2.5 * MS);
	now_ns += MS;
	TEST_TRUE(tfs_patience_lasts(&other));
	tfs_patience_end(&other, false);
	now_ns += 4 * MS - 1;
	TEST_TRUE(tfs_patience_lasts(&one));
	now_ns++;
	TEST_TRUE(!tfs_patience_lasts(&one));
	/* The device was idle after all: that counts as no wait. */
	tfs_patience_end(&one, true);
	const struct tfs_patience next = tfs_patience_begin(TFS_PATIENCE_SEARCH);
	TEST_EQ(next.most_ns, 4.5 * MS);
	/* Longer than it may: nothing goes back, and nobody owes anything. */
	now_ns += 20 * MS;
	tfs_patience_end(&next, false);
	const struct tfs_patience late = tfs_patience_begin(TFS_PATIENCE_SEARCH);
	TEST_EQ(late.most_ns, 2.25 * MS);
	tfs_patience_end(&late, true);
}

/* Ever less, and never nothing. */
static void check_in_vain(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < 10; i++) {
		const struct tfs_patience wait = tfs_patience_begin(TFS_PATIENCE_GIVE_BACK);

		if (i == 0)
			TEST_EQ(wait.most_ns, 2.5 * MS);
		TEST_TRUE(wait.most_ns > 0);
		now_ns += wait.most_ns;
		TEST_TRUE(!tfs_patience_lasts(&wait));
		tfs_patience_end(&wait, false);
		sum += wait.most_ns;
	}
	TEST_IN(sum, 9 * MS, 10 * MS);
}

int main(void)
{
	tfs_options.search_ms = 1999;
	check_search();
	check_in_vain();
	/* With more time for searches, a hundredth of that. */
	tfs_options.search_ms = 10000;
	const struct tfs_patience more = tfs_patience_begin(TFS_PATIENCE_SEARCH);
	TEST_EQ(more.most_ns, (50 - 5.5) / 2 * MS);
	return test_result();
}
