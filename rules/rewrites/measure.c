/* SPDX-License-Identifier: MIT */
#include "rules/rewrites/measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rules/rewrites/measure_ranks.h"
#include "rules/rewrites/rewrite.h"
#include "shim/env.h"
#include "shim/mutant.h"
#include "shim/steps.h"

#define MOST 32u /* bits of a mask */
/* With all rewrites on, to see which take part; one-time costs fall here. */
#define SETTLE_STEPS 8u
#define WATCH_STEPS 32u
#define CLEARLY 1.25 /* steps changed: by this factor, in two stretches in a row */
#define MOST_QUESTIONS 8u

enum stage { STAGE_SETTLING, STAGE_ALONE, STAGE_TOGETHER, STAGE_DECIDED };

/* Of the steps that are watched. */
struct watched {
	double values[WATCH_STEPS];
	double usual; /* right after the decision; NaN = not known yet */
};

/* What the latest finished trial of a rewrite said. */
struct answer {
	enum tfs_verdict verdict;
	struct tfs_gain gain;
	uint32_t blocks;
	uint32_t planned;
	uint32_t block_steps;
	bool again;       /* it is not the first one */
	bool interrupted; /* the trial ended without an answer */
	bool needless;    /* won alone, not beside the others */
};

static struct {
	enum stage stage;
	uint32_t switchable;
	uint32_t due;        /* not measured yet, or to be measured again */
	uint32_t candidates; /* of this question */
	uint32_t asked;      /* of these, measured alone */
	uint32_t subject;    /* bits that the running trial switches */
	uint32_t lost;
	uint32_t met;   /* measured before, alone */
	uint32_t steps; /* of this stage */
	uint32_t questions;
	uint64_t applied[MOST]; /* when the stage began */
	struct tfs_trial trial;
	struct answer answers[MOST];
	struct watched times;
	struct watched bytes; /* as their shapes change, so do these */
	uint32_t changed;
	bool ranked; /* the ranks' blocks are planned */
} self;

uint32_t tfs_measure_on = UINT32_MAX;
uint32_t tfs_measure_against;

static void allow(uint32_t mask)
{
	__atomic_store_n(&tfs_measure_against, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&tfs_measure_on, mask, __ATOMIC_RELAXED);
}

/* The same for good, or until the question is put again. */
static void settle_on(uint32_t mask)
{
	__atomic_store_n(&tfs_measure_on, mask, __ATOMIC_RELAXED);
	__atomic_store_n(&tfs_measure_against, ~mask, __ATOMIC_RELAXED);
}

void tfs_measure_give_up(uint32_t i)
{
	__atomic_fetch_and(&tfs_measure_on, ~(1u << i), __ATOMIC_RELAXED);
	__atomic_fetch_or(&tfs_measure_against, 1u << i, __ATOMIC_RELAXED);
}

/* Those that may act while nothing is measured: not the losers, and not those whose own model
 * sees no gain. */
static uint32_t trusted(uint32_t losers)
{
	uint32_t mask = ~losers;

	for (uint32_t i = 0; i < MOST; i++)
		if ((self.switchable >> i & 1) != 0 &&
			self.answers[i].verdict == TFS_VERDICT_NONE &&
			tfs_rewrite_predicted(i) <= 0)
			mask &= ~(1u << i);
	return mask;
}

/* NCCL may say that there are several only after the start. */
static void plan_ranks(void)
{
	if (!self.ranked)
		tfs_measure_ranks_start(self.switchable);
	self.ranked = true;
}

static void set_mask(void)
{
	const bool on = tfs_trial_on(&self.trial);

	if (tfs_options.ranks > 1) {
		plan_ranks();
		allow(tfs_measure_ranks_mask(tfs_steps_count() + 1, trusted(0)));
	} else if (self.stage == STAGE_SETTLING) {
		settle_on(trusted(self.lost & ~self.due));
	} else if (self.stage == STAGE_DECIDED) {
		settle_on(trusted(self.lost));
	} else {
		const uint32_t others = trusted(self.lost & ~self.due) & ~self.candidates;

		allow(others | (on ? self.subject : 0));
	}
}

static void enter(enum stage stage)
{
	self.stage = stage;
	self.steps = 0;
	self.times.usual = self.bytes.usual = NAN;
	self.changed = 0;
	for (uint32_t i = 0; i < MOST; i++)
		if ((self.switchable >> i & 1) != 0)
			self.applied[i] = tfs_rewrite_applied(i);
	set_mask();
}

void tfs_measure_start(uint32_t switchable)
{
	if (tfs_options.measure == 0)
		return;
	self.switchable = switchable;
	self.due = switchable;
	enter(STAGE_SETTLING);
}

