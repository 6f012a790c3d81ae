/* SPDX-License-Identifier: MIT */
#include "rules/rewrites/rewrite.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "rewrite_list.h"
#include "rules/rewrites/blocks.h"
#include "rules/rewrites/measure.h"
#include "rules/rewrites/rewrite_modes.h"
#include "rules/rewrites/rewrite_refusals.h"
#include "shim/env.h"
#include "shim/log.h"
#include "shim/recorder.h"
#include "shim/trace/format.h"
#include "shim/windows.h"

#define X(name) extern const struct tfs_rewrite tfs_rewrite_##name;
TFS_REWRITES(X)
#undef X

static const struct tfs_rewrite *const rewrites[] = {
#define X(name) &tfs_rewrite_##name,
	TFS_REWRITES(X) NULL
#undef X
};

static enum tfs_rewrite_mode modes[sizeof(rewrites) / sizeof(rewrites[0])];

static struct {
	_Atomic uint64_t applied;
	_Atomic uint64_t bytes;
	double predicted_ns;
	_Atomic int64_t modelled_ns; /* gain of the calls it took part in, by its own model */
	_Atomic uint64_t modelled;   /* such calls */
	char evidence[120];          /* of a shadow that differed */
	const char *reason;          /* the rewrite's own, or NULL */
	uint64_t steps;              /* outside windows, it being on */
} states[sizeof(rewrites) / sizeof(rewrites[0])];

static bool forgotten;

uint32_t tfs_rewrites_taking;

static size_t number(const struct tfs_rewrite *rewrite)
{
	size_t i = 0;

	while (rewrites[i] != NULL && rewrites[i] != rewrite)
		i++;
	return i;
}

static void say_unknown(const char *word, int length)
{
	tfs_log_say("TFSHIM_REWRITE: '%.*s' names no rewrite or mode; it is off", length, word);
}

void tfs_rewrite_start(void)
{
	uint32_t taking = 0;
	uint32_t switchable = 0;

	tfs_rewrite_modes(tfs_options.rewrite, rewrites, modes, say_unknown);
	for (size_t i = 0; rewrites[i] != NULL; i++) {
		const struct tfs_rewrite *rewrite = rewrites[i];

		states[i].predicted_ns = NAN;
		if (modes[i] == TFS_MODE_OFF)
			continue;
		if (modes[i] == TFS_MODE_SHADOW && rewrite->shadow == NULL && !rewrite->compares) {
			tfs_log_say("TFSHIM_REWRITE: %s cannot run in shadow; it only reports",
				rewrite->name);
			modes[i] = TFS_MODE_REPORT;
		}
		if (rewrite->start != NULL && !rewrite->start()) {
			modes[i] = TFS_MODE_OFF;
			continue;
		}
		if (rewrite->switchable && modes[i] == TFS_MODE_APPLY)
			switchable |= 1u << i;
		taking |= modes[i] == TFS_MODE_SHADOW && rewrite->shadow != NULL
				  ? TFS_SHADOWS_COPIES
				  : 0;
		taking |= rewrite->copy != NULL ? TFS_TAKES_COPIES : 0;
		taking |= rewrite->convolution != NULL || rewrite->choice != NULL
				  ? TFS_TAKES_CONVOLUTIONS
				  : 0;
		taking |= rewrite->alloc != NULL || rewrite->release != NULL ? TFS_TAKES_MEMORY : 0;
		taking |= rewrite->query != NULL ? TFS_TAKES_QUERIES : 0;
	}
	tfs_measure_start(switchable);
	__atomic_store_n(&tfs_rewrites_taking, taking, __ATOMIC_RELAXED);
}

enum tfs_rewrite_mode tfs_rewrite_mode(const struct tfs_rewrite *rewrite)
{
	return modes[number(rewrite)];
}

bool tfs_rewrite_check(const struct tfs_rewrite *rewrite, uint32_t check, bool holds, uint32_t site)
{
	if (!holds)
		tfs_refusal_count((uint32_t)number(rewrite), check, site);
	return holds;
}

static void announce(void)
{
	static _Atomic bool said;

	if (!atomic_exchange(&said, true) && tfs_options.rank == 0 && !tfs_options.quiet)
		tfs_log_say("rewrites are on (%s); TFSHIM_REWRITE=off leaves the program as it is",
			tfs_options.rewrite);
}

bool tfs_rewrite_apply(const struct tfs_rewrite *rewrite, uint64_t bytes)
{
	const size_t i = number(rewrite);

	if (modes[i] != TFS_MODE_APPLY)
		return false;
	announce();
	atomic_fetch_add_explicit(&states[i].applied, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&states[i].bytes, bytes, memory_order_relaxed);
	return true;
}

void tfs_rewrite_explain(const struct tfs_rewrite *rewrite, const char *reason)
{
	__atomic_store_n(&states[number(rewrite)].reason, reason, __ATOMIC_RELAXED);
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
		__atomic_fetch_and(&tfs_measure_on, ~(1u << i), __ATOMIC_RELAXED);
}

