/* SPDX-License-Identifier: MIT */
#include "shim/host/host.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "shim/base/clock.h"
#include "shim/base/env.h"
#include "shim/base/threads.h"
#include "shim/host/host_code.h"
#include "shim/host/host_others.h"
#include "shim/host/host_task.h"
#include "shim/record/recorder.h"

/* A step is looked at some times if it takes milliseconds; where steps are long, it is looked less
 * often, so that a window of any length has some ten thousand looks at most. */
#define FIRST_PERIOD_NS UINT64_C(1000000)
#define LOOKS_PER_PERIOD 2048u
/* Others are many files: they are counted at every so many looks that find the thread waiting. */
#define WAITS_PER_CROWD 4u
#define SECOND_NS UINT64_C(1000000000)

static _Atomic pid_t watched; /* 0 = not known yet */
static _Atomic bool window;
static _Atomic bool started;

void tfs_host_watch(void)
{
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

/* What is open of the thread that is looked at. */
static struct tfs_host_task task;
static struct tfs_host_code code = {.file = -1};

/* Told once, and again if it is seen after all. */
static void tell(enum tfs_fact_code *told, enum tfs_fact_code seen, enum tfs_fact_code unseen,
	bool sees, int err)
{
	const enum tfs_fact_code now = sees ? seen : unseen;

	if (*told == now || *told == seen)
		return;
	tfs_recorder_fact(now, NULL, (uint64_t)err, 0);
	*told = now;
}

static void open_code(pid_t tid)
{
	static enum tfs_fact_code told = TFS_FACT_none;
	const int err = tfs_host_code_open(&code, tid);

	tell(&told, TFS_FACT_host_code, TFS_FACT_host_code_none, err == 0, err);
}

static void let_go(void)
{
	tfs_host_code_close(&code);
	tfs_host_task_close(&task);
}

/* The thread that makes the steps may be another one by now. */
static bool follow(pid_t now)
{
	if (now == task.tid)
		return true;
	let_go();
	if (!tfs_host_task_open(&task, root(), now))
		return false;
	open_code(now);
	return true;
}

static void put_code(uint64_t ns, uint64_t address)
{
	const struct tfs_host_code_record record = {
		.tid = (uint32_t)task.tid, .ns = ns, .address = address};

	tfs_recorder_put(&record, TFS_RECORD_host_code, sizeof(record));
}

/* Only who waits has others do something for it. */
static void look_at_others(uint64_t ns, enum tfs_host_doing doing)
{
	struct tfs_host_others_record record = {.ns = ns};
	static unsigned waits;

	if (doing != TFS_HOST_lock && doing != TFS_HOST_pipe && doing != TFS_HOST_socket &&
		doing != TFS_HOST_ready && doing != TFS_HOST_process)
		return;
	if (waits++ % WAITS_PER_CROWD != 0)
		return;
	tfs_host_others_count(root(), task.tid, &record);
	tfs_recorder_put(&record, TFS_RECORD_host_others, sizeof(record));
}

static void look(void)
{
	static enum tfs_fact_code told = TFS_FACT_none;
	struct tfs_host_record record = {.ns = tfs_clock_ns(CLOCK_MONOTONIC)};
	const pid_t now = atomic_load(&watched);

	if (now == 0)
		return;
	const bool sees = follow(now) && tfs_host_task_read(&task, &record);
	tell(&told, TFS_FACT_host_sampled, TFS_FACT_host_none, sees, 0);
	if (sees) {
		tfs_recorder_put(&record, TFS_RECORD_host, sizeof(record));
		look_at_others(record.ns, (enum tfs_host_doing)record.doing);
	}
	tfs_host_code_read(&code, put_code);
	if (!sees)
		let_go();
}

static void look_while_open(void)
{
	uint64_t period = FIRST_PERIOD_NS;
	unsigned looks = 0;

	while (atomic_load(&window) && !tfs_threads_alone()) {
		const uint32_t seen = tfs_threads_woken(TFS_CALL_HOST);

		look();
		if (++looks % LOOKS_PER_PERIOD == 0)
			period *= 2;
		tfs_threads_doze(TFS_CALL_HOST, seen, period);
	}
	let_go();
}

void *tfs_host_run(void *nothing)
{
	(void)nothing;
	pthread_setname_np(pthread_self(), "tfshim-host");
	tfs_self.busy = true;
	tfs_threads_count();
	/* What it opens is never to be among the program's descriptors. */
	const bool may_look = tfs_threads_own_descriptors();
	if (!may_look)
		tfs_recorder_fact(TFS_FACT_host_no_descriptors, NULL, 0, 0);
	while (!tfs_threads_alone()) {
		const uint32_t seen = tfs_threads_woken(TFS_CALL_HOST);

		if (may_look)
			look_while_open();
		tfs_threads_doze(TFS_CALL_HOST, seen, SECOND_NS);
	}
	return NULL;
}
