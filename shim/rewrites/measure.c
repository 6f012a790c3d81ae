/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/measure.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "shim/base/env.h"
#include "shim/base/mutant.h"
#include "shim/rewrites/measure_answers.h"
#include "shim/rewrites/measure_file.h"
#include "shim/rewrites/measure_ranks.h"
#include "shim/rewrites/rewrite.h"
#include "shim/rewrites/rewrite_ledger.h"
#include "shim/steps/steps.h"

#define MOST TFS_REWRITES_MOST
/* With all rewrites on, to see which take part; one-time costs fall here. */
#define SETTLE_STEPS 8u
#define WATCH_STEPS 32u
#define CLEARLY 1.25 /* steps changed: by this factor, in two stretches in a row */
#define MOST_ROUNDS 8u

enum stage { STAGE_SETTLING, STAGE_OBSERVING, STAGE_ASKING, STAGE_DECIDED };

/* Of the steps that are watched. */
struct watched {
	double values[WATCH_STEPS];
	double usual; /* right after the decision; NaN = not known yet */
};

/* The step's own thread's, but for what others read. */
static struct {
	_Atomic enum stage stage;
	uint32_t switchable;
	uint32_t due;        /* to be asked about once they take part */
	uint32_t candidates; /* of this round, and not asked about yet */
	uint32_t subject;    /* number of the rewrite that the running trial switches */
	uint32_t won;
	uint32_t off;   /* asked about, and not shown to make steps faster */
	uint32_t steps; /* of this stage */
	uint32_t rounds;
	_Atomic bool stepped;   /* a step was seen */
	uint64_t applied[MOST]; /* when the stage began */
	double seen[TFS_PERIOD_STEPS];
	uint32_t period; /* of the steps; 0 = not known */
	double step_ns;  /* with what has won */
	double step_bytes;
	struct tfs_trial trial;
	struct watched times;
	struct watched bytes; /* as their shapes change, so do these */
	uint32_t changed;
	_Atomic bool ranked; /* the ranks' blocks are planned */
} self;

static struct tfs_sign_flip room; /* the step's own thread's */
static _Atomic bool interrupted;  /* since the latest step */

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

/* Those that have not taken part yet may, to be seen, but for those whose own model sees no gain.
 */
