/* SPDX-License-Identifier: MIT */
/* Pools that keep their memory for a rewrite, on made-up devices: which keep how much, and whose
 * give it back when. */
#include "shim/rewrites/memory/reserves.h"

#include "shim/rewrites/memory/blocks.h"
#include "shim/rewrites/memory/holding.h"
#include "shim/rewrites/memory/memory_functions.h"
#include "shim/rewrites/memory/pool_functions.h"
#include "tests/test.h"

#define ROOM 16 /* pools that there is room for */

static bool watched; /* calls are looked at as long as a pool keeps */

void tfs_held_begin(void)
{
	watched = true;
}

void tfs_held_end(void)
{
	watched = tfs_reserves_any();
}

/* The made-up pools are numbers' addresses: their thresholds. */
static uint64_t pools[ROOM + 1];
static int set_status, mode = 5;
static unsigned trims, forgotten;
static void *trimmed;
static uint64_t threshold_then; /* of what was trimmed */

static int set(void *pool, enum tfs_pool_attribute attribute, uint64_t *value)
{
	TEST_EQ(attribute, TFS_POOL_THRESHOLD);
	if (set_status == 0)
		*(uint64_t *)pool = *value;
	return set_status;
}

static int trim(void *pool, size_t keep)
{
	TEST_EQ(keep, 0);
	TEST_EQ(mode, TFS_CAPTURE_RELAXED);
	trims++;
	trimmed = pool;
	threshold_then = *(uint64_t *)pool;
	return 0;
}

static int capture_mode(int *other)
{
	const int before = mode;

	mode = *other;
	*other = before;
	return 0;
}

static int forget(void)
{
	forgotten++;
	return 0;
}

static const struct tfs_pool_functions pool_functions = {.set = set, .trim = trim};
static const struct tfs_memory_functions memory_functions = {
	.capture_mode = capture_mode, .forget_error = forget};

const struct tfs_pool_functions *tfs_pool_functions(bool driver)
{
	return driver ? NULL : &pool_functions;
}

const struct tfs_memory_functions *tfs_memory_functions(bool driver)
{
	return driver ? NULL : &memory_functions;
}

static void check_keep(void)
{
	TEST_EQ(tfs_reserves_kept(&pools[0]), 0);
	TEST_TRUE(tfs_reserves_keep(false, &pools[0], 0, 100));
	TEST_TRUE(tfs_reserves_keep(false, &pools[1], 1, 200));
	TEST_TRUE(watched);
	TEST_EQ(pools[0], 100);
	TEST_EQ(tfs_reserves_kept(&pools[0]), 100);
	TEST_EQ(tfs_reserves_kept(&pools[1]), 200);
	TEST_TRUE(tfs_reserves_hidden(&pools[1]) && !tfs_reserves_hidden(&pools[2]));
	TEST_TRUE(tfs_reserves_of(0) && tfs_reserves_of(1) && !tfs_reserves_of(2));
	/* More of the same. */
	TEST_TRUE(tfs_reserves_keep(false, &pools[0], 0, 300));
	TEST_EQ(tfs_reserves_count, 2);
	TEST_EQ(tfs_reserves_kept(&pools[0]), 300);
	/* What cannot be set is not kept. */
	set_status = 1;
	TEST_TRUE(!tfs_reserves_keep(false, &pools[2], 0, 100));
	set_status = 0;
	TEST_EQ(tfs_reserves_kept(&pools[2]), 0);
	TEST_TRUE(!tfs_reserves_keep(false, &pools[2], 64, 100));
	TEST_TRUE(!tfs_reserves_keep(true, &pools[2], 0, 100));
	TEST_EQ(tfs_reserves_count, 2);
}

/* Of one device, or of all; they go on keeping. */
static void check_give_back(void)
{
	tfs_reserves_give_back(false, 2);
	TEST_EQ(trims, 0);
	tfs_reserves_give_back(false, 1);
	TEST_EQ(trims, 1);
	TEST_TRUE(trimmed == &pools[1]);
	tfs_reserves_give_back(false, TFS_ALL_DEVICES);
	TEST_EQ(trims, 3);
	TEST_EQ(pools[0], 300);
	TEST_EQ(tfs_reserves_kept(&pools[1]), 200);
	TEST_EQ(mode, 5);
}

/* They keep nothing from then on. */
static void check_drop(void)
{
	tfs_reserves_drop(false, 0);
	TEST_EQ(pools[0], 0);
	TEST_EQ(pools[1], 200);
	TEST_EQ(tfs_reserves_kept(&pools[0]), 0);
	TEST_EQ(tfs_reserves_kept(&pools[1]), 200);
	TEST_EQ(trims, 3);
	/* The program says itself what this one keeps. */
	tfs_reserves_leave(&pools[0]);
	TEST_EQ(tfs_reserves_count, 1);
	tfs_reserves_leave(&pools[1]);
	TEST_EQ(pools[1], 200);
	TEST_TRUE(!tfs_reserves_any() && !watched);
}

/* After an out-of-memory, and only then. */
static void check_make_room(void)
{
	trims = 0;
	TEST_TRUE(tfs_reserves_keep(false, &pools[0], 3, 100));
	TEST_TRUE(tfs_reserves_keep(false, &pools[1], 4, 200));
	TEST_TRUE(!tfs_reserves_make_room(false, 0, 3));
	TEST_TRUE(!tfs_reserves_make_room(false, 1, 3));
	TEST_TRUE(!tfs_reserves_make_room(false, 2, 5));
	TEST_TRUE(!tfs_reserves_short(3) && !tfs_reserves_short(5));
	TEST_EQ(forgotten + trims, 0);
	TEST_TRUE(tfs_reserves_make_room(false, 2, 3));
	TEST_EQ(forgotten, 1);
	TEST_EQ(trims, 1);
	TEST_TRUE(trimmed == &pools[0]);
	TEST_EQ(pools[0], 0);
	TEST_EQ(tfs_reserves_kept(&pools[0]), 0);
	TEST_EQ(tfs_reserves_kept(&pools[1]), 200);
	/* For the rest of the run. */
	TEST_TRUE(tfs_reserves_short(3) && !tfs_reserves_short(4));
	TEST_TRUE(tfs_reserves_short(64));
	TEST_TRUE(!tfs_reserves_make_room(false, 2, 3));
	tfs_reserves_drop(false, 4);
}

static void check_full(void)
{
	for (int i = 0; i < ROOM; i++)
		TEST_TRUE(tfs_reserves_keep(false, &pools[i], 0, 100));
	TEST_TRUE(!tfs_reserves_keep(false, &pools[ROOM], 0, 100));
	TEST_EQ(pools[ROOM], 0);
	/* One more that leaves makes room for another. */
	tfs_reserves_leave(&pools[3]);
	TEST_TRUE(tfs_reserves_keep(false, &pools[ROOM], 0, 700));
	TEST_EQ(tfs_reserves_kept(&pools[3]), 0);
	TEST_EQ(tfs_reserves_kept(&pools[ROOM]), 700);
	for (int i = 0; i < ROOM; i++)
		TEST_EQ(tfs_reserves_kept(&pools[i]), i == 3 ? 0 : 100);
	tfs_reserves_forget();
	TEST_TRUE(!tfs_reserves_any() && tfs_reserves_kept(&pools[0]) == 0);
}

int main(void)
{
	check_keep();
	check_give_back();
	check_drop();
	check_make_room();
	check_full();
	return test_result();
}