/* Those that took part since the stage began. */
static uint32_t active(void)
{
	uint32_t mask = 0;

	for (uint32_t i = 0; i < MOST; i++)
		if ((self.switchable >> i & 1) != 0 && tfs_rewrite_applied(i) != self.applied[i])
			mask |= 1u << i;
	return mask;
}

/* The steps of one question are shared by each rewrite alone and, of several, all together. */
static void start_trial(enum stage stage, uint32_t subject)
{
	const uint32_t count = (uint32_t)__builtin_popcount(self.candidates);

	self.subject = subject;
	tfs_trial_init(&self.trial, (uint32_t)tfs_options.measure / (count > 1 ? count + 1 : 1));
	enter(stage);
}

static uint32_t lowest(uint32_t mask)
{
	return mask & (~mask + 1);
}

/* As many as the steps of one question are enough for; the others are due in the next one. */
static uint32_t some(uint32_t mask)
{
	const uint32_t room = (uint32_t)tfs_options.measure / TFS_TRIAL_STEPS;
	const uint32_t most = room > 2 ? room - 1 : 1;

	while ((uint32_t)__builtin_popcount(mask) > most)
		mask &= ~(1u << (31 - __builtin_clz(mask)));
	return mask;
}

static void ask(uint32_t candidates)
{
	self.questions++;
	self.candidates = candidates;
	self.asked = 0;
	start_trial(STAGE_ALONE, lowest(candidates));
}

static struct answer read_trial(void)
{
	struct answer answer = {.blocks = self.trial.counts[0] + self.trial.counts[1],
		.planned = self.trial.blocks,
		.block_steps = self.trial.block_steps};

	if (tfs_trial_gain(&self.trial, &answer.gain))
		answer.verdict = answer.gain.low > 0 ? TFS_VERDICT_WON : TFS_VERDICT_LOST;
	else
		answer.interrupted = tfs_trial_over(&self.trial);
	return answer;
}

static void decide(void)
{
	for (uint32_t i = 0; i < MOST; i++) {
		const uint32_t bit = 1u << i;

		if ((self.candidates & bit) == 0)
			continue;
		self.lost &= ~bit;
		if (self.answers[i].verdict == TFS_VERDICT_LOST)
			self.lost |= bit;
	}
	self.due &= ~self.candidates;
	enter(STAGE_DECIDED);
	for (uint32_t i = 0; i < MOST; i++)
		if ((self.candidates >> i & 1) != 0)
			tfs_rewrite_decided(i);
}

static uint32_t winners(void)
{
	uint32_t mask = 0;

	for (uint32_t i = 0; i < MOST; i++)
		if ((self.candidates >> i & 1) != 0 && self.answers[i].verdict == TFS_VERDICT_WON)
			mask |= 1u << i;
	return mask;
}

/* Together they do not win: the one that gains most alone stays. */
static void keep_best(uint32_t mask)
{
	uint32_t best = (uint32_t)__builtin_ctz(mask);

	for (uint32_t i = 0; i < MOST; i++)
		if ((mask >> i & 1) != 0 &&
			self.answers[i].gain.middle > self.answers[best].gain.middle)
			best = i;
	for (uint32_t i = 0; i < MOST; i++) {
		if ((mask >> i & 1) == 0 || i == best)
			continue;
		self.answers[i].verdict = TFS_VERDICT_LOST;
		self.answers[i].needless = true;
	}
}

static void end_trial(void)
{
	const struct answer answer = read_trial();

	if (self.stage == STAGE_TOGETHER) {
		if (answer.verdict == TFS_VERDICT_LOST)
			keep_best(self.subject);
		decide();
		return;
	}
	self.answers[__builtin_ctz(self.subject)] = answer;
	self.answers[__builtin_ctz(self.subject)].again = (self.met & self.subject) != 0;
	self.met |= self.subject;
	self.asked |= self.subject;
	const uint32_t left = self.candidates & ~self.asked;
	const uint32_t won = winners();
	if (left != 0)
		start_trial(STAGE_ALONE, lowest(left));
	else if (__builtin_popcount(won) > 1)
		start_trial(STAGE_TOGETHER, won);
	else
		decide();
}

static bool is_other(struct watched *watched)
{
	const double median = tfs_trial_median(watched->values, WATCH_STEPS);

	if (isnan(watched->usual))
		watched->usual = median;
	return median > watched->usual * CLEARLY || median * CLEARLY < watched->usual;
}

