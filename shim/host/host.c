/* SPDX-License-Identifier: MIT */
#include "shim/host/host.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shim/base/clock.h"
#include "shim/base/env.h"
#include "shim/base/threads.h"
#include "shim/host/host_code.h"
#include "shim/host/host_others.h"
#include "shim/host/host_task.h"
#include "shim/record/recorder.h"

/* A step of some milliseconds is sampled some times; in a long window it is done less often. */
#define FIRST_PERIOD_NS UINT64_C(1000000)
#define LAST_PERIOD_NS UINT64_C(16000000)
#define SAMPLES_PER_PERIOD 2048u
/* A sample that took longer may be of another moment than it says. */
#define MOST_SAMPLE_NS UINT64_C(500000)
/* Others are many files: counting them takes at most this part of the time. */
#define OTHERS_PART 20u
#define LEAST_OTHERS_NS UINT64_C(8000000)
#define MOST_CODE 65536u
#define SECOND_NS UINT64_C(1000000000)

static _Atomic pid_t watched; /* 0 = not known yet */
static _Atomic bool window;
static _Atomic bool started;

/* Of the thread that is sampled. */
static struct tfs_host_task task;
static struct tfs_host_code code = {.file = -1};
static unsigned code_samples; /* in this window */
static uint64_t others_ns;    /* when the others may be counted again */

void tfs_host_watch(void)
{
	if (tfs_options.host)
		atomic_store_explicit(&watched, gettid(), memory_order_relaxed);
}

void tfs_host_window(bool opens)
{
	atomic_store(&window, opens && tfs_options.host);
	if (opens)
		tfs_threads_wake(TFS_CALL_HOST);
}

bool tfs_host_needed(void)
{
	return atomic_load(&window) && !atomic_exchange(&started, true);
}

static const char *root(void)
{
	return tfs_options.proc ? tfs_env_text(tfs_options.proc) : "/proc";
}

/* Whether it is ever seen: told once if not, and once more if it is after all. */
static void tell_sight(bool sees)
{
	static enum tfs_fact_code told = TFS_FACT_none;
	const enum tfs_fact_code now = sees ? TFS_FACT_host_sampled : TFS_FACT_host_none;

	if (told == now || told == TFS_FACT_host_sampled)
		return;
	tfs_recorder_fact(now, NULL, 0, 0);
	told = now;
}

/* A filter of system calls may end the process for one that it does not expect. */
static bool is_filtered(void)
{
	char text[4096];
	const char *line;

	if (!tfs_host_text("/proc/thread-self/status", text, sizeof(text)))
		return true;
	line = strstr(text, "\nSeccomp:\t");
	return line && line[10] != '0';
}

static void open_code(pid_t tid)
{
	static bool told;
	const bool filtered = is_filtered();
	const int err = filtered ? 0 : tfs_host_code_open(&code, tid);

	if (!told)
		tfs_recorder_fact(filtered ? TFS_FACT_host_code_filtered
				  : err    ? TFS_FACT_host_code_none
					   : TFS_FACT_host_code,
			NULL, (uint64_t)err, 0);
	told = true;
}

static void put_code(uint64_t ns, uint64_t address)
{
	const struct tfs_host_code_record record = {
		.tid = (uint32_t)task.tid, .ns = ns, .address = address};

	if (code_samples++ < MOST_CODE)
		tfs_recorder_put(&record, TFS_RECORD_host_code, sizeof(record));
}

static void let_go(void)
{
	tfs_host_code_read(&code, put_code);
	tfs_host_code_close(&code);
	tfs_host_task_close(&task);
}

/* The thread that makes the steps may be another one by now. */
static bool follow(pid_t now)
{
	if (now == task.tid)
		return true;
	let_go();
	if (now == 0 || !tfs_host_task_open(&task, root(), now))
		return false;
	open_code(now);
	return true;
}

/* Only who waits has others do something for it. */
static void count_others(uint64_t ns, enum tfs_host_doing doing)
{
	struct tfs_host_others_record record = {.ns = ns};

	if (ns < others_ns ||
		(doing != TFS_HOST_lock && doing != TFS_HOST_pipe && doing != TFS_HOST_socket &&
			doing != TFS_HOST_ready && doing != TFS_HOST_process))
		return;
	tfs_host_others_count(root(), task.tid, &record);
	tfs_recorder_put(&record, TFS_RECORD_host_others, sizeof(record));
	const uint64_t took = tfs_clock_ns(CLOCK_MONOTONIC) - ns;
	others_ns = ns + LEAST_OTHERS_NS + OTHERS_PART * took;
}

/* False where there is nothing to be sampled. */
static bool sample(void)
{
	const uint64_t begun_ns = tfs_clock_ns(CLOCK_MONOTONIC);
	struct tfs_host_record record = {0};

	if (!follow(atomic_load(&watched)))
		return false;
	if (!tfs_host_task_read(&task, &record)) {
		let_go();
		return false;
	}
	record.ns = tfs_clock_ns(CLOCK_MONOTONIC);
	if (record.ns - begun_ns <= MOST_SAMPLE_NS) {
		tfs_recorder_put(&record, TFS_RECORD_host, sizeof(record));
		count_others(record.ns, (enum tfs_host_doing)record.doing);
	}
	tfs_host_code_read(&code, put_code);
	return true;
}

static void sample_while_open(void)
{
	uint64_t period = FIRST_PERIOD_NS;
	unsigned samples = 0;

	code_samples = 0;
	while (atomic_load(&window) && !tfs_threads_alone()) {
		const uint32_t seen = tfs_threads_woken(TFS_CALL_HOST);
		const bool sees = sample();

		if (atomic_load(&watched) != 0)
			tell_sight(sees);
		if (sees && ++samples % SAMPLES_PER_PERIOD == 0 && period < LAST_PERIOD_NS)
			period *= 2;
		tfs_threads_doze(TFS_CALL_HOST, seen, sees ? period : LAST_PERIOD_NS);
	}
	let_go();
}

/* Whoever made the first call may be one that all others wait for: a thread has the policy of who
 * started it. */
static void yield_to_program(void)
{
	const struct sched_param usual = {0};
	const int policy = sched_getscheduler(0);

	if (policy == SCHED_FIFO || policy == SCHED_RR)
		sched_setscheduler(0, SCHED_OTHER, &usual);
}

void *tfs_host_run(void *nothing)
{
	(void)nothing;
	tfs_self.busy = true;
	tfs_threads_begin("tfshim-host");
	yield_to_program();
	/* What it opens is never to be among the program's descriptors. */
	const bool may_sample = tfs_threads_own_descriptors();
	if (!may_sample)
		tfs_recorder_fact(TFS_FACT_host_no_descriptors, NULL, 0, 0);
	while (!tfs_threads_alone()) {
		const uint32_t seen = tfs_threads_woken(TFS_CALL_HOST);

		if (may_sample)
			sample_while_open();
		tfs_threads_doze(TFS_CALL_HOST, seen, SECOND_NS);
	}
	return NULL;
}
