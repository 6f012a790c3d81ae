/* SPDX-License-Identifier: MIT */
/* Which places of a loop belong to the step, and which of them opens it. */
#include "shim/steps/loops/loops_log.h"

#include <stdlib.h>

#include "tests/test.h"

#define MAIN UINT64_C(0x1000)
#define WEIGHTS UINT64_C(0x700000)

/* Places in the loop's function; it lies between two others. */
enum { OUTSIDE = 0x2000, INPUT = 0x5010, LAYER = 0x5020, LOSS = 0x5030, UPDATE = 0x5040 };
enum { LOG = 0x5050, SAVE = 0x5060, EARLIER = 0x5000 };

static struct tfs_loops *loops;
static struct tfs_log_pair pair;

/* A call from this place of the loop's function, or from a function called there; or from outside.
 */
static void call(uint64_t place)
{
	const uint64_t frames[] = {place, place & ~UINT64_C(0xf), MAIN};
	const uint32_t deeper = frames[0] == frames[1];
	const uint32_t site = tfs_log_site(
		loops, (uint32_t)place, 0, frames + deeper, place == OUTSIDE ? 1 : 3 - deeper);
	struct tfs_log_call *made = &loops->calls[loops->call_count];

	TEST_NEED(site);
	made->site = site - 1;
	if (place == UPDATE) {
		loops->operands[loops->operand_count++] =
			WEIGHTS << 3 | TFS_LOG_READS | TFS_LOG_WRITES;
		pair.site = made->site;
		pair.first = pair.first ? pair.first : loops->call_count + 1;
		pair.last = loops->call_count + 1;
		pair.count++;
	}
	made[1].first = loops->operand_count;
	loops->call_count++;
}

/* An iteration with something else in it, after its input. */
static void iterate(const uint64_t *more, unsigned count)
{
	call(INPUT);
	for (unsigned i = 0; i < count; i++)
		call(more[i]);
	call(LAYER);
	call(LOSS);
	call(UPDATE);
}

static void begin(void)
{
	free(loops);
	loops = calloc(1, sizeof(*loops));
	TEST_NEED(loops);
	pair = (struct tfs_log_pair){.address = WEIGHTS};
}

static bool is_member(uint64_t place)
{
	for (uint32_t i = 0; i < loops->step.member_count; i++)
		if (loops->step.members[i] == place)
			return true;
	return false;
}

/* What a few iterations do beside belongs to the step, where it is a quarter of it at most. */
static void test_longer(void)
{
	static const uint64_t logged[] = {LOG}, saved[] = {SAVE, SAVE + 0x10};

	begin();
	call(OUTSIDE);
	for (int i = 0; i < 20; i++)
		if (i % 5 == 2)
			iterate(logged, 1);
		else if (i % 5 == 4)
			iterate(saved, 2);
		else
			iterate(NULL, 0);
	TEST_NEED(tfs_log_place(loops, &pair, 1));
	TEST_EQ(loops->step.member_count, 5);
	TEST_TRUE(is_member(INPUT) && is_member(LAYER) && is_member(LOSS) && is_member(UPDATE));
	TEST_TRUE(is_member(LOG));
	TEST_EQ(loops->step.level, 1);
	TEST_EQ(loops->step.prefix[0], MAIN);
	TEST_EQ(loops->step.anchor, INPUT);
	TEST_EQ(loops->step.lowest, INPUT);
	TEST_EQ(loops->step.highest, LOG);
	TEST_EQ(loops->step.before, 20);
}

/* The greater one of the two in the middle is what is usual, whatever the least is. */
static void test_usual(void)
{
	static const uint64_t logged[] = {LOG}, saved[] = {LOG, SAVE};

	begin();
	call(UPDATE);
	for (int i = 0; i < 20; i++)
		if (i < 2)
			call(UPDATE);
		else if (i < 10)
			iterate(NULL, 0);
		else
			iterate(i == 19 ? saved : logged, i == 19 ? 2 : 1);
	TEST_NEED(tfs_log_place(loops, &pair, 1));
	TEST_EQ(loops->step.member_count, 6);
	TEST_TRUE(is_member(SAVE));
}

/* Control comes into the loop where the log says so, and where it does not, at its lowest place. */
static void test_entry(void)
{
	for (int outside = 0; outside < 2; outside++) {
		begin();
		if (outside)
			call(OUTSIDE);
		call(LAYER);
		call(EARLIER);
		call(UPDATE);
		for (int i = 0; i < 12; i++) {
			call(LAYER);
			call(EARLIER);
			if (i == 6)
				call(SAVE);
			call(UPDATE);
		}
		TEST_NEED(tfs_log_place(loops, &pair, 1));
		TEST_EQ(loops->step.anchor, outside ? LAYER : EARLIER);
		TEST_EQ(loops->step.lowest, EARLIER);
		TEST_EQ(loops->step.highest, UPDATE);
		TEST_EQ(loops->step.before, 13);
	}
}

/* A place that control comes by twice does not open the step; several calls at once are one. */
static void test_twice(void)
{
	begin();
	call(OUTSIDE);
	for (int i = 0; i < 12; i++) {
		call(EARLIER);
		call(INPUT);
		call(INPUT);
		call(EARLIER);
		call(UPDATE);
	}
	TEST_NEED(tfs_log_place(loops, &pair, 1));
	TEST_EQ(loops->step.anchor, INPUT);
	TEST_EQ(loops->step.lowest, EARLIER);
	TEST_EQ(loops->step.before, 12);
}

/* Nor does one that control left and came back to; one that it leaves when it is done with it does.
 */
static void test_only_place(void)
{
	begin();
	for (int i = 0; i < 24; i++) {
		for (int twice = 0; twice < 2; twice++) {
			call(INPUT);
			call(LAYER);
		}
		call(UPDATE + 1);
		call(UPDATE);
		if (i % 2)
			call(OUTSIDE);
	}
	TEST_NEED(tfs_log_place(loops, &pair, 1));
	TEST_EQ(loops->step.member_count, 3);
	TEST_EQ(loops->step.anchor, UPDATE);
	TEST_EQ(loops->step.before, 24);
}

/* Iterations in which control leaves the function tell nothing; where it always does, there is no
 * such place. */
static void test_left(void)
{
	begin();
	call(OUTSIDE);
	for (int i = 0; i < 20; i++) {
		call(INPUT);
		if (i % 2) {
			call(SAVE);
			call(OUTSIDE);
		}
		call(LAYER);
		call(UPDATE);
	}
	TEST_NEED(tfs_log_place(loops, &pair, 1));
	TEST_EQ(loops->step.member_count, 3);
	TEST_TRUE(!is_member(SAVE));
	begin();
	for (int i = 0; i < 20; i++) {
		call(INPUT);
		call(OUTSIDE);
		call(UPDATE);
	}
	TEST_TRUE(!tfs_log_place(loops, &pair, 1));
}

int main(void)
{
	test_longer();
	test_usual();
	test_entry();
	test_twice();
	test_only_place();
	test_left();
	free(loops);
	return test_result();
}