/* Every so often: has a rewrite that was never measured taken part, have the steps changed? */
static void watch(double ns, double bytes)
{
	const uint32_t fresh = active() & self.due;

	self.times.values[self.steps] = ns;
	self.bytes.values[self.steps++] = bytes;
	if (self.steps < WATCH_STEPS)
		return;
	self.steps = 0;
	const bool slower = is_other(&self.times);
	const bool other = is_other(&self.bytes) || slower;
	self.changed = other ? self.changed + 1 : 0;
	if (self.changed >= 2)
		self.due = self.switchable;
	if ((self.changed >= 2 || fresh != 0) && self.questions < MOST_QUESTIONS)
		enter(STAGE_SETTLING);
}

static void alternate(uint64_t every)
{
	if (++self.steps % (2 * every) < every)
		allow(~self.switchable);
	else
		allow(UINT32_MAX);
}

void tfs_measure_step(uint64_t ns, uint64_t bytes)
{
	if (self.switchable == 0)
		return;
	if (TFS_MUTANT_ALTERNATE != 0) {
		alternate(TFS_MUTANT_ALTERNATE);
	} else if (tfs_options.ranks > 1) {
		set_mask();
	} else if (self.stage == STAGE_SETTLING) {
		if (++self.steps < SETTLE_STEPS)
			return;
		const uint32_t candidates = some(active() & self.due);
		const bool settled = self.questions > 0 && (self.due & self.lost) == 0;

		if (candidates != 0)
			ask(candidates);
		else
			enter(settled ? STAGE_DECIDED : STAGE_SETTLING);
	} else if (self.stage == STAGE_DECIDED) {
		watch((double)ns, (double)bytes);
	} else {
		tfs_trial_step(&self.trial, (double)ns);
		if (tfs_trial_over(&self.trial))
			end_trial();
		else
			set_mask();
	}
}

void tfs_measure_interrupt(void)
{
	tfs_trial_interrupt(&self.trial);
}

static void explain(
	const struct answer *answer, double predicted_ns, bool measuring, char *out, size_t bytes)
{
	const char *kept = predicted_ns > 0      ? "; kept, its own model predicts a gain"
			   : isnan(predicted_ns) ? "; not kept, too few calls for its own model"
						 : "; off, its own model predicts no gain";

	if (answer->needless)
		snprintf(out, bytes, "wins alone, but not together with the others: off");
	else if (answer->verdict != TFS_VERDICT_NONE)
		snprintf(out, bytes, "%u blocks of %u steps, in turn with and without%s: %s",
			answer->blocks, answer->block_steps,
			answer->again ? ", asked again as the steps changed" : "",
			answer->verdict == TFS_VERDICT_WON ? "it gains"
			: answer->gain.high < 0            ? "it loses, and is off"
							   : "no gain above chance, so it is off");
	else if (tfs_options.ranks > 1 && tfs_measure_ranks_begun(tfs_steps_count()))
		snprintf(out, bytes,
			"measured over %u ranks, of which 'tfshim report FOLDER' finds the "
			"verdict%s",
			tfs_options.ranks, kept);
	else if (tfs_options.ranks > 1)
		snprintf(out, bytes, "not measured, too few training steps were known%s", kept);
	else if (tfs_options.measure == 0)
		snprintf(out, bytes, "not measured, as asked (measure=0)");
	else if (measuring)
		snprintf(out, bytes, "the run was too short to tell (%u of %u blocks)%s",
			answer->blocks, answer->planned, kept);
	else if (answer->interrupted)
		snprintf(out, bytes, "blocks of steps were interrupted too often to tell%s", kept);
	else
		snprintf(out, bytes, "not measured, too few training steps were known%s", kept);
}

void tfs_measure_result(uint32_t i, double predicted_ns, struct tfs_measured *out_measured)
{
	const bool measuring = (self.stage == STAGE_ALONE || self.stage == STAGE_TOGETHER) &&
			       (self.candidates >> i & 1) != 0;
	struct answer answer = self.answers[i];
	struct tfs_ranked_verdict ranked;

	if (tfs_measure_ranks_verdict(i, &ranked)) {
		out_measured->verdict = ranked.won ? TFS_VERDICT_WON : TFS_VERDICT_LOST;
		out_measured->gain = ranked.gain;
		snprintf(out_measured->reason, sizeof(out_measured->reason),
			"by the verdict of an earlier run: %u blocks of steps, the slowest of %u "
			"ranks",
			ranked.blocks, ranked.ranks);
		return;
	}
	if (measuring && answer.verdict == TFS_VERDICT_NONE && self.subject == 1u << i)
		answer = read_trial();
	out_measured->verdict = answer.verdict;
	out_measured->gain =
		answer.verdict == TFS_VERDICT_NONE ? (struct tfs_gain){NAN, NAN, NAN} : answer.gain;
	explain(&answer, predicted_ns, measuring, out_measured->reason,
		sizeof(out_measured->reason));
}
