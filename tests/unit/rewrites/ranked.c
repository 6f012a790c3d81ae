/* SPDX-License-Identifier: MIT */
/* Which rewrites are on in which step where several ranks train, and the line that says so. */
#include "shim/rewrites/measure/ranked.h"

#include "tests/test.h"

static struct tfs_ranked plan_of(uint32_t count)
{
	static const char *const names[] = {"one", "two", "three"};
	struct tfs_ranked plan = {.first = 100, .steps = 4000, .period = 3};

	for (uint32_t i = 0; i < count; i++)
		TEST_TRUE(tfs_ranked_add(&plan, names[i]));
	return plan;
}

/* Each pair has a block with and one without, whole and one after the other; all questions get
 * eight pairs before one gets more. */
static void test_steps(void)
{
	const struct tfs_ranked plan = plan_of(3);
	const struct tfs_blocks_plan blocks = tfs_trial_plan(3);
	const uint32_t block = blocks.left_out + blocks.counted;
	uint32_t steps[3][64][2] = {{{0}}}, expected = 0;
	struct tfs_ranked_place place;
	uint64_t index = 0;

	TEST_EQ(tfs_ranked_pairs(&plan), 64);
	for (; index < 100; index++)
		TEST_TRUE(!tfs_ranked_at(&plan, index, &place));
	for (; tfs_ranked_at(&plan, index, &place); index++) {
		TEST_EQ(place.step, expected);
		expected = (expected + 1) % block;
		steps[place.question][place.pair][place.on]++;
		if (index - 100 < 3 * 8 * 2 * block)
			TEST_TRUE(place.pair < 8);
		if (place.step == 0 && steps[place.question][place.pair][!place.on] == 0)
			TEST_EQ(place.on,
				tfs_trial_on_first(
					tfs_trial_seed(plan.names[place.question]), place.pair));
	}
	TEST_EQ(index, 100 + tfs_ranked_steps(&plan));
	for (uint32_t i = 0; i < 3 * 64 * 2; i++)
		TEST_EQ(steps[i / 128][i / 2 % 64][i % 2], block);
	const struct tfs_ranked few = {.steps = 100, .period = 1, .count = 1, .names = {"one"}};
	TEST_EQ(tfs_ranked_pairs(&few), 5);
	TEST_TRUE(tfs_ranked_at(&few, 99, &place));
	TEST_TRUE(!tfs_ranked_at(&few, 100, &place));
	const struct tfs_ranked none = {.steps = 4000, .period = 1};
	TEST_TRUE(!tfs_ranked_at(&none, 0, &place));
}

static void test_plan_line(void)
{
	static const char *const wrong[] = {"", "100", "100 64", "100 64 1", "x 64 1 one",
		"100 -64 1 one", "100 64 0 one", "100 64 33 one", "100 64 one",
		"100 64 1 a-name-that-is-far-too-long-to-be-one", "100 99999999 1 one",
		"100 64 1 1 2 3 4 5 6 7 8 9"};
	const struct tfs_ranked plan = plan_of(3);
	struct tfs_ranked read;
	char line[200];

	tfs_ranked_write(&plan, line, sizeof(line));
	TEST_STR(line, "100 4000 3 one two three");
	TEST_TRUE(tfs_ranked_read(&read, line));
	TEST_EQ(memcmp(&read, &plan, sizeof(plan)), 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (!TEST_TRUE(!tfs_ranked_read(&read, wrong[i])))
			printf("  of: %s\n", wrong[i]);
}

int main(void)
{
	test_steps();
	test_plan_line();
	return test_result();
}
