/* SPDX-License-Identifier: MIT */
#include "shim/steps/windows.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cupti/collector.h"
#include "shim/base/clock.h"
#include "shim/base/env.h"
#include "shim/base/threads.h"
#include "shim/contents/contents.h"
#include "shim/host/host.h"
#include "shim/record/live.h"
#include "shim/record/recorder.h"
#include "shim/steps/placement.h"
#include "shim/steps/step_listeners.h"
#include "shim/steps/steps.h"

/* How long whoever wants CUPTI may wait for a window that opens or closes. */
#define TURN_SECONDS 1

#define EARLY 4u

#define STEP_REWRITTEN 1u
#define STEP_IN_WINDOW 2u
#define WINDOW_CALLS 1u
#define WINDOW_DEVICE 2u
#define WINDOW_EVERYTHING 4u

_Atomic bool tfs_windows_rewriting;
static _Atomic bool open_now;
static _Atomic uint32_t number;
static uint64_t last_step;                                  /* of the open window */
static uint64_t last_steps;                                 /* how many it was to have */
static uint64_t first_step;                                 /* of it */
static uint64_t recorded;                                   /* steps, in all of them */
static _Atomic uint64_t next_step;                          /* at which the next one opens */
static _Atomic uint64_t next_ns;                            /* or when, if that comes first */
static _Atomic bool sighted;                                /* the open window has activity */
static bool lent;                                           /* CUPTI, by the option */
static bool anew;                                           /* no window was the first yet */
static _Atomic bool renew;                                  /* activity came too late for it */
static pthread_mutex_t turning = PTHREAD_MUTEX_INITIALIZER; /* windows, and who has CUPTI */
/* Of CUPTI, before there is a recording. */
static struct early {
	enum tfs_fact_code fact;
	uint64_t figure;
	char object[64];
} early[EARLY];
static uint32_t early_count;
static bool told; /* something of CUPTI */

static void put(bool opens, uint64_t ticks, uint64_t step, uint32_t flags)
{
	const struct tfs_window_record record = {
		.opens = opens,
		.number = number,
		.ticks = ticks,
		.step = step,
		.flags = flags,
	};

	tfs_recorder_put(&record, TFS_RECORD_window, sizeof(record));
}

static void let_rewrite(bool now)
{
	atomic_store(&tfs_windows_rewriting, now);
	tfs_step_listeners.offered();
}

static bool turn(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += TURN_SECONDS;
	return pthread_mutex_timedlock(&turning, &until) == 0;
}

static void tell(enum tfs_fact_code fact, const char *object, uint64_t figure)
{
	told = true;
	if (tfs_recording.header) {
		tfs_recorder_fact(fact, object, figure, 0);
	} else if (early_count < EARLY) {
		early[early_count].fact = fact;
		early[early_count].figure = figure;
		snprintf(early[early_count++].object, sizeof(early[0].object), "%s",
			object ? object : "");
	}
}

/* It may have worked so far, and not any more. */
static bool see_device(void)
{
	const bool was_ready = tfs_collector_ready();
	const bool sees = tfs_collector_window(true);

	if (was_ready && !tfs_collector_ready())
		tell(TFS_FACT_cupti_lost, NULL, tfs_steps_count());
	return sees;
}

static void open_window(uint64_t step, uint64_t steps, uint32_t flags)
{
	const bool device = see_device();

	atomic_store(&renew, false);
	atomic_store(&sighted, device);
	tfs_step_listeners.interrupted();
	number++;
	first_step = step;
	last_steps = steps;
	last_step = steps == UINT64_MAX ? UINT64_MAX : step + steps - 1;
	put(true, tfs_clock_ticks(), step, flags | WINDOW_CALLS | (device ? WINDOW_DEVICE : 0));
	tfs_live_record();
	atomic_store(&open_now, true);
	tfs_host_window(true);
	tfs_threads_wake(TFS_CALL_LOOK);
	tfs_contents_open();
	__atomic_fetch_or(&tfs_wanted,
		TFS_WANT_RECORD | TFS_WANT_CONTENTS | (device ? TFS_WANT_DEVICE : 0),
		__ATOMIC_RELAXED);
}

/* What is told: had it been taken already, or not yet. */
static const enum tfs_fact_code leaving[][2] = {
	[TFS_LEFT_BY_OPTION] = {TFS_FACT_cupti_never_lent, TFS_FACT_cupti_lent},
	[TFS_LEFT_BY_PROGRAM] = {TFS_FACT_cupti_never_given_back, TFS_FACT_cupti_given_back},
	[TFS_LEFT_TO_TOOL] = {TFS_FACT_cupti_never_gave_way, TFS_FACT_cupti_gave_way},
};

bool tfs_windows_leave(enum tfs_left why, const char *tool)
{
	const uint64_t ticks = tfs_clock_ticks();

	if (!turn())
		return false;
	__atomic_fetch_and(&tfs_wanted, ~TFS_WANT_DEVICE, __ATOMIC_RELAXED);
	bool was_on = false;
	const bool left = tfs_collector_leave(&was_on);
	if (atomic_load(&open_now) && atomic_exchange(&sighted, false))
		put(true, ticks, 0,
			WINDOW_CALLS |
				(tfs_options.record == TFS_RECORD_ALL ? WINDOW_EVERYTHING : 0));
	if (left)
		tell(leaving[why][was_on], tool, tfs_steps_count());
	pthread_mutex_unlock(&turning);
	return left;
}