static uint32_t seekers(void)
{
	uint32_t mask = self.due;

	for (uint32_t left = self.due; left != 0; left &= left - 1)
		if (tfs_rewrite_predicted((uint32_t)__builtin_ctz(left)) <= 0)
			mask &= ~(left & (~left + 1));
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
	const uint32_t proven = ~self.switchable | self.won;

	if (tfs_options.ranks > 1) {
		plan_ranks();
		allow(tfs_measure_ranks_mask(tfs_steps_count() + 1));
	} else if (self.stage == STAGE_SETTLING || self.stage == STAGE_DECIDED) {
		settle_on(proven | seekers());
	} else if (self.stage == STAGE_OBSERVING) {
		allow(proven);
	} else {
		allow(proven | (tfs_trial_on(&self.trial) ? 1u << self.subject : 0));
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

/* What an earlier run found. */
static void take(uint32_t i, const struct tfs_proof *verdict)
{
	const uint32_t bit = 1u << i;

	tfs_answers_take(i, verdict);
	self.step_ns = verdict->step_ns;
	self.step_bytes = verdict->step_bytes;
	if (verdict->outcome == TFS_OUTCOME_UNDECIDED)
		return;
	self.due &= ~bit;
	if (verdict->outcome == TFS_OUTCOME_FASTER)
		self.won |= bit;
	else
		self.off |= bit;
}

void tfs_measure_start(uint32_t switchable)
{
	if (tfs_options.measure == 0)
		return;
	memset(&self, 0, sizeof(self));
	tfs_answers_clear();
	self.switchable = switchable;
	self.due = switchable;
	if (tfs_options.ranks == 1)
		tfs_measure_file_read(1, switchable, take);
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

/* The trial's state, for the report and the file; `gain`: NULL as long as it runs. */
static void note(enum tfs_outcome outcome, const struct tfs_gain *gain)
{
	struct tfs_proof state = {.outcome = outcome,
		.ranks = 1,
		.period = self.period,
		.pairs = self.trial.pairs,
		.step_ns = self.step_ns,
		.step_bytes = self.step_bytes};

	memcpy(state.gains, self.trial.gains, state.pairs * sizeof(*state.gains));
	tfs_answers_note(self.subject, &state, gain);
}

static void next_question(void)
{
	double gains[TFS_TRIAL_PAIRS];

	self.subject = (uint32_t)__builtin_ctz(self.candidates);
	tfs_trial_init(&self.trial, tfs_rewrite_name(self.subject), self.period,
		(uint32_t)(tfs_options.measure < TFS_TRIAL_STEPS ? tfs_options.measure
								 : TFS_TRIAL_STEPS));
	const uint32_t pairs = tfs_answers_begun(self.subject, gains);
	if (pairs > 0)
		tfs_trial_resume(&self.trial, gains, pairs);
	enter(STAGE_ASKING);
	note(TFS_OUTCOME_UNDECIDED, NULL);
}

static void end_trial(void)
{
	const uint32_t bit = 1u << self.subject;

	if (self.trial.outcome == TFS_OUTCOME_FASTER)
		self.won |= bit;
	else
		self.off |= bit;
	self.due &= ~bit;
	self.candidates &= ~bit;
	const struct tfs_gain gain = tfs_trial_gain(&self.trial, &room);
	note(self.trial.outcome, &gain);
	tfs_rewrite_decided(self.subject);
	if (self.candidates != 0)
		next_question();
	else
		enter(STAGE_DECIDED);
}

static void observe(double ns)
{
	self.seen[self.steps++] = ns;
	if (self.steps < TFS_PERIOD_STEPS)
		return;
	self.period = tfs_period_find(self.seen);
	self.step_ns = tfs_trial_median(self.seen, TFS_PERIOD_STEPS);
	self.step_bytes = 0;
	next_question();
}

/* Is there a question of an earlier run's to go on with? */
static bool resumable(void)
{
	const uint32_t period =
		tfs_answers_resume(self.candidates, tfs_trial_median(self.seen, SETTLE_STEPS));

	self.period = self.period != 0 ? self.period : period;
	return self.period != 0;
}

static void settle(double ns)
{
	self.seen[self.steps++] = ns;
	if (self.steps < SETTLE_STEPS)
		return;
	self.candidates = active() & self.due;
	if (self.candidates == 0) {
		const double ns_then = self.step_ns, bytes_then = self.step_bytes;

		enter(STAGE_DECIDED);
		self.times.usual = ns_then > 0 && self.rounds == 0 ? ns_then : NAN;
		self.bytes.usual = bytes_then > 0 && self.rounds == 0 ? bytes_then : NAN;
		return;
	}
	self.rounds++;
	if (resumable())
		next_question();
	else
		enter(STAGE_OBSERVING);
}

static bool is_other(struct watched *watched)
{
	const double median = tfs_trial_median(watched->values, WATCH_STEPS);

	if (isnan(watched->usual))
		watched->usual = median;
	return tfs_trial_differ(median, watched->usual, CLEARLY);
}

/* The next run takes these for the usual steps. */
static void note_usual(void)
{
	if (self.step_ns == self.times.usual && self.step_bytes == self.bytes.usual)
		return;
	self.step_ns = self.times.usual;
	self.step_bytes = self.bytes.usual;
	tfs_answers_usual(self.step_ns, self.step_bytes);
}

/* All questions are open again. */
static void ask_again(void)
{
	self.due = self.switchable;
	self.won = self.off = 0;
	self.period = 0;
	tfs_answers_reopen();
}

/* Every so often: has a rewrite that was never measured taken part, have the steps changed? */
static void watch(double ns, double bytes)
{
	self.times.values[self.steps] = ns;
	self.bytes.values[self.steps++] = bytes;
	if (self.steps < WATCH_STEPS)
		return;
	self.steps = 0;
	const bool slower = is_other(&self.times);
	const bool other = is_other(&self.bytes) || slower;
	const bool fresh = (active() & self.due) != 0;

	self.changed = other ? self.changed + 1 : 0;
	if (self.changed == 0)
		note_usual();
	if ((self.changed < 2 && !fresh) || self.rounds >= MOST_ROUNDS)
		return;
	if (self.changed >= 2)
		ask_again();
	enter(STAGE_SETTLING);
}

static void alternate(uint64_t every)
{
	if (++self.steps % (2 * every) < every)
		allow(~self.switchable);
	else
		allow(UINT32_MAX);
}

static void ask(double ns)
{
	const uint32_t pairs = self.trial.pairs;

	tfs_trial_step(&self.trial, ns, &room);
	if (tfs_trial_over(&self.trial)) {
		end_trial();
		return;
	}
	if (self.trial.pairs != pairs)
		note(TFS_OUTCOME_UNDECIDED, NULL);
	set_mask();
}

void tfs_measure_step(uint64_t ns, uint64_t bytes)
{
	if (self.switchable == 0)
		return;
	self.stepped = true;
	if (atomic_exchange(&interrupted, false))
		tfs_trial_interrupt(&self.trial);
	if (TFS_MUTANT_ALTERNATE != 0)
		alternate(TFS_MUTANT_ALTERNATE);
	else if (tfs_options.ranks > 1)
		set_mask();
	else if (self.stage == STAGE_SETTLING)
		settle((double)ns);
	else if (self.stage == STAGE_OBSERVING)
		observe((double)ns);
	else if (self.stage == STAGE_DECIDED)
		watch((double)ns, (double)bytes);
	else
		ask((double)ns);
}

void tfs_measure_interrupt(void)
{
	atomic_store(&interrupted, true);
}

static struct tfs_reason explain_unmeasured(void)
{
	return (struct tfs_reason){.code = tfs_options.measure == 0 ? TFS_REASON_measure_off
								    : TFS_REASON_too_few_steps};
}

static void result_of_ranks(uint32_t i, struct tfs_measured *out)
{
	const struct tfs_proof *verdict = self.ranked ? tfs_measure_ranks_verdict(i) : NULL;

	if (verdict) {
		tfs_answers_of_ranks(verdict, out);
	} else if (self.ranked && tfs_measure_ranks_begun(tfs_steps_count())) {
		out->asked = true;
		out->reason = (struct tfs_reason){
			.code = TFS_REASON_ranks_measured, .numbers = {tfs_options.ranks}};
	} else {
		out->reason = explain_unmeasured();
	}
}

void tfs_measure_result(uint32_t i, struct tfs_measured *out_measured)
{
	*out_measured = (struct tfs_measured){.gain = {NAN, NAN, NAN}};
	if (tfs_options.ranks > 1) {
		result_of_ranks(i, out_measured);
	} else if (tfs_answers_result(i, out_measured)) {
		return;
	} else if (tfs_options.measure != 0 && self.stepped && self.stage != STAGE_DECIDED) {
		out_measured->asked = true;
		out_measured->reason = (struct tfs_reason){.code = TFS_REASON_run_too_short};
	} else {
		out_measured->reason = explain_unmeasured();
	}
}
