/* SPDX-License-Identifier: MIT */
/* Which rewrites are on in which step where several ranks train, and the lines that say so. */
#include "rules/rewrites/ranked.h"

#include "tests/test.h"

static struct tfs_ranked plan_of(uint32_t count)
{
	static const char *const names[] = {"one", "two", "three"};
	struct tfs_ranked plan = {.first = 100, .steps = 64};

	for (uint32_t i = 0; i < count; i++)
		TEST_TRUE(tfs_ranked_add(&plan, names[i]));
	return plan;
}

/* Each question has as many steps with its subject on as off, in whole blocks. */
static void test_steps(void)
{
	const struct tfs_ranked plan = plan_of(2);
	uint32_t steps[3] = {0}, on_steps[3] = {0}, question = 0;
	struct tfs_trial trial;
	bool on;

	tfs_ranked_trial(&plan, &trial);
	TEST_EQ(tfs_ranked_questions(&plan), 3);
	for (uint64_t index = 0; index < 400; index++) {
		if (!tfs_ranked_at(&plan, index, &question, &on)) {
			TEST_TRUE(index < 100 || index >= 100 + 3 * 64);
			continue;
		}
		TEST_EQ(question, (index - 100) / 64);
		steps[question]++;
		on_steps[question] += on;
		if ((index - 100) % 64 % trial.block_steps == 0)
			continue;
		bool before;
		TEST_TRUE(tfs_ranked_at(&plan, index - 1, &question, &before));
		TEST_EQ(on, before);
	}
	for (uint32_t i = 0; i < 3; i++) {
		TEST_EQ(steps[i], 64);
		TEST_EQ(on_steps[i], trial.blocks / 2 * trial.block_steps);
	}
}

static void test_plan_line(void)
{
	static const char *const wrong[] = {"", "100", "100 64", "x 64 one", "100 -64 one",
		"100 64 a-name-that-is-far-too-long-to-be-one", "100 99999999 one",
		"100 64 1 2 3 4 5 6 7 8 9"};
	const struct tfs_ranked plan = plan_of(3);
	struct tfs_ranked read;
	char line[200];

	tfs_ranked_write(&plan, line, sizeof(line));
	TEST_STR(line, "100 64 one two three");
	TEST_TRUE(tfs_ranked_read(&read, line));
	TEST_EQ(memcmp(&read, &plan, sizeof(plan)), 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (!TEST_TRUE(!tfs_ranked_read(&read, wrong[i])))
			printf("  of: %s\n", wrong[i]);
}

static void test_verdict_line(void)
{
	static const char *const wrong[] = {TFS_VERDICTS_HEAD, "", "\n", "staging", "staging won",
		"staging won 1 2", "staging maybe 1 2 3 24 4", "staging won 1 2 3 24 4 5",
		"staging won 1 2 3 24 x", "staging won 1 2 3 99999999999999999999 4",
		"a-name-that-is-far-too-long-to-be-one won 1 2 3 24 4"};
	const struct tfs_ranked_verdict verdict = {
		.name = "staging", .gain = {-1200, -2000, -300}, .blocks = 24, .ranks = 4};
	struct tfs_ranked_verdict read;
	char line[200];

	tfs_ranked_write_verdict(&verdict, line, sizeof(line));
	TEST_STR(line, "staging lost -1200 -2000 -300 24 4\n");
	TEST_TRUE(tfs_ranked_read_verdict(&read, line));
	TEST_STR(read.name, verdict.name);
	TEST_TRUE(!read.won);
	TEST_EQ(read.gain.low, -2000);
	TEST_EQ(read.gain.high, -300);
	TEST_EQ(read.blocks, 24);
	TEST_EQ(read.ranks, 4);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (!TEST_TRUE(!tfs_ranked_read_verdict(&read, wrong[i])))
			printf("  of: %s\n", wrong[i]);
}

int main(void)
{
	test_steps();
	test_plan_line();
	test_verdict_line();
	return test_result();
}
