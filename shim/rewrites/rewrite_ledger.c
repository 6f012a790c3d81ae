/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/rewrite_ledger.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "shim/base/env.h"
#include "shim/base/log.h"
#include "shim/base/spin.h"
#include "shim/record/recorder.h"
#include "shim/rewrites/breaker/breaker.h"
#include "shim/rewrites/measure.h"
#include "shim/rewrites/rewrite_refusals.h"
#include "shim/trace/format/format.h"

#define MOST_PAUSES (2000000000u / TFS_SPIN_PAUSE_NS)

static struct {
	_Atomic uint64_t applied;
	_Atomic uint64_t bytes;
	uint32_t name; /* string id */
	_Atomic double predicted_ns;
	_Atomic int64_t modelled_ns; /* gain of the calls it was applied to, by its own model */
	_Atomic uint64_t modelled;   /* such calls */
	struct tfs_reason evidence;  /* of a shadow that differed; under `deciding` */
	_Atomic uint16_t reason;     /* the rewrite's own: enum tfs_reason_code */
	_Atomic uint32_t object;     /* string id of the name that belongs to it */
	_Atomic uint64_t steps;      /* outside windows, it being on */
	_Atomic(const char *) cause; /* of a refusal, or NULL */
	_Atomic uint32_t caused;     /* which */
	_Atomic bool decided;        /* what it came to was told once */
	struct tfs_spin telling;     /* so that no count comes behind the outcome */
} states[TFS_REWRITES_MOST];

static struct tfs_spin deciding; /* of two outcomes the later one stays */

/* Mostly the same one is asked about again. */
static size_t number(const struct tfs_rewrite *rewrite)
{
	static _Atomic size_t latest;
	size_t i = atomic_load_explicit(&latest, memory_order_relaxed);

	if (tfs_rewrite_all[i] == rewrite)
		return i;
	for (i = 0; tfs_rewrite_all[i] && tfs_rewrite_all[i] != rewrite;)
		i++;
	atomic_store_explicit(&latest, i, memory_order_relaxed);
	return i;
}

enum tfs_rewrite_mode tfs_rewrite_mode(const struct tfs_rewrite *rewrite)
{
	return tfs_rewrite_mode_of[number(rewrite)];
}

void tfs_rewrite_refuse(const struct tfs_rewrite *rewrite, uint32_t check, uint32_t site)
{
	tfs_refusal_count((uint32_t)number(rewrite), check, site);
}

bool tfs_rewrite_check_cause(
	const struct tfs_rewrite *rewrite, uint32_t check, const char *cause, uint32_t site)
{
	const size_t i = number(rewrite);
	const char *none = NULL;

	if (!cause)
		return true;
	tfs_rewrite_refuse(rewrite, check, site);
	if (!atomic_load(&states[i].cause)) {
		atomic_store(&states[i].caused, check);
		atomic_compare_exchange_strong(&states[i].cause, &none, cause);
	}
	return false;
}

enum { NOTHING_ACTED, ASKING, MAY_ACT, MAY_NOT };

static _Atomic int acting;

/* Who crashes then would not be noticed, and the folder may stay silent for hours. */
static void turn_all_off(void)
{
	for (size_t i = 0; tfs_rewrite_all[i]; i++)
		tfs_rewrite_mode_of[i] = TFS_MODE_OFF;
	tfs_recorder_fact(TFS_FACT_folder_silent, NULL, 0, 0);
	if (tfs_options.rank == 0 && !tfs_options.quiet)
		tfs_log_say("the recording's file system does not respond: rewrites are off");
}

static int begin_acting(enum tfs_rewrite_mode mode)
{
	const int err = tfs_breaker_arm();

	if (err == -ETIMEDOUT) {
		turn_all_off();
		return MAY_NOT;
	}
	if (tfs_options.rank == 0 && !tfs_options.quiet && mode == TFS_MODE_APPLY)
		tfs_log_say("rewrites are on (%s); TFSHIM_REWRITE=off switches them off",
			tfs_options.rewrite);
	if (!err)
		return MAY_ACT;
	tfs_recorder_fact(TFS_FACT_breaker_none, NULL, (uint64_t)-err, 0);
	if (tfs_options.rank == 0 && !tfs_options.quiet)
		tfs_log_say(
			"a crash will not switch rewrites off: no marker file can be written beside the recording (%s)",
			strerror(-err));
	return MAY_ACT;
}

/* Before the first one acts; who comes meanwhile waits as long, but for no longer than that may
 * take: a handler of the program's may have jumped out of it. */
static __attribute__((noinline)) bool announce(enum tfs_rewrite_mode mode)
{
	int before = NOTHING_ACTED;

	if (atomic_compare_exchange_strong(&acting, &before, ASKING))
		atomic_store(&acting, begin_acting(mode));
	for (uint32_t i = 0; i < MOST_PAUSES && atomic_load(&acting) == ASKING; i++)
		tfs_spin_pause();
	return atomic_load(&acting) == MAY_ACT;
}

static bool may_act(enum tfs_rewrite_mode mode)
{
	return atomic_load_explicit(&acting, memory_order_acquire) == MAY_ACT || announce(mode);
}

