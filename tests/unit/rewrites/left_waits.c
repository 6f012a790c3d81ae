/* SPDX-License-Identifier: MIT */
/* What a wait gained that was left out: what it would have taken, while the host did as much. */
#include "shim/rewrites/common/left_wait.h"

#include <math.h>
#include <time.h>

#include "shim/rewrites/rewrite.h"
#include "tests/test.h"

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

static const struct tfs_rewrite self;
static uint64_t now_ns = 1000;
static double predicted;
static struct tfs_left_wait left;

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
	(void)clock;
	out->tv_sec = (time_t)(now_ns / 1000000000);
	out->tv_nsec = (long)(now_ns % 1000000000);
	return 0;
}

void tfs_rewrite_predict_call(const struct tfs_rewrite *rewrite, double ns)
{
	TEST_TRUE(rewrite == &self);
	predicted = ns;
}

/* The host waits, so long after one was left out; what that gained. */
static double gained(uint64_t busy_ns)
{
	now_ns += busy_ns;
	predicted = NAN;
	tfs_left_wait_end(&left, &self);
	return predicted;
}

int main(void)
{
	TEST_EQ(tfs_left_wait_least(&left), 0);
	tfs_left_wait_learn(&left, 500);
	tfs_left_wait_learn(&left, 300);
	tfs_left_wait_learn(&left, 400);
	TEST_EQ(tfs_left_wait_least(&left), 300);
	/* None was left out. */
	TEST_TRUE(isnan(gained(1000)));
	tfs_left_wait_begin(&left);
	TEST_EQ(gained(1000), 300);
	/* It gains that once. */
	TEST_TRUE(isnan(gained(1000)));
	tfs_left_wait_begin(&left);
	TEST_EQ(gained(70), 70);
	/* The latest one counts. */
	tfs_left_wait_begin(&left);
	now_ns += 1000;
	tfs_left_wait_begin(&left);
	TEST_EQ(gained(200), 200);
	tfs_left_wait_learn(&left, 100);
	tfs_left_wait_begin(&left);
	TEST_EQ(gained(200), 100);
	return test_result();
}
