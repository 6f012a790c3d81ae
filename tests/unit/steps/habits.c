/* SPDX-License-Identifier: MIT */
/* Where a step ends that is left at the same callsites each time: with the last of them, from the
 * ninth on, and never in between. By the library's own marks. */
#include "shim/record/recorder.h"
#include "shim/steps/step_habits.h"
#include "shim/steps/steps.h"
#include "tests/test.h"

#define LOOP 7u /* the callsite where a step begins */
#define SITES 40u

static struct tfs_thread thread;

struct tfs_thread *__wrap_tfs_steps_owner(void);

struct tfs_thread *__wrap_tfs_steps_owner(void)
{
	return &thread;
}

static void call(uint32_t site, uint32_t flags)
{
	const struct tfs_cache_entry entry = {.site = site, .flags = flags};

	tfs_steps_mark(&thread, &entry);
}

/* A step, and `sites` calls behind it; returns after how many of them the step still ran. */
static uint32_t step(uint32_t sites)
{
	uint32_t running = 0;

	call(LOOP, 0);
	for (uint32_t i = 0; i < sites; i++) {
		call(100 + i, TFS_SITE_OUTSIDE);
		running += tfs_steps_now() != 0;
	}
	return running;
}

static void test_evaluation(void)
{
	for (uint32_t i = 0; i < TFS_HABIT_STEPS; i++)
		TEST_EQ(step(SITES), 0);
	for (uint32_t i = 0; i < 3; i++)
		TEST_EQ(step(SITES), SITES);
	/* One more callsite is not in it. */
	TEST_EQ(step(SITES + 1), SITES);
}

/* Seven in a row, one without, seven more: no habit. */
static void test_row(void)
{
	for (uint32_t i = 0; i < 2; i++) {
		for (uint32_t j = 1; j < TFS_HABIT_STEPS; j++) {
			tfs_step_habits_note(9, 100 + i * TFS_HABIT_STEPS + j);
			tfs_step_habits_note(9, 100 + i * TFS_HABIT_STEPS + j);
		}
		TEST_TRUE(!tfs_step_habits_has(9));
	}
	tfs_step_habits_note(9, 100 + 2 * TFS_HABIT_STEPS);
	TEST_TRUE(tfs_step_habits_has(9));
	tfs_step_habits_forget();
	TEST_TRUE(!tfs_step_habits_has(9));
}

/* Callsites of one time each take no room for long, and none from a habit. */
static void test_full(void)
{
	for (uint32_t i = 0; i < 1000; i++)
		tfs_step_habits_note(1000 + i, 2000);
	for (uint32_t i = 0; i < TFS_HABIT_STEPS; i++)
		for (uint32_t j = 0; j < 8; j++)
			tfs_step_habits_note(j, 2002 + i);
	for (uint32_t i = 0; i < 1000; i++)
		tfs_step_habits_note(5000 + i, 3000);
	for (uint32_t i = 0; i < 8; i++)
		TEST_TRUE(tfs_step_habits_has(i));
}

int main(void)
{
	test_evaluation();
	test_row();
	test_full();
	return test_result();
}
