/* SPDX-License-Identifier: MIT */
/* What copies through pinned memory are thought to gain: from the rates of their own direction and
 * size, and not before these are known. */
#include <math.h>

#include "shim/rewrites/pinned_staging/pinned_staging_rates.h"
#include "shim/rewrites/pinned_staging/pinned_staging_ring.h"
#include "tests/test.h"

static struct tfs_op op;
static struct tfs_staging_job job = {.op = &op};
static struct tfs_staging_ring ring;

/* In whole nanoseconds. */
static long gain(double spent_ns)
{
	ring.spent_ns = spent_ns;
	return lround(tfs_staging_gain(&job, &ring));
}

static void of(bool out, bool async, size_t bytes)
{
	job.out = out;
	op.copy.async = async;
	op.copy.bytes = bytes;
}

/* 10 bytes per ns as the program does it, 20 when pinned, and 16 through the ring. */
static void check_one(void)
{
	const size_t bytes = op.copy.bytes;
	const double ns = (double)bytes / 20;

	TEST_TRUE(isnan(tfs_staging_gain(&job, &ring)));
	TEST_TRUE(tfs_staging_is_faster(&job));
	TEST_TRUE(tfs_staging_wants_pinned(&job) && !tfs_staging_wants_pageable(&job));
	for (int i = 0; i < 4; i++) {
		TEST_EQ(tfs_staging_wants_pageable(&job), false);
		/* The first one makes the ring: it says nothing of the rate. */
		tfs_staging_keep_staged(&job, i == 0 ? 1e9 : (double)bytes / 16);
		TEST_EQ(tfs_staging_wants_pinned(&job), true);
		tfs_staging_keep_pinned(job.out, bytes >= TFS_STAGING_MANY, bytes, ns * (5 - i));
	}
	TEST_TRUE(isnan(tfs_staging_gain(&job, &ring)));
	tfs_staging_keep_pinned(job.out, bytes >= TFS_STAGING_MANY, bytes, ns);
	TEST_EQ(tfs_staging_wants_pinned(&job), false);
	for (int i = 0; i < 4; i++) {
		TEST_EQ(tfs_staging_wants_pageable(&job), true);
		tfs_staging_keep_pageable(&job, (double)bytes / (i == 2 ? 10 : 5));
	}
	TEST_EQ(tfs_staging_wants_pageable(&job), false);
	/* No less than what the device is at it for. */
	TEST_EQ(gain(0), lround((double)bytes / 10 - ns));
	TEST_EQ(gain(ns), lround((double)bytes / 10 - ns));
	TEST_EQ(gain((double)bytes / 16), lround((double)bytes / 10 - (double)bytes / 16));
	TEST_EQ(gain((double)bytes), lround((double)bytes / 10 - (double)bytes));
}

/* Eight copies, and then staging is as fast as it was: no more than the program's own way. */
static void check_slower(void)
{
	const double bytes = (double)op.copy.bytes;

	for (int i = 0; i < 3; i++)
		tfs_staging_keep_staged(&job, bytes / 4);
	TEST_TRUE(tfs_staging_is_faster(&job));
	for (int i = 0; i < 40; i++)
		tfs_staging_keep_staged(&job, bytes / 4);
	TEST_TRUE(!tfs_staging_is_faster(&job));
	for (int i = 0; i < 40; i++)
		tfs_staging_keep_staged(&job, bytes / 16);
	TEST_TRUE(tfs_staging_is_faster(&job));
}

/* After 16 copies the usual rates must do: 8 bytes per ns, 25 when pinned. */
static void check_usual(void)
{
	of(true, false, TFS_STAGING_MANY);
	for (int i = 0; i < 16; i++) {
		TEST_TRUE(isnan(tfs_staging_gain(&job, &ring)));
		tfs_staging_keep_staged(&job, 1e6);
	}
	TEST_EQ(gain(0), lround(TFS_STAGING_MANY / 8.0 - TFS_STAGING_MANY / 25.0));
}

int main(void)
{
	of(false, false, TFS_STAGING_MANY - 1);
	check_one();
	check_slower();
	of(false, false, TFS_STAGING_MANY);
	check_one();
	check_slower();
	of(true, false, TFS_STAGING_MANY - 1);
	check_one();
	check_slower();
	check_usual();
	return test_result();
}
