/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/measure_ranks.h"

#include "shim/base/env.h"
#include "shim/record/recorder.h"
#include "shim/rewrites/measure_file.h"
#include "shim/rewrites/rewrite.h"
#include "shim/rewrites/rewrite_ledger.h"

/* Behind the first window, for ranks that found the step some iterations apart. */
#define SETTLE_STEPS 12u

static struct {
	uint32_t known; /* bits: the file decides them */
	uint32_t won;
	uint32_t open; /* to be measured */
	struct tfs_proof verdicts[TFS_REWRITES_MOST];
	struct tfs_ranked plan;
	uint32_t numbers[TFS_VERDICTS_MOST]; /* in rewrite.c's list */
} self;

static void take(uint32_t i, const struct tfs_proof *verdict)
{
	self.verdicts[i] = *verdict;
	if (verdict->period > self.plan.period)
		self.plan.period = verdict->period;
	if (verdict->outcome == TFS_OUTCOME_UNDECIDED)
		return;
	self.known |= 1u << i;
	if (verdict->outcome == TFS_OUTCOME_FASTER)
		self.won |= 1u << i;
}

static void plan_question(uint32_t i)
{
	if (!tfs_ranked_add(&self.plan, tfs_rewrite_name(i)))
		return;
	self.numbers[self.plan.count - 1] = i;
	self.open |= 1u << i;
}

void tfs_measure_ranks_start(uint32_t switchable)
{
	char text[TFS_VERDICTS_MOST * TFS_VERDICT_NAME + 64];
	const uint64_t window =
		tfs_options.record == TFS_RECORD_WINDOWS ? tfs_options.window_steps : 0;
	const uint64_t steps = tfs_options.measure;

	self.plan = (struct tfs_ranked){.first = window + SETTLE_STEPS,
		.steps = steps < TFS_TRIAL_STEPS ? (uint32_t)steps : TFS_TRIAL_STEPS,
		.period = 1};
	tfs_measure_file_read(tfs_options.ranks, switchable, take);
	self.open = switchable & ~self.known;
	for (uint32_t left = self.open; left != 0; left &= left - 1)
		plan_question((uint32_t)__builtin_ctz(left));
	if (self.plan.count == 0)
		return;
	tfs_ranked_write(&self.plan, text, sizeof(text));
	tfs_recorder_fact(TFS_FACT_ranks_plan, text, tfs_options.ranks, 0);
}

const struct tfs_proof *tfs_measure_ranks_verdict(uint32_t i)
{
	return (self.known >> i & 1) != 0 ? &self.verdicts[i] : NULL;
}

uint32_t tfs_measure_ranks_mask(uint64_t step)
{
	const uint32_t others = ~(self.open | (self.known & ~self.won));
	struct tfs_ranked_place place;

	if (!tfs_ranked_at(&self.plan, step, &place) || !place.on)
		return others;
	return others | 1u << self.numbers[place.question];
}

bool tfs_measure_ranks_begun(uint64_t step)
{
	return self.plan.count > 0 && step > self.plan.first;
}
