/* SPDX-License-Identifier: MIT */
/* The convolution problems that were met: each is decided once, and a problem that was run as asked
 * before that is left alone. */
#include "shim/rewrites/cudnn_search/search_known.h"

#include "tests/test.h"

static struct tfs_problem problem_of(int32_t first, int32_t last)
{
	struct tfs_problem problem = {.fields = {first}};

	problem.fields[TFS_PROBLEM_FIELD_COUNT - 1] = last;
	return problem;
}

static void check_decided(void)
{
	const struct tfs_problem problem = problem_of(1, 2);
	struct tfs_decision decision = {.asked = 3, .chosen = 4};

	TEST_TRUE(!tfs_known_find(1, &problem));
	struct tfs_known *known = tfs_known_add(1, &problem, true, true, &decision);
	TEST_NEED(known);
	decision.chosen = 9; /* the caller's own again */
	TEST_TRUE(tfs_known_find(1, &problem) == known);
	TEST_TRUE(known->in_list && tfs_known_settled(known) && !tfs_known_overtaken(known));
	TEST_NEED(known->decision);
	TEST_EQ(known->decision->chosen, 4);
	/* Another one was first. */
	TEST_TRUE(!tfs_known_add(1, &problem, false, true, &decision));
	TEST_EQ(tfs_known_find(1, &problem)->decision->chosen, 4);
	/* Of another machine, and of what differs in one number. */
	const struct tfs_problem others[] = {problem_of(2, 2), problem_of(1, 3)};
	TEST_TRUE(!tfs_known_find(2, &problem));
	TEST_TRUE(!tfs_known_find(1, &others[0]) && !tfs_known_find(1, &others[1]));
	struct tfs_known *as_asked = tfs_known_add(2, &problem, false, true, NULL);
	TEST_NEED(as_asked && as_asked != known);
	TEST_TRUE(tfs_known_find(2, &problem) == as_asked);
	TEST_TRUE(tfs_known_find(1, &problem) == known);
	TEST_TRUE(!as_asked->decision && !as_asked->in_list && tfs_known_settled(as_asked));
	TEST_EQ(as_asked->machine, 2);
}

/* Nobody else has run it meanwhile. */
static void check_in_time(void)
{
	const struct tfs_problem problem = problem_of(5, 5);
	const struct tfs_decision decision = {.chosen = 6};
	struct tfs_known *known = tfs_known_add(1, &problem, false, false, NULL);

	TEST_NEED(known);
	TEST_TRUE(!known->decision && !tfs_known_overtaken(known));
	TEST_TRUE(tfs_known_decide(known, &decision));
	TEST_TRUE(tfs_known_settled(known) && !tfs_known_overtaken(known));
	TEST_EQ(known->decision->chosen, 6);
	const struct tfs_problem left = problem_of(5, 6);
	known = tfs_known_add(1, &left, false, false, NULL);
	TEST_NEED(known);
	TEST_TRUE(tfs_known_decide(known, NULL));
	TEST_TRUE(tfs_known_settled(known) && !known->decision);
}

/* One that was run as asked goes on so for the rest of the run, whatever is decided. */
static void check_overtaken(void)
{
	const struct tfs_problem problem = problem_of(7, 7);
	const struct tfs_decision decision = {.chosen = 8};
	struct tfs_known *known = tfs_known_add(1, &problem, false, false, NULL);

	TEST_NEED(known);
	TEST_TRUE(!tfs_known_settled(known));
	TEST_TRUE(tfs_known_overtaken(known));
	TEST_TRUE(!tfs_known_settled(known));
	TEST_TRUE(!tfs_known_decide(known, &decision));
	TEST_TRUE(!tfs_known_settled(known) && !tfs_known_overtaken(known));
}

/* So many that they get into each other's way, each for several machines. */
static struct tfs_problem many(uint32_t i)
{
	return problem_of((int32_t)(i / 8 * 7919), 100);
}

static uint32_t machine_of(uint32_t i)
{
	return 3 + i % 8;
}

/* As many as there is room for, and each is found again. */
static void check_room(void)
{
	const uint32_t before = tfs_known_count();

	TEST_EQ(before, 5);
	for (uint32_t i = before; i < TFS_KNOWN_MOST; i++) {
		const struct tfs_problem problem = many(i);

		TEST_NEED(tfs_known_add(machine_of(i), &problem, false, true, NULL));
	}
	const struct tfs_problem more = many(TFS_KNOWN_MOST);
	TEST_TRUE(!tfs_known_add(3, &more, false, true, NULL) && !tfs_known_find(3, &more));
	TEST_EQ(tfs_known_count(), TFS_KNOWN_MOST);
	for (uint32_t i = before; i < TFS_KNOWN_MOST; i++) {
		const struct tfs_problem problem = many(i);

		TEST_TRUE(tfs_known_find(machine_of(i), &problem) == tfs_known_at(i));
	}
}

int main(void)
{
	check_decided();
	check_in_time();
	check_overtaken();
	check_room();
	return test_result();
}
