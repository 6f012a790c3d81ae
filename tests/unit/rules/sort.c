/* SPDX-License-Identifier: MIT */
/* Keys in order, those that are equal by their values. */
#include "rules/support/sort.h"

#include "tests/test.h"

static void check_sort(void)
{
	struct tfs_key keys[1000];
	uint64_t state = 1;

	for (unsigned i = 0; i < 1000; i++) {
		state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
		keys[i] = (struct tfs_key){state >> 60, i};
		if (i % 7 == 0)
			keys[i].key = state;
	}
	TEST_EQ(tfs_sort_keys(keys, 1000), 0);
	for (unsigned i = 1; i < 1000; i++)
		TEST_TRUE(keys[i - 1].key < keys[i].key ||
			  (keys[i - 1].key == keys[i].key && keys[i - 1].value < keys[i].value));
}

int main(void)
{
	check_sort();
	return test_result();
}
