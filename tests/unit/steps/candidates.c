/* SPDX-License-Identifier: MIT */
/* Whose calls are searched for the step: four threads' at a time, and in the place of one that is
 * silent the next one's. */
#include "shim/steps/steps_candidates.h"

#include <sys/mman.h>

#include "shim/record/recorder.h"
#include "shim/steps/loops/loops.h"
#include "tests/test.h"

#define PLACES 4u
#define SILENT 4096u
#define COUNTED 64u

static struct tfs_thread threads[PLACES + 2];
static struct tfs_step_candidate *places[PLACES];

/* So many calls of a thread; the number that is told of now and then, at last. */
static uint64_t call(struct tfs_thread *thread, unsigned count)
{
	uint64_t told = 0;

	for (unsigned i = 0; i < count; i++) {
		struct tfs_step_candidate *candidate = tfs_step_candidate_of(thread);

		TEST_NEED(candidate && candidate->thread == thread && candidate->loops);
		const uint64_t now = tfs_step_candidate_count(candidate);

		TEST_EQ(now != 0, candidate->calls % COUNTED == 0);
		told = now != 0 ? now : told;
		tfs_step_candidate_leave(candidate);
	}
	return told;
}

static void test_places(void)
{
	for (unsigned i = 0; i < PLACES; i++) {
		places[i] = tfs_step_candidate_of(&threads[i]);
		TEST_NEED(places[i]);
		TEST_TRUE(places[i]->thread == &threads[i] && places[i]->loops);
		for (unsigned j = 0; j < i; j++)
			TEST_TRUE(places[j] != places[i] && places[j]->loops != places[i]->loops);
	}
	for (unsigned i = 0; i < PLACES; i++)
		tfs_step_candidate_leave(places[i]);
	for (unsigned i = 0; i < PLACES; i++) {
		TEST_TRUE(tfs_step_candidate_of(&threads[i]) == places[i]);
		tfs_step_candidate_leave(places[i]);
	}
	/* There are no more. */
	TEST_TRUE(!tfs_step_candidate_of(&threads[PLACES]));
}

static void test_counted(void)
{
	TEST_EQ(call(&threads[0], COUNTED - 1), 0);
	TEST_EQ(tfs_step_candidates_calls(), COUNTED - 1);
	TEST_EQ(call(&threads[0], 1), COUNTED);
	TEST_EQ(call(&threads[1], 10), 0);
	TEST_EQ(tfs_step_candidates_calls(), COUNTED + 10);
	TEST_EQ(call(&threads[1], COUNTED), 2 * COUNTED);
	TEST_EQ(tfs_step_candidates_calls(), 2 * COUNTED + 10);
	TEST_EQ(places[0]->calls, COUNTED);
	TEST_EQ(places[1]->calls, COUNTED + 10);
}

/* What it had logged is forgotten, and what others logged is not. */
static void test_silent(void)
{
	static const uint64_t frames[] = {0x1000, 0x100};

	for (unsigned i = 0; i < PLACES; i++)
		tfs_loops_feed(places[i]->loops, 1, frames, 2, NULL, 0);
	/* 0 and 1 go on; 2 makes a few calls, and 3 none. */
	call(&threads[2], 5);
	while (tfs_step_candidates_calls() < SILENT + 3 * COUNTED) {
		call(&threads[0], COUNTED);
		call(&threads[1], COUNTED);
	}
	struct tfs_step_candidate *fifth = tfs_step_candidate_of(&threads[PLACES]);
	TEST_NEED(fifth);
	TEST_TRUE(fifth == places[2]);
	TEST_TRUE(fifth->thread == &threads[PLACES]);
	TEST_EQ(fifth->calls, 0);
	TEST_EQ(tfs_loops_logged(fifth->loops), 0);
	tfs_step_candidate_leave(fifth);
	for (unsigned i = 0; i < PLACES; i++)
		TEST_EQ(tfs_loops_logged(places[i]->loops), i != 2);
	/* The one that lost its place takes the next silent one's; the others are not silent. */
	TEST_TRUE(tfs_step_candidate_of(&threads[2]) == places[3]);
	tfs_step_candidate_leave(places[3]);
	TEST_TRUE(!tfs_step_candidate_of(&threads[PLACES + 1]));
}

/* Something like a weight was seen, or may be: a place that is in use may hold one. */
static void test_hope(void)
{
	static const uint64_t frames[] = {0x1000, 0x100};
	const struct tfs_loops_operand weight = {0x8000, true, true, false};

	TEST_TRUE(!tfs_step_candidates_any_hope(places[0]));
	TEST_TRUE(tfs_step_candidate_of(&threads[1]) == places[1]);
	TEST_TRUE(tfs_step_candidates_any_hope(places[0]));
	tfs_step_candidate_leave(places[1]);
	tfs_loops_feed(places[1]->loops, 1, frames, 2, &weight, 1);
	TEST_TRUE(tfs_step_candidates_any_hope(places[0]));
	/* Its own is not another's. */
	TEST_TRUE(!tfs_step_candidates_any_hope(places[1]));
	/* None was left in use. */
	for (unsigned i = 0; i < PLACES; i++)
		TEST_TRUE(!atomic_load(&places[i]->busy));
}

static bool is_mapped(void *memory)
{
	unsigned char there;

	return mincore(memory, 1, &there) == 0;
}

/* All that is not in use goes, but for what was found. */
static void test_released(void)
{
	TEST_TRUE(tfs_step_candidate_of(&threads[1]) == places[1]);
	tfs_step_candidates_release(places[0]->loops);
	for (unsigned i = 0; i < PLACES; i++)
		TEST_EQ(is_mapped(places[i]->loops), i < 2);
	TEST_TRUE(!tfs_step_candidate_of(&threads[PLACES]));
	tfs_step_candidate_leave(places[1]);
	tfs_step_candidates_release(places[0]->loops);
	TEST_TRUE(!is_mapped(places[1]->loops));
	TEST_TRUE(is_mapped(places[0]->loops));
}

int main(void)
{
	TEST_TRUE(!tfs_step_candidates_ready());
	TEST_NEED(tfs_step_candidates_start());
	TEST_TRUE(tfs_step_candidates_ready());
	test_places();
	test_counted();
	test_silent();
	test_hope();
	test_released();
	return test_result();
}
