/* SPDX-License-Identifier: MIT */
/*
 * Steps that one thread after the other declares, the windows and the measurement that turn with
 * them, while others ask, interrupt, keep verdicts and take CUPTI away; the program ends amidst.
 */
#include <pthread.h>
#include <sched.h>

#include "cupti/collector.h"
#include "shim/record/callsite.h"
#include "shim/record/details.h"
#include "shim/record/frame.h"
#include "shim/rewrites/measure.h"
#include "shim/rewrites/rewrite_ledger.h"
#include "shim/steps/steps.h"
#include "shim/steps/windows.h"
#include "tests/unit/trace/recording.h"

/* At least. */
#define STEPS 6000u
#define ASKED 50000u
#define LENT 20u

static atomic_uint steps; /* that the program declared by tfshim_step() */
static atomic_ulong asked;
static atomic_uint lent; /* times that CUPTI was */
static atomic_bool over;
static uint32_t switchable;

/* CUPTI, which is always to be had. */
static atomic_bool taken = true;

void tfs_collector_start(void)
{
}

bool tfs_collector_ready(void)
{
	return atomic_load(&taken);
}

bool tfs_collector_window(bool open)
{
	return open && atomic_load(&taken);
}

void tfs_collector_poll(void)
{
}

void tfs_collector_push(uint64_t unit)
{
	(void)unit;
}

void tfs_collector_pop(void)
{
}

void tfs_collector_finish(void)
{
}

bool tfs_collector_leave(bool *out_was_on)
{
	*out_was_on = atomic_exchange(&taken, false);
	return *out_was_on;
}

bool tfs_collector_return(struct tfs_cupti_refusal *out_refusal)
{
	(void)out_refusal;
	atomic_store(&taken, true);
	return true;
}

void tfs_collector_taken(const char *by)
{
	(void)by;
}

void *tfs_collector_share(void *request, void *complete)
{
	(void)request;
	return complete;
}

void tfs_collector_forget(void)
{
}

static void take_part(void)
{
	for (uint32_t left = switchable; left != 0; left &= left - 1) {
		const uint32_t i = (uint32_t)__builtin_ctz(left);

		if (!tfs_rewrite_takes_part(i))
			continue;
		tfs_rewrite_apply(tfs_rewrite_all[i], 8);
		tfs_rewrite_predict_call(tfs_rewrite_all[i], 5);
	}
}

/* The program's own thread of steps. */
static void *declare(void *nothing)
{
	for (uint32_t i = 0; i < STEPS || asked < ASKED || lent < LENT; i++) {
		take_part();
		if (i % 100 == 99)
			tfs_steps_end(TFS_STEP_API, tfs_clock_ticks(), 0x1000);
		else
			tfs_steps_begin(TFS_STEP_API, tfs_clock_ticks(), 0x1000);
		atomic_fetch_add(&steps, 1);
	}
	return nothing;
}

/* Another one has NVTX ranges, and is believed until then. */
static void *name_ranges(void *nothing)
{
	while (!atomic_load(&over)) {
		tfs_steps_begin(TFS_STEP_NVTX, tfs_clock_ticks(), 0x2000);
		sched_yield();
	}
	return nothing;
}

/* A third one's calls are searched until then. */
static void *loop(void *nothing)
{
	static struct tfs_function function = {.name = "cudaMemcpy"};
	static struct tfs_cache_entry inside = {.flags = TFS_SITE_SHORT, .function = &function};
	static struct tfs_cache_entry outside = {
		.flags = TFS_SITE_SHORT | TFS_SITE_OUTSIDE, .function = &function};
	struct tfs_thread *thread = tfs_recorder_named_thread("loop");
	const struct tfs_frame frame = {.thread = thread, .entry = &inside};
	const struct tfs_details details = {.count = 0};

	TEST_NEED(thread);
	while (!atomic_load(&over)) {
		tfs_steps_feed(&frame, &details);
		tfs_steps_mark(thread, &inside);
		tfs_steps_mark(thread, &outside);
		atomic_fetch_add(&asked, 1);
	}
	return nothing;
}

static void *ask(void *nothing)
{
	while (!atomic_load(&over)) {
		take_part();
		tfs_measure_interrupt();
		const uint32_t flags = tfs_windows_step_flags();
		TEST_TRUE(flags <= 3);
		atomic_fetch_add(&asked, tfs_steps_now() <= tfs_steps_count());
	}
	return nothing;
}

static void *help(void *nothing)
{
	while (!atomic_load(&over)) {
		tfs_windows_activity();
		tfs_rewrite_keep();
		usleep(1000);
	}
	return nothing;
}

static void *take_cupti(void *nothing)
{
	while (!atomic_load(&over)) {
		tfs_windows_leave(TFS_LEFT_TO_TOOL, "a profiler");
		tfs_windows_return();
		atomic_fetch_add(&lent, 1);
		usleep(1000);
	}
	return nothing;
}

static void start(void)
{
	tfs_options.record = TFS_RECORD_WINDOWS;
	tfs_options.window_steps = 5;
	tfs_options.later_steps = 2;
	tfs_options.measure = 4000;
	tfs_options.ranks = 1;
	tfs_options.quiet = true;
	recording_start();
	for (uint32_t i = 0; tfs_rewrite_all[i]; i++) {
		tfs_ledger_start(i);
		if (!tfs_rewrite_all[i]->switchable)
			continue;
		tfs_rewrite_mode_of[i] = TFS_MODE_APPLY;
		switchable |= 1u << i;
	}
	tfs_measure_start(switchable);
	tfs_steps_start();
	tfs_windows_start();
}

/* As at exit, which another thread may have called. */
static void end(void)
{
	tfs_steps_finish();
	tfs_windows_finish();
	for (uint32_t i = 0; tfs_rewrite_all[i]; i++)
		tfs_rewrite_decided(i);
	tfs_measure_keep();
}

int main(void)
{
	static void *(*const others[])(void *) = {loop, name_ranges, ask, ask, help, take_cupti};
	enum { OTHERS = sizeof(others) / sizeof(others[0]) };
	pthread_t threads[OTHERS], declarer;
	char command[96];

	start();
	for (int i = 0; i < OTHERS; i++)
		TEST_NEED(pthread_create(&threads[i], NULL, others[i], NULL) == 0);
	usleep(20000);
	TEST_NEED(pthread_create(&declarer, NULL, declare, NULL) == 0);
	while (atomic_load(&steps) < STEPS / 2) {
		end();
		usleep(5000);
	}
	/* NCCL's communicators are made. */
	tfs_env_ranks(2);
	while (atomic_load(&steps) < STEPS - STEPS / 8)
		usleep(1000);
	end();
	pthread_join(declarer, NULL);
	atomic_store(&over, true);
	for (int i = 0; i < OTHERS; i++)
		pthread_join(threads[i], NULL);

	struct tfs_trace *trace = recording_read();
	TEST_TRUE(tfs_trace_count(trace, TFS_RECORD_window) >= 2);
	printf("%u steps, %zu turns of windows, %lu questions\n", steps,
		tfs_trace_count(trace, TFS_RECORD_window), asked);
	tfs_trace_close(trace);
	snprintf(command, sizeof(command), "rm -r %s", recording_folder);
	TEST_EQ(system(command), 0);
	return test_result();
}