const char *tfs_rewrite_name(uint32_t i)
{
	return rewrites[i]->name;
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

	if (!rewrites[i]->switchable)
		return states[i].predicted_ns;
	if (calls == 0 || (states[i].steps == 0 && calls < MODELLED_CALLS))
		return NAN;
	return states[i].steps > 0 ? gain / (double)states[i].steps : gain / (double)calls;
}

static bool is_on(size_t i)
{
	return !rewrites[i]->switchable ||
	       (tfs_windows_rewrites() &&
		       (__atomic_load_n(&tfs_measure_on, __ATOMIC_RELAXED) >> i & 1) != 0);
}

static bool takes_part(size_t i)
{
	return modes[i] != TFS_MODE_OFF && is_on(i);
}

void tfs_rewrite_step(uint64_t ns)
{
	for (size_t i = 0; rewrites[i] != NULL; i++)
		states[i].steps += rewrites[i]->switchable && takes_part(i);
	tfs_measure_step(ns);
}

bool tfs_rewrite_copy(const struct tfs_copy_call *call, uint32_t *out_status)
{
	const int saved = errno;
	bool done = false;

	for (size_t i = 0; rewrites[i] != NULL && !done; i++)
		if (rewrites[i]->copy != NULL && modes[i] != TFS_MODE_SHADOW && takes_part(i))
			done = rewrites[i]->copy(call, out_status);
	errno = saved;
	return done;
}

/* The results differ: off for the rest of the run, and the report says where it was. */
static void drop(size_t i, uint32_t site)
{
	modes[i] = TFS_MODE_OFF;
	tfs_refusal_count((uint32_t)i, TFS_REFUSAL_MISMATCH, site);
	tfs_log(TFS_LOG_WARN, "%s in shadow: %s", rewrites[i]->name, states[i].evidence);
}

void tfs_rewrite_differs(const struct tfs_rewrite *rewrite, uint32_t site, const char *evidence)
{
	const size_t i = number(rewrite);

	snprintf(states[i].evidence, sizeof(states[i].evidence), "%s", evidence);
	drop(i, site);
}

void tfs_rewrite_copied(const struct tfs_copy_call *call)
{
	const int saved = errno;

	for (size_t i = 0; rewrites[i] != NULL; i++)
		if (modes[i] == TFS_MODE_SHADOW && rewrites[i]->shadow != NULL && takes_part(i) &&
			!rewrites[i]->shadow(call, states[i].evidence, sizeof(states[i].evidence)))
			drop(i, call->site);
	errno = saved;
}

bool tfs_rewrite_shadow(const struct tfs_rewrite *rewrite, uint64_t bytes)
{
	const size_t i = number(rewrite);

	atomic_fetch_add_explicit(&states[i].applied, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&states[i].bytes, bytes, memory_order_relaxed);
	return true;
}

void tfs_rewrite_convolution(struct tfs_convolution_call *call)
{
	const int saved = errno;

	for (size_t i = 0; rewrites[i] != NULL; i++)
		if (rewrites[i]->convolution != NULL && takes_part(i))
			rewrites[i]->convolution(call);
	errno = saved;
}

void tfs_rewrite_choice(struct tfs_choice_call *call)
{
	const int saved = errno;

	for (size_t i = 0; rewrites[i] != NULL; i++)
		if (rewrites[i]->choice != NULL && takes_part(i))
			rewrites[i]->choice(call);
	errno = saved;
}

bool tfs_rewrite_answer(struct tfs_choice_call *call)
{
	const int saved = errno;
	bool done = false;

	for (size_t i = 0; rewrites[i] != NULL && !done; i++)
		if (rewrites[i]->answer != NULL && takes_part(i))
			done = rewrites[i]->answer(call);
	errno = saved;
	return done;
}

void tfs_rewrite_backend(uint32_t site)
{
	const int saved = errno;

	for (size_t i = 0; rewrites[i] != NULL; i++)
		if (rewrites[i]->backend != NULL && modes[i] != TFS_MODE_OFF)
			rewrites[i]->backend(site);
	errno = saved;
}

void tfs_rewrite_handle(void)
{
	const int saved = errno;

	for (size_t i = 0; rewrites[i] != NULL; i++)
		if (rewrites[i]->handle != NULL && modes[i] != TFS_MODE_OFF)
			rewrites[i]->handle();
	errno = saved;
}

bool tfs_rewrite_alloc(struct tfs_memory_call *call, uint32_t *out_status)
{
	const int saved = errno;
	bool done = false;

	for (size_t i = 0; rewrites[i] != NULL && !done; i++)
		if (rewrites[i]->alloc != NULL && takes_part(i))
			done = rewrites[i]->alloc(call, out_status);
	errno = saved;
	return done;
}

bool tfs_rewrite_release(const struct tfs_memory_call *call, uint32_t *out_status)
{
	const int saved = errno;
	bool done = false;

	for (size_t i = 0; rewrites[i] != NULL && !done; i++)
		if (rewrites[i]->release != NULL && takes_part(i))
			done = rewrites[i]->release(call, out_status);
	errno = saved;
	return done;
}

