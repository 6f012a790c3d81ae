/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/measure_answers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "shim/base/spin.h"
#include "shim/rewrites/measure_file.h"
#include "shim/rewrites/rewrite.h"
#include "shim/rewrites/rewrite_ledger.h"

#define MOST TFS_REWRITES_MOST
#define OTHERWISE 2    /* not the steps that an earlier run began to measure: by this factor */
#define SAVE_SECONDS 1 /* one may wait for the other that writes the file */

struct answer {
	struct tfs_proof verdict;
	bool asked;   /* in this run */
	bool earlier; /* an earlier run found it */
	bool again;   /* the steps had changed */
	bool kept;    /* the file says so, too */
};

static struct answer answers[MOST]; /* written under the lock */
static struct tfs_spin lock;
static _Atomic bool news; /* that the file does not have */

void tfs_answers_clear(void)
{
	memset(answers, 0, sizeof(answers));
}

void tfs_answers_take(uint32_t i, const struct tfs_proof *verdict)
{
	answers[i] = (struct answer){.verdict = *verdict, .earlier = true, .kept = true};
}

uint32_t tfs_answers_begun(uint32_t i, double *out_gains)
{
	const struct tfs_proof *verdict = &answers[i].verdict;

	if (verdict->outcome != TFS_OUTCOME_UNDECIDED)
		return 0;
	memcpy(out_gains, verdict->gains, verdict->pairs * sizeof(*out_gains));
	return verdict->pairs;
}

uint32_t tfs_answers_resume(uint32_t asked, double step_ns)
{
	uint32_t period = 0;

	tfs_spin_lock(&lock);
	for (uint32_t left = asked; left != 0; left &= left - 1) {
		struct tfs_proof *verdict = &answers[__builtin_ctz(left)].verdict;

		if (tfs_trial_differ(step_ns, verdict->step_ns, OTHERWISE))
			verdict->pairs = 0;
		else if (verdict->pairs > 0)
			period = verdict->period;
	}
	tfs_spin_unlock(&lock);
	return period;
}

void tfs_answers_note(uint32_t i, const struct tfs_proof *state, const struct tfs_gain *gain)
{
	struct answer *answer = &answers[i];
	const struct tfs_gain now = gain ? *gain : answer->verdict.gain;

	tfs_spin_lock(&lock);
	answer->verdict = *state;
	answer->verdict.gain = now;
	snprintf(answer->verdict.name, sizeof(answer->verdict.name), "%s", tfs_rewrite_name(i));
	answer->asked = true;
	answer->kept = false;
	tfs_spin_unlock(&lock);
	atomic_store(&news, true);
}

void tfs_answers_usual(double step_ns, double step_bytes)
{
	tfs_spin_lock(&lock);
	for (uint32_t i = 0; i < MOST; i++) {
		struct answer *answer = &answers[i];

		if (!answer->asked || answer->verdict.outcome == TFS_OUTCOME_UNDECIDED)
			continue;
		answer->verdict.step_ns = step_ns;
		answer->verdict.step_bytes = step_bytes;
		answer->kept = false;
	}
	tfs_spin_unlock(&lock);
	atomic_store(&news, true);
}

void tfs_answers_reopen(void)
{
	tfs_spin_lock(&lock);
	for (uint32_t i = 0; i < MOST; i++) {
		struct answer *answer = &answers[i];

		answer->again = answer->asked || answer->earlier;
		answer->verdict.outcome = TFS_OUTCOME_UNDECIDED;
		answer->verdict.pairs = 0;
	}
	tfs_spin_unlock(&lock);
}

void tfs_measure_keep(void)
{
	static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
	static struct tfs_proof verdicts[TFS_VERDICTS_MOST];
	struct timespec until;
	uint32_t count = 0;

	if (!atomic_load(&news))
		return;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += SAVE_SECONDS;
	if (pthread_mutex_timedlock(&writing, &until) != 0)
		return;
	atomic_store(&news, false);
	tfs_spin_lock(&lock);
	for (uint32_t i = 0; i < MOST && count < TFS_VERDICTS_MOST; i++) {
		struct answer *answer = &answers[i];

		if (!answer->asked || answer->kept)
			continue;
		verdicts[count++] = answer->verdict;
		answer->kept = true;
	}
	tfs_spin_unlock(&lock);
	tfs_measure_file_write(verdicts, count);
	pthread_mutex_unlock(&writing);
}

static struct tfs_trial trial_of(const struct tfs_proof *verdict)
{
	struct tfs_trial trial = {.plan = tfs_trial_plan(verdict->period > 0 ? verdict->period : 1),
		.outcome = verdict->outcome};

	tfs_trial_resume(&trial, verdict->gains, verdict->pairs);
	return trial;
}

/* `ranks`: of several ranks, 0 = of this one alone. */
static struct tfs_reason explain_verdict(const struct answer *answer, uint32_t ranks)
{
	static const enum tfs_reason_code codes[TFS_OUTCOME_COUNT] = {
		[TFS_OUTCOME_UNDECIDED] = TFS_REASON_undecided,
		[TFS_OUTCOME_FASTER] = TFS_REASON_faster,
		[TFS_OUTCOME_SLOWER] = TFS_REASON_slower,
		[TFS_OUTCOME_NO_DIFFERENCE] = TFS_REASON_no_difference,
	};
	const struct tfs_proof *verdict = &answer->verdict;
	const struct tfs_trial trial = trial_of(verdict);

	return (struct tfs_reason){
		.code = (uint16_t)codes[verdict->outcome],
		.numbers = {verdict->pairs,
			tfs_trial_plan(verdict->period > 0 ? verdict->period : 1).counted, ranks,
			answer->asked && answer->again, !answer->asked && answer->earlier},
		.values = {tfs_trial_more_steps(&trial)},
	};
}

bool tfs_answers_result(uint32_t i, struct tfs_measured *out_measured)
{
	static struct tfs_sign_flip room; /* beside the step's own thread's */

	tfs_spin_lock(&lock);
	const struct answer answer = answers[i];
	tfs_spin_unlock(&lock);
	if (!answer.asked && !answer.earlier)
		return false;
	out_measured->asked = true;
	out_measured->outcome = answer.verdict.outcome;
	out_measured->gain = answer.verdict.gain;
	if (answer.verdict.outcome == TFS_OUTCOME_UNDECIDED) {
		const struct tfs_trial trial = trial_of(&answer.verdict);

		out_measured->gain = tfs_trial_gain(&trial, &room);
	}
	out_measured->reason = explain_verdict(&answer, 0);
	return true;
}

void tfs_answers_of_ranks(const struct tfs_proof *verdict, struct tfs_measured *out_measured)
{
	const struct answer answer = {.verdict = *verdict, .earlier = true};

	out_measured->asked = true;
	out_measured->outcome = verdict->outcome;
	out_measured->gain = verdict->gain;
	out_measured->reason = explain_verdict(&answer, verdict->ranks);
}
