/* SPDX-License-Identifier: MIT */
/* Which rewrites are on in a step where several ranks train: by the file of an earlier run, and by
 * the blocks that are planned for what that does not decide. */
#include "shim/rewrites/measure_ranks.h"

#include "shim/base/env.h"
#include "shim/record/recorder.h"
#include "shim/rewrites/measure_file.h"
#include "shim/rewrites/rewrite.h"
#include "tests/test.h"

#define WON 1u   /* as the file says, of the rewrites 0 to 5 */
#define LOST 2u  /* and of which */
#define EQUAL 3u /* it says nothing: 0, 4 */
#define OPEN 5u
#define SWITCHABLE 0x3fu
#define WINDOW 20u
#define FIRST (WINDOW + 12u)

struct tfs_options tfs_options = {
	.ranks = 4, .measure = 400, .record = TFS_RECORD_WINDOWS, .window_steps = WINDOW};

static char plan[200];
static uint64_t plan_ranks;

const char *tfs_rewrite_name(uint32_t i)
{
	static const char *const names[] = {"zero", "won", "lost", "equal", "four", "open"};

	return names[i];
}

void tfs_recorder_fact(enum tfs_fact_code code, const char *object, uint64_t number, uint64_t more)
{
	TEST_EQ(code, TFS_FACT_ranks_plan);
	TEST_EQ(more, 0);
	snprintf(plan, sizeof(plan), "%s", object);
	plan_ranks = number;
}

void tfs_measure_file_read(uint32_t ranks, uint32_t switchable,
	void (*take)(uint32_t i, const struct tfs_proof *verdict))
{
	TEST_EQ(ranks, 4);
	TEST_EQ(switchable, SWITCHABLE);
	take(WON, &(struct tfs_proof){.outcome = TFS_OUTCOME_FASTER, .period = 2});
	take(LOST, &(struct tfs_proof){.outcome = TFS_OUTCOME_SLOWER, .period = 3});
	take(EQUAL, &(struct tfs_proof){.outcome = TFS_OUTCOME_NO_DIFFERENCE});
	take(OPEN, &(struct tfs_proof){.outcome = TFS_OUTCOME_UNDECIDED, .period = 1});
}

static void check_plan(void)
{
	TEST_STR(plan, "32 400 3 zero four open");
	TEST_EQ(plan_ranks, 4);
	TEST_TRUE(!tfs_measure_ranks_verdict(0) && !tfs_measure_ranks_verdict(OPEN));
	for (uint32_t i = WON; i <= EQUAL; i++)
		TEST_TRUE(tfs_measure_ranks_verdict(i));
	TEST_EQ(tfs_measure_ranks_verdict(LOST)->outcome, TFS_OUTCOME_SLOWER);
	TEST_TRUE(!tfs_measure_ranks_begun(FIRST));
	TEST_TRUE(tfs_measure_ranks_begun(FIRST + 1));
}

/* What the file decides, and what cannot be switched, is the same at every step. */
static void check_mask(void)
{
	static const uint32_t numbers[] = {0, 4, OPEN};
	const uint32_t always = ~SWITCHABLE | 1u << WON;
	unsigned on[3] = {0}, off = 0;
	struct tfs_ranked read;

	TEST_NEED(tfs_ranked_read(&read, plan));
	const uint64_t end = FIRST + tfs_ranked_steps(&read);
	for (uint64_t step = 0; step < end + 100; step++) {
		const uint32_t mask = tfs_measure_ranks_mask(step);
		struct tfs_ranked_place place = {.on = false};
		const bool measured = tfs_ranked_at(&read, step, &place);

		TEST_EQ(measured, step >= FIRST && step < end);
		TEST_EQ(mask, always | (place.on ? 1u << numbers[place.question] : 0));
		if (place.on)
			on[place.question]++;
		else
			off += measured;
	}
	TEST_TRUE(on[0] > 0 && on[0] == on[1] && on[1] == on[2]);
	TEST_EQ(off, 3 * on[0]);
}

int main(void)
{
	tfs_measure_ranks_start(SWITCHABLE);
	check_plan();
	check_mask();
	return test_result();
}