bool tfs_rewrite_query(struct tfs_query_call *call)
{
	const int saved = errno;
	bool done = false;

	for (size_t i = 0; rewrites[i] != NULL && !done; i++)
		if (rewrites[i]->query != NULL && takes_part(i))
			done = rewrites[i]->query(call);
	errno = saved;
	return done;
}

void tfs_rewrite_answered(const struct tfs_query_call *call)
{
	const int saved = errno;

	for (size_t i = 0; rewrites[i] != NULL; i++)
		if (rewrites[i]->answered != NULL && takes_part(i))
			rewrites[i]->answered(call);
	errno = saved;
}

void tfs_rewrite_reset(uint32_t device)
{
	for (size_t i = 0; rewrites[i] != NULL; i++)
		if (rewrites[i]->reset != NULL && modes[i] != TFS_MODE_OFF)
			rewrites[i]->reset(device);
}

bool tfs_rewrite_any_switchable(void)
{
	for (size_t i = 0; rewrites[i] != NULL; i++)
		if (rewrites[i]->switchable && modes[i] == TFS_MODE_APPLY && is_on(i) &&
			atomic_load_explicit(&states[i].applied, memory_order_relaxed) > 0)
			return true;
	return false;
}

/* What the rewrite came to. One that was never measured is kept if its own model is for it. */
static enum tfs_rewrite_state outcome(
	size_t i, double predicted_ns, const struct tfs_measured *measured)
{
	const bool doubtful = rewrites[i]->switchable && !(predicted_ns > 0) &&
			      tfs_options.measure > 0 && tfs_rewrite_applied((uint32_t)i) > 0;

	if (modes[i] != TFS_MODE_APPLY)
		return (enum tfs_rewrite_state)modes[i];
	if (measured->verdict == TFS_VERDICT_LOST)
		return TFS_REWRITE_LOST;
	return measured->verdict == TFS_VERDICT_NONE && doubtful ? TFS_REWRITE_OFF
								 : TFS_REWRITE_APPLY;
}

static void write_state(size_t i)
{
	const double predicted_ns = tfs_rewrite_predicted((uint32_t)i);
	struct tfs_measured measured = {.gain = {NAN, NAN, NAN}};

	/* One that an earlier run's verdict keeps off never takes part. */
	if (rewrites[i]->switchable && modes[i] == TFS_MODE_APPLY &&
		(tfs_rewrite_applied((uint32_t)i) > 0 || (tfs_measure_on >> i & 1) == 0))
		tfs_measure_result((uint32_t)i, predicted_ns, &measured);
	if (states[i].evidence[0] != '\0')
		memcpy(measured.reason, states[i].evidence, sizeof(states[i].evidence));
	const char *reason = measured.reason[0] != '\0' || states[i].reason == NULL
				     ? measured.reason
				     : states[i].reason;
	const struct tfs_rewrite_record record = {
		.record = {.function = (uint16_t)outcome(i, predicted_ns, &measured),
			.site = tfs_recorder_string(rewrites[i]->name)},
		.applied = tfs_rewrite_applied((uint32_t)i),
		.bytes = atomic_load(&states[i].bytes),
		.predicted_ns = predicted_ns,
		.realised_ns = measured.gain.middle,
		.realised_low_ns = measured.gain.low,
		.realised_high_ns = measured.gain.high,
		.rank = rewrites[i]->rank,
		.reason = reason[0] != '\0' ? tfs_recorder_string(reason) : 0,
	};

	tfs_recorder_put(&record, TFS_RECORD_rewrite, sizeof(record));
}

void tfs_rewrite_decided(uint32_t i)
{
	write_state(i);
}

static void write_refusal(uint32_t rewrite, uint32_t check, uint32_t site, uint64_t count)
{
	const struct tfs_refusal_record record = {
		.record = {.site = site},
		.rewrite = tfs_recorder_string(rewrites[rewrite]->name),
		.check = tfs_recorder_string(check == TFS_REFUSAL_MISMATCH
						     ? TFS_REWRITE_MISMATCH
						     : rewrites[rewrite]->checks[check]),
		.count = count,
	};

	tfs_recorder_put(&record, TFS_RECORD_refusal, sizeof(record));
}

void tfs_rewrite_finish(void)
{
	if (forgotten)
		return;
	__atomic_store_n(&tfs_rewrites_taking, 0, __ATOMIC_RELAXED);
	for (size_t i = 0; rewrites[i] != NULL; i++) {
		if (rewrites[i]->finish != NULL && modes[i] != TFS_MODE_OFF)
			rewrites[i]->finish();
		write_state(i);
	}
	const uint64_t lost = tfs_refusal_each(write_refusal);
	if (lost > 0)
		tfs_recorder_fact("rewrites refused", "calls at too many places to tell", lost);
}

void tfs_rewrite_forget(void)
{
	forgotten = true;
	tfs_blocks_forget();
	__atomic_store_n(&tfs_rewrites_taking, 0, __ATOMIC_RELAXED);
}