bool tfs_rewrite_may_act(const struct tfs_rewrite *rewrite)
{
	return tfs_rewrite_mode(rewrite) == TFS_MODE_APPLY && may_act(TFS_MODE_APPLY);
}

/* What is known so far, for the case that the program is killed: not worth a wait. */
static void tell(size_t i, uint64_t applied)
{
	if (!tfs_spin_try(&states[i].telling))
		return;
	const struct tfs_rewrite_record record = {
		.state = (uint16_t)tfs_rewrite_mode_of[i],
		.name = states[i].name,
		.applied = applied,
		.bytes = atomic_load(&states[i].bytes),
		.predicted_ns = NAN,
		.realised_ns = NAN,
		.realised_low_ns = NAN,
		.realised_high_ns = NAN,
		.class = (uint16_t)tfs_rewrite_all[i]->class,
	};
	if (!atomic_load(&states[i].decided))
		tfs_recorder_put(&record, TFS_RECORD_rewrite, sizeof(record));
	tfs_spin_unlock(&states[i].telling);
}

static void count(size_t i, uint64_t bytes)
{
	const uint64_t applied =
		atomic_fetch_add_explicit(&states[i].applied, 1, memory_order_relaxed) + 1;

	atomic_fetch_add_explicit(&states[i].bytes, bytes, memory_order_relaxed);
	/* The first time, and at each power of 16, until more than that is known. */
	if (!atomic_load_explicit(&states[i].decided, memory_order_relaxed) &&
		(applied & (applied - 1)) == 0 && __builtin_ctzll(applied) % 4 == 0)
		tell(i, applied);
}

bool tfs_rewrite_apply(const struct tfs_rewrite *rewrite, uint64_t bytes)
{
	const size_t i = number(rewrite);

	if (tfs_rewrite_mode_of[i] != TFS_MODE_APPLY || !may_act(TFS_MODE_APPLY))
		return false;
	count(i, bytes);
	return true;
}

void tfs_rewrite_acted(const struct tfs_rewrite *rewrite, uint64_t bytes)
{
	may_act(TFS_MODE_APPLY);
	count(number(rewrite), bytes);
}

void tfs_rewrite_explain(
	const struct tfs_rewrite *rewrite, enum tfs_reason_code reason, const char *object)
{
	if (object)
		atomic_store(&states[number(rewrite)].object, tfs_recorder_string(object));
	atomic_store(&states[number(rewrite)].reason, (uint16_t)reason);
}

void tfs_rewrite_predict(const struct tfs_rewrite *rewrite, double ns_per_step)
{
	states[number(rewrite)].predicted_ns = ns_per_step;
}

/* Without steps nothing can be measured: then the model alone decides, after some calls. */
#define MODELLED_CALLS 16

void tfs_rewrite_predict_call(const struct tfs_rewrite *rewrite, double ns)
{
	const size_t i = number(rewrite);

	atomic_fetch_add_explicit(&states[i].modelled_ns, (int64_t)ns, memory_order_relaxed);
	atomic_fetch_add_explicit(&states[i].modelled, 1, memory_order_relaxed);
	if (states[i].steps == 0 && tfs_options.measure > 0 &&
		tfs_rewrite_predicted((uint32_t)i) <= 0)
		tfs_measure_give_up((uint32_t)i);
}

const char *tfs_rewrite_name(uint32_t i)
{
	return tfs_rewrite_all[i]->name;
}

uint64_t tfs_rewrite_applied(uint32_t i)
{
	return atomic_load_explicit(&states[i].applied, memory_order_relaxed);
}

double tfs_rewrite_predicted(uint32_t i)
{
	const uint64_t calls = atomic_load_explicit(&states[i].modelled, memory_order_relaxed);
	const double gain =
		(double)atomic_load_explicit(&states[i].modelled_ns, memory_order_relaxed);

	if (!tfs_rewrite_all[i]->switchable)
		return states[i].predicted_ns;
	if (calls == 0 || (states[i].steps == 0 && calls < MODELLED_CALLS))
		return NAN;
	return states[i].steps > 0 ? gain / (double)states[i].steps : gain / (double)calls;
}

void tfs_rewrite_differs(
	const struct tfs_rewrite *rewrite, uint32_t site, const struct tfs_reason *evidence)
{
	const size_t i = number(rewrite);

	tfs_spin_lock(&deciding);
	states[i].evidence = *evidence;
	tfs_spin_unlock(&deciding);
	tfs_rewrite_mode_of[i] = TFS_MODE_OFF;
	tfs_refusal_count((uint32_t)i, TFS_CHECK_shadow_differs, site);
	tfs_log(TFS_LOG_WARN,
		"%s: a result in shadow mode differed from the program's: switched off",
		rewrite->name);
}

bool tfs_rewrite_shadow(const struct tfs_rewrite *rewrite, uint64_t bytes)
{
	if (!may_act(TFS_MODE_SHADOW))
		return false;
	count(number(rewrite), bytes);
	return true;
}