bool tfs_windows_return(void)
{
	struct tfs_cupti_refusal refusal = {.fact = TFS_FACT_none};

	if (tfs_collector_ready())
		return true;
	if (!turn())
		return false;
	const bool back = tfs_collector_return(&refusal);
	/* Never given away, the helper had just taken it. */
	if (back && told)
		tell(TFS_FACT_cupti_again, NULL, tfs_steps_count());
	else if (refusal.fact != TFS_FACT_none)
		tell(refusal.fact, refusal.object, refusal.number);
	atomic_store(&renew, back && atomic_load(&open_now) && !atomic_load(&sighted));
	if (back)
		atomic_store(&next_ns, 0);
	pthread_mutex_unlock(&turning);
	return back;
}

void tfs_windows_activity(void)
{
	/* A window that is being opened may have asked for activity a moment before it came. */
	if (!turn())
		return;
	if (atomic_load(&open_now) && tfs_options.record == TFS_RECORD_WINDOWS) {
		if (!atomic_load(&sighted) && tfs_collector_ready())
			atomic_store(&renew, true);
	} else if (atomic_load(&open_now) && see_device()) {
		put(true, tfs_clock_ticks(), 0, WINDOW_CALLS | WINDOW_DEVICE | WINDOW_EVERYTHING);
		atomic_store(&sighted, true);
		__atomic_fetch_or(&tfs_wanted, TFS_WANT_DEVICE, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&turning);
}

/* What was recorded just now is not recorded again. */
static void place_next(uint64_t step)
{
	atomic_store(&next_step,
		tfs_placement_next(tfs_options.window_at, step + tfs_options.later_steps));
	next_ns = tfs_clock_ns(CLOCK_MONOTONIC) + tfs_options.window_seconds * UINT64_C(1000000000);
}

/* It ends before the first call that is not recorded any more. */
static void close_window(uint64_t step)
{
	const uint64_t ticks = tfs_clock_ticks();

	__atomic_fetch_and(&tfs_wanted, ~(TFS_WANT_RECORD | TFS_WANT_DEVICE | TFS_WANT_CONTENTS),
		__ATOMIC_RELAXED);
	atomic_store(&open_now, false);
	tfs_host_window(false);
	tfs_collector_window(false);
	put(false, ticks, step, 0);
	recorded += step > first_step ? step - first_step : 0;
	place_next(step);
}

void tfs_windows_start(void)
{
	for (uint32_t i = 0; i < early_count; i++)
		tfs_recorder_fact(early[i].fact, early[i].object, early[i].figure, 0);
	const bool alone = turn();

	if (tfs_options.record == TFS_RECORD_ALL)
		open_window(0, UINT64_MAX, WINDOW_EVERYTHING);
	if (alone)
		pthread_mutex_unlock(&turning);
	if (tfs_options.record == TFS_RECORD_NONE)
		let_rewrite(true);
}

/* The steps in which others may have CUPTI. */
static void heed_option(uint64_t index)
{
	const uint64_t first = tfs_options.cupti_off >> 32;
	const uint64_t last = tfs_options.cupti_off & UINT32_MAX;

	if (tfs_options.cupti_off == 0 || index < first)
		return;
	if (!lent && index <= last) {
		lent = true;
		tfs_windows_leave(TFS_LEFT_BY_OPTION, NULL);
	} else if (lent && index > last) {
		lent = false;
		tfs_options.cupti_off = 0;
		tfs_windows_return();
	}
}

static bool is_first(void)
{
	return number == 0 || anew;
}

static uint64_t steps_of_next(void)
{
	struct tfs_placement_room room = {.steps = recorded};

	if (is_first())
		return tfs_options.window_steps;
	tfs_writer_used(&tfs_recording, &room.used_bytes, &room.left_bytes);
	return tfs_placement_steps(tfs_options.later_steps, &room);
}

static void open_next(uint64_t index)
{
	const uint64_t steps = steps_of_next();

	if (steps == 0 && !is_first()) {
		place_next(index);
		return;
	}
	let_rewrite(false);
	open_window(index, steps, 0);
	anew = false;
}

static void turn_window(uint64_t index)
{
	const bool again = atomic_load(&renew);

	if (atomic_load(&open_now)) {
		close_window(index);
		if (again) {
			open_window(index, last_steps, 0);
			return;
		}
		let_rewrite(true);
	} else {
		open_next(index);
	}
}

static bool is_due(uint64_t index)
{
	return is_first() || index >= atomic_load_explicit(&next_step, memory_order_relaxed) ||
	       tfs_clock_ns(CLOCK_MONOTONIC) >= atomic_load(&next_ns);
}

void tfs_windows_step(uint64_t index)
{
	heed_option(index);
	tfs_host_watch();
	if (tfs_options.record != TFS_RECORD_WINDOWS)
		return;
	const bool due =
		atomic_load(&open_now) ? index > last_step || atomic_load(&renew) : is_due(index);

	if (!due || !turn())
		return;
	turn_window(index);
	pthread_mutex_unlock(&turning);
}

void tfs_windows_anew(void)
{
	anew = !atomic_load(&open_now);
	last_steps = tfs_options.window_steps;
	if (tfs_options.record == TFS_RECORD_WINDOWS && !anew)
		atomic_store(&renew, true);
}

void tfs_windows_without_steps(void)
{
	if (tfs_options.record == TFS_RECORD_WINDOWS)
		let_rewrite(true);
}

bool tfs_windows_open(void)
{
	return atomic_load_explicit(&open_now, memory_order_relaxed);
}

uint32_t tfs_windows_step_flags(void)
{
	return (tfs_windows_open() ? STEP_IN_WINDOW : 0) |
	       (tfs_windows_rewrites() && tfs_step_listeners.rewritten() ? STEP_REWRITTEN : 0);
}

void tfs_windows_finish(void)
{
	const bool alone = turn();

	if (atomic_load(&open_now))
		close_window(0);
	tfs_live_record();
	if (alone)
		pthread_mutex_unlock(&turning);
}
