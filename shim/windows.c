/* SPDX-License-Identifier: MIT */
#include "shim/windows.h"

#include <stdatomic.h>

#include "cupti/collector.h"
#include "rules/rewrites/measure.h"
#include "rules/rewrites/rewrite.h"
#include "shim/clock.h"
#include "shim/env.h"
#include "shim/recorder.h"
#include "shim/shim.h"

#define STEP_REWRITTEN 1u
#define STEP_IN_WINDOW 2u
#define WINDOW_CALLS 1u
#define WINDOW_DEVICE 2u
#define WINDOW_EVERYTHING 4u

static _Atomic bool open_now;
static _Atomic bool rewrites;
static uint32_t number;
static uint64_t last_step;   /* of the open window */
static uint64_t last_steps;  /* how many it was to have */
static uint64_t next_ns;     /* earliest start of the next one */
static _Atomic bool sighted; /* the open window has activity */
static _Atomic bool renew;   /* activity came too late for it */

static void put(bool opens, uint64_t ticks, uint64_t step, uint32_t flags)
{
	const struct tfs_window_record record = {
		.record = {.function = opens, .site = number},
		.ticks = ticks,
		.step = step,
		.flags = flags,
	};

	tfs_recorder_put(&record, TFS_RECORD_window, sizeof(record));
}

static void open_window(uint64_t step, uint64_t steps, uint32_t flags)
{
	const bool device = tfs_collector_window(true);

	atomic_store(&renew, false);
	atomic_store(&sighted, device);
	tfs_measure_interrupt();
	number++;
	last_steps = steps;
	last_step = steps == UINT64_MAX ? UINT64_MAX : step + steps - 1;
	put(true, tfs_clock_ticks(), step, flags | WINDOW_CALLS | (device ? WINDOW_DEVICE : 0));
	atomic_store(&open_now, true);
	tfs_shim_look();
	__atomic_fetch_or(
		&tfs_wanted, TFS_WANT_RECORD | (device ? TFS_WANT_DEVICE : 0), __ATOMIC_RELAXED);
}

void tfs_windows_activity(void)
{
	if (!atomic_load(&open_now))
		return;
	if (tfs_options.record == TFS_RECORD_WINDOWS) {
		if (!atomic_load(&sighted) && tfs_collector_ready())
			atomic_store(&renew, true);
		return;
	}
	if (!tfs_collector_window(true))
		return;
	put(true, tfs_clock_ticks(), 0, WINDOW_CALLS | WINDOW_DEVICE | WINDOW_EVERYTHING);
	__atomic_fetch_or(&tfs_wanted, TFS_WANT_DEVICE, __ATOMIC_RELAXED);
}

/* It ends before the first call that is not recorded any more. */
static void close_window(uint64_t step)
{
	const uint64_t ticks = tfs_clock_ticks();

	__atomic_fetch_and(&tfs_wanted, ~(TFS_WANT_RECORD | TFS_WANT_DEVICE), __ATOMIC_RELAXED);
	atomic_store(&open_now, false);
	tfs_collector_window(false);
	put(false, ticks, step, 0);
	next_ns = tfs_clock_ns(CLOCK_MONOTONIC) + tfs_options.window_seconds * UINT64_C(1000000000);
}

void tfs_windows_start(void)
{
	if (tfs_options.record == TFS_RECORD_ALL)
		open_window(0, UINT64_MAX, WINDOW_EVERYTHING);
	if (tfs_options.record == TFS_RECORD_NONE)
		atomic_store(&rewrites, true);
}

void tfs_windows_step(uint64_t index)
{
	if (tfs_options.record != TFS_RECORD_WINDOWS)
		return;
	if (atomic_load(&open_now)) {
		const bool again = atomic_load(&renew);

		if (index <= last_step && !again)
			return;
		close_window(index);
		if (again) {
			open_window(index, last_steps, 0);
			return;
		}
		atomic_store(&rewrites, true);
	} else if (number == 0 || tfs_clock_ns(CLOCK_MONOTONIC) >= next_ns) {
		atomic_store(&rewrites, false);
		open_window(
			index, number == 0 ? tfs_options.window_steps : tfs_options.later_steps, 0);
	}
}

void tfs_windows_without_steps(void)
{
	if (tfs_options.record == TFS_RECORD_WINDOWS)
		atomic_store(&rewrites, true);
}

bool tfs_windows_open(void)
{
	return atomic_load_explicit(&open_now, memory_order_relaxed);
}

bool tfs_windows_rewrites(void)
{
	return atomic_load_explicit(&rewrites, memory_order_relaxed);
}

uint32_t tfs_windows_step_flags(void)
{
	return (tfs_windows_open() ? STEP_IN_WINDOW : 0) |
	       (tfs_windows_rewrites() && tfs_rewrite_any_switchable() ? STEP_REWRITTEN : 0);
}

void tfs_windows_finish(void)
{
	if (atomic_load(&open_now))
		close_window(0);
}
