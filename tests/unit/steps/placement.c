/* SPDX-License-Identifier: MIT */
/* Where windows are, in runs of any length, and how long they may be. */
#include "shim/steps/placement.h"

#include "tests/test.h"

#define FIRST 500u
#define MIB (UINT64_C(1) << 20)

static void check_places(void)
{
	TEST_EQ(tfs_placement_next(FIRST, 0), FIRST);
	TEST_EQ(tfs_placement_next(FIRST, FIRST), FIRST);
	TEST_EQ(tfs_placement_next(FIRST, FIRST + 1), 2 * FIRST);
	TEST_EQ(tfs_placement_next(FIRST, 2 * FIRST + 1), 4 * FIRST);
	TEST_EQ(tfs_placement_next(1, UINT64_C(1) << 63), UINT64_C(1) << 63);
	TEST_EQ(tfs_placement_next(1, (UINT64_C(1) << 63) + 1), UINT64_MAX);
	TEST_EQ(tfs_placement_next(0, 7), UINT64_MAX);
}

/* Whether a window opens within a factor of the square root of 2 of this step. */
static bool near(uint64_t step, uint64_t length)
{
	for (uint64_t at = FIRST; at < length; at = tfs_placement_next(FIRST, at + 1))
		if (2 * at * at >= step * step && at * at <= 2 * step * step)
			return true;
	return false;
}

static void check_any_length(void)
{
	unsigned windows = 0;

	for (uint64_t length = 1000; length < 100000000; length += length / 7) {
		TEST_TRUE(near(length / 2, length));
		if (length / 10 >= FIRST)
			TEST_TRUE(near(length / 10, length));
		if (length / 100 >= FIRST)
			TEST_TRUE(near(length / 100, length));
	}
	for (uint64_t at = FIRST; at < 1000000; at = tfs_placement_next(FIRST, at + 1))
		windows++;
	TEST_EQ(windows, 11);
}

static void check_steps(void)
{
	/* 50 steps took a fifth of the room. */
	struct tfs_placement_room room = {50 * MIB, 200 * MIB, 50};

	TEST_EQ(tfs_placement_steps(20, &room), 20);
	/* Half of what is left has room for 15, for 3, and for 2, which are not worth it. */
	room.left_bytes = 30 * MIB;
	TEST_EQ(tfs_placement_steps(20, &room), 15);
	room.left_bytes = 6 * MIB;
	TEST_EQ(tfs_placement_steps(20, &room), 3);
	room.left_bytes = 5 * MIB;
	TEST_EQ(tfs_placement_steps(20, &room), 0);
	/* Where so few are wanted, they are worth it; and none are none. */
	TEST_EQ(tfs_placement_steps(2, &room), 2);
	TEST_EQ(tfs_placement_steps(0, &room), 0);
	room.left_bytes = 0;
	TEST_EQ(tfs_placement_steps(20, &room), 0);
	/* What they take is not known. */
	room.steps = 0;
	TEST_EQ(tfs_placement_steps(20, &room), 20);
}

/* However much a step takes, there is room for the next window, until none is worth it. */
static void check_budget(void)
{
	for (uint64_t each = 1000; each < 3 * MIB; each *= 2) {
		struct tfs_placement_room room = {50 * each, 224 * MIB - 50 * each, 50};
		uint64_t windows = 0;

		for (uint64_t steps; windows < 12; windows++, room.steps += steps) {
			steps = tfs_placement_steps(20, &room);
			if (!steps)
				break;
			TEST_TRUE(steps * each <= room.left_bytes);
			room.used_bytes += steps * each;
			room.left_bytes -= steps * each;
		}
		TEST_TRUE(windows >= 4);
	}
}

int main(void)
{
	check_places();
	check_any_length();
	check_steps();
	check_budget();
	return test_result();
}
