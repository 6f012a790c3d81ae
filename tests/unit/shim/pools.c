/* SPDX-License-Identifier: MIT */
/* The pools that the program made or set: each with what is known of it, as many as there is room
 * for. */
#include "shim/state/pools.h"

#include "tests/test.h"

#define MOST 64u

static char places[MOST + 1];

static void test_one(void)
{
	struct tfs_pool_known known = {.number = 77};

	TEST_TRUE(!tfs_pools_find(&places[0], &known));
	TEST_EQ(known.number, 0);
	tfs_pools_created(&places[0], 3, true);
	TEST_TRUE(tfs_pools_find(&places[0], &known));
	TEST_TRUE(known.pool == &places[0] && known.created && known.shareable && !known.is_set);
	TEST_EQ(known.device, 3);
	TEST_EQ(known.number, 1);
	tfs_pools_set(&places[0], 1000);
	TEST_TRUE(tfs_pools_find(&places[0], &known));
	TEST_TRUE(known.created && known.shareable && known.is_set);
	TEST_EQ(known.device, 3);
	TEST_EQ(known.keeps, 1000);
	/* Another one at the same address. */
	tfs_pools_created(&places[0], 2, false);
	TEST_TRUE(tfs_pools_find(&places[0], &known));
	TEST_TRUE(known.created && !known.shareable && !known.is_set);
	TEST_EQ(known.device, 2);
	TEST_EQ(known.number, 2);
	TEST_EQ(known.keeps, 0);
	/* A device's own, which nobody made. */
	tfs_pools_set(&places[1], 7);
	TEST_TRUE(tfs_pools_find(&places[1], &known));
	TEST_TRUE(!known.created && known.is_set);
	TEST_EQ(known.keeps, 7);
	tfs_pools_destroyed(&places[0]);
	TEST_TRUE(!tfs_pools_find(&places[0], &known));
	TEST_TRUE(tfs_pools_find(&places[1], &known));
	tfs_pools_destroyed(&places[0]);
	TEST_TRUE(tfs_pools_find(&places[1], &known));
	tfs_pools_destroyed(&places[1]);
}

/* As after fork(), whose child has none of them. */
static void test_forgotten(void)
{
	struct tfs_pool_known known;

	tfs_pools_set(&places[0], 7);
	tfs_pools_forget();
	TEST_TRUE(!tfs_pools_find(&places[0], &known));
}

static void test_room(void)
{
	struct tfs_pool_known known;

	for (uint32_t i = 0; i < MOST; i++)
		tfs_pools_created(&places[i], (int)i, i % 2 != 0);
	TEST_TRUE(!tfs_pools_full());
	tfs_pools_destroyed(&places[MOST / 2]);
	tfs_pools_created(&places[MOST / 2], MOST / 2, false);
	TEST_TRUE(!tfs_pools_full());
	tfs_pools_set(&places[MOST], 1);
	TEST_TRUE(tfs_pools_full());
	TEST_TRUE(!tfs_pools_find(&places[MOST], &known));
	for (uint32_t i = 0; i < MOST; i++) {
		TEST_TRUE(tfs_pools_find(&places[i], &known));
		TEST_EQ(known.device, i);
		TEST_EQ(known.shareable, i % 2 != 0);
	}
}

int main(void)
{
	test_one();
	test_forgotten();
	test_room();
	return test_result();
}