static enum tfs_rewrite_state state_of(
	size_t i, double predicted_ns, const struct tfs_measured *measured)
{
	const bool doubtful = tfs_rewrite_all[i]->switchable && !(predicted_ns > 0) &&
			      tfs_options.measure > 0 && tfs_rewrite_applied((uint32_t)i) > 0;

	if (tfs_rewrite_mode_of[i] != TFS_MODE_APPLY)
		return (enum tfs_rewrite_state)tfs_rewrite_mode_of[i];
	/* One that could not be measured is kept if its own model is for it. */
	if (!measured->asked)
		return doubtful ? TFS_REWRITE_OFF : TFS_REWRITE_APPLY;
	if (measured->outcome == TFS_OUTCOME_UNDECIDED)
		return TFS_REWRITE_OFF;
	return measured->outcome == TFS_OUTCOME_FASTER ? TFS_REWRITE_APPLY : TFS_REWRITE_LOST;
}

static enum tfs_rewrite_outcome outcome_of(const struct tfs_measured *measured)
{
	static const enum tfs_rewrite_outcome outcomes[TFS_OUTCOME_COUNT] = {
		[TFS_OUTCOME_UNDECIDED] = TFS_REWRITE_UNDECIDED,
		[TFS_OUTCOME_FASTER] = TFS_REWRITE_FASTER,
		[TFS_OUTCOME_SLOWER] = TFS_REWRITE_SLOWER,
		[TFS_OUTCOME_NO_DIFFERENCE] = TFS_REWRITE_NO_DIFFERENCE,
	};

	return measured->asked ? outcomes[measured->outcome] : TFS_REWRITE_NOT_MEASURED;
}

/* What measuring found. Nothing, of one that was not applicable and that no earlier run decided;
 * among ranks it may not have been asked about because the others' questions came first. */
static struct tfs_measured measured_of(uint32_t i)
{
	const struct tfs_measured nothing = {.gain = {NAN, NAN, NAN}};
	struct tfs_measured measured = nothing;

	if (!tfs_rewrite_all[i]->switchable || tfs_rewrite_mode_of[i] != TFS_MODE_APPLY)
		return nothing;
	tfs_measure_result(i, &measured);
	const bool open = measured.outcome == TFS_OUTCOME_UNDECIDED && tfs_options.ranks == 1;
	if (tfs_rewrite_applied(i) == 0 && (!measured.asked || open))
		return nothing;
	return measured;
}

/* Why it is as it is: what measuring found, what it says itself, what it refused because of. */
static struct tfs_reason reason_of(size_t i, const struct tfs_measured *measured)
{
	const char *cause = atomic_load(&states[i].cause);

	if (states[i].evidence.code != TFS_REASON_none)
		return states[i].evidence;
	if (measured->reason.code != TFS_REASON_none)
		return measured->reason;
	if (states[i].reason != TFS_REASON_none || !cause)
		return (struct tfs_reason){.code = states[i].reason, .object = states[i].object};
	return (struct tfs_reason){
		.code = TFS_REASON_caused,
		.object = tfs_recorder_string(cause),
		.numbers = {atomic_load(&states[i].caused)},
	};
}

void tfs_rewrite_decided(uint32_t i)
{
	tfs_spin_lock(&deciding);
	const double predicted_ns = tfs_rewrite_predicted(i);
	const struct tfs_measured measured = measured_of(i);
	const struct tfs_rewrite_record record = {
		.state = (uint16_t)state_of(i, predicted_ns, &measured),
		.name = states[i].name,
		.applied = tfs_rewrite_applied((uint32_t)i),
		.bytes = atomic_load(&states[i].bytes),
		.predicted_ns = predicted_ns,
		.realised_ns = measured.gain.middle,
		.realised_low_ns = measured.gain.low,
		.realised_high_ns = measured.gain.high,
		.class = (uint16_t)tfs_rewrite_all[i]->class,
		.outcome = (uint16_t)outcome_of(&measured),
		.reason = reason_of(i, &measured),
	};

	tfs_spin_lock(&states[i].telling);
	atomic_store(&states[i].decided, true);
	tfs_recorder_put(&record, TFS_RECORD_rewrite, sizeof(record));
	tfs_spin_unlock(&states[i].telling);
	tfs_spin_unlock(&deciding);
}

static void write_refusal(uint32_t rewrite, uint32_t check, uint32_t site, uint64_t count)
{
	const struct tfs_refusal_record record = {
		.site = site,
		.rewrite = states[rewrite].name,
		.check = (uint16_t)check,
		.count = count,
	};

	tfs_recorder_put(&record, TFS_RECORD_refusal, sizeof(record));
}

void tfs_ledger_start(size_t i)
{
	states[i].predicted_ns = NAN;
	/* While there is room for it. */
	states[i].name = tfs_recorder_string(tfs_rewrite_all[i]->name);
	if (tfs_rewrite_mode_of[i] != TFS_MODE_OFF)
		tell(i, 0);
}

void tfs_ledger_step(size_t i)
{
	states[i].steps++;
}

void tfs_ledger_write_refusals(void)
{
	const uint64_t lost = tfs_refusal_each(write_refusal);

	if (lost > 0)
		tfs_recorder_fact(TFS_FACT_refusals_lost, NULL, lost, 0);
}
