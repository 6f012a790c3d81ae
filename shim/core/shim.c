/* SPDX-License-Identifier: MIT */
#include "shim/core/shim.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cupti/collector.h"
#include "cupti/ending.h"
#include "shim/base/child.h"
#include "shim/base/clock.h"
#include "shim/base/env.h"
#include "shim/base/likely.h"
#include "shim/base/log.h"
#include "shim/base/mutant.h"
#include "shim/base/threads.h"
#include "shim/core/machine.h"
#include "shim/core/reporter.h"
#include "shim/core/switches.h"
#include "shim/host/host.h"
#include "shim/nvtx/nvtx.h"
#include "shim/record/callsite.h"
#include "shim/record/files.h"
#include "shim/record/modules.h"
#include "shim/record/recorder.h"
#include "shim/resolve/lookup.h"
#include "shim/rewrites/breaker/breaker.h"
#include "shim/rewrites/rewrite.h"
#include "shim/state/memory.h"
#include "shim/state/pools.h"
#include "shim/steps/steps.h"
#include "shim/steps/windows.h"

#define MILLISECOND_NS UINT64_C(1000000)
#define SECOND_NS UINT64_C(1000000000)
#define ENDING_NS UINT64_C(20000000)  /* how often is looked whether the last thread ended */
#define WRITE_NS UINT64_C(100000000)  /* how long what was recorded may stay in memory */
#define WINDOW_NS UINT64_C(200000000) /* how long activity may stay with CUPTI in a window */

enum { NOT_STARTED, STARTING, RUNNING, FAILED, FINISHED };

static _Atomic int state = NOT_STARTED;
static pid_t pid;
static bool injected;
static sigset_t programs_signals; /* that the first thread held back */

/* How many threads there are, if the main one has ended by itself, as it may; else 0. It is counted
 * until the process ends. */
static unsigned threads_without_main(void)
{
	char text[512] = "";
	char main_state = '?';
	unsigned threads = 0;
	const int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	const ssize_t got = read(fd, text, sizeof(text) - 1);
	close(fd);
	/* The name in parentheses may hold anything. */
	const char *rest = got > 0 ? strrchr(text, ')') : NULL;
	if (!rest || sscanf(rest, ") %c%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s %u",
			     &main_state, &threads) != 2)
		return 0;
	return main_state == 'Z' ? threads : 0;
}

/* Has the main thread ended? Then the process ends with the last other one, which ours keep from
 * being the last. */
static bool look_after_main(void)
{
	/* Read first: one of ours that starts meanwhile makes the threads more, not less. */
	const uint32_t ours = tfs_threads_counted();
	const unsigned threads = threads_without_main();

	if (threads == ours + 1) {
		tfs_threads_left_alone();
		tfs_threads_wake(TFS_CALL_LOOK);
		tfs_threads_wake(TFS_CALL_HOST);
	}
	return threads != 0;
}

/* The exit handlers run in the last thread: not in one that has descriptors of its own. */
static void end_last(void)
{
	for (int i = 0; i < 2000 && threads_without_main() > 2; i++)
		tfs_threads_doze(TFS_CALL_LOOK, tfs_threads_woken(TFS_CALL_LOOK), MILLISECOND_NS);
	pthread_sigmask(SIG_SETMASK, &programs_signals, NULL);
}

static void *write_file(void *nothing)
{
	uint64_t last_look = 0;
	bool ending = false;

	(void)nothing;
	tfs_self.busy = true;
	tfs_threads_begin("tfshim-files");
	/* Where that is not to be had, it takes its chances. */
	const bool may_look = tfs_threads_own_descriptors();
	while (atomic_load(&state) != FAILED && !tfs_threads_alone()) {
		const uint32_t seen = tfs_threads_woken(TFS_CALL_WRITE);
		const uint64_t now = tfs_clock_ns(CLOCK_MONOTONIC);

		if (!tfs_files_serve())
			break;
		tfs_recorder_write();
		if (may_look)
			tfs_breaker_hold();
		if (ending || now - last_look >= SECOND_NS) {
			ending = may_look && look_after_main();
			tfs_rewrite_keep();
			last_look = now;
		}
		tfs_threads_doze(TFS_CALL_WRITE, seen, ending ? ENDING_NS : WRITE_NS);
	}
	tfs_files_served(false);
	return NULL;
}

static void load_libraries(void)
{
	tfs_lookup_keep();
	tfs_callsite_load();
	tfs_lookup_keep();
	if (atomic_load(&state) != FINISHED && tfs_options.cupti &&
		tfs_options.record != TFS_RECORD_NONE)
		tfs_collector_start();
}

/* Whatever may wait for the loader's lock happens here, in a thread that nobody waits for. Its name
 * tells whether all is loaded that call sites and activity go by. */
static void *help(void *nothing)
{
	uint64_t last_pair = 0;
	bool machine_known = false;

	(void)nothing;
	tfs_self.busy = true;
	tfs_threads_begin("tfshim-loading");
	load_libraries();
	pthread_setname_np(pthread_self(), "tfshim");
	while (atomic_load(&state) != FINISHED && !tfs_threads_alone()) {
		const uint32_t seen = tfs_threads_woken(TFS_CALL_LOOK);
		const uint64_t now = tfs_clock_ns(CLOCK_MONOTONIC);
		const bool due = now - last_pair >= SECOND_NS;

		if (due) {
			tfs_lookup_keep();
			tfs_recorder_pair_clocks();
			tfs_windows_activity();
			last_pair = now;
		}
		/* A program that is killed soon must have named its device. */
		if (due || !machine_known)
			machine_known = tfs_machine_write(false);
		tfs_collector_poll();
		if (tfs_host_needed() && !tfs_threads_start(tfs_host_run, NULL))
			tfs_recorder_fact(TFS_FACT_host_no_thread, NULL, 0, 0);
		tfs_threads_doze(TFS_CALL_LOOK, seen, tfs_windows_open() ? WINDOW_NS : SECOND_NS);
	}
	if (tfs_threads_alone())
		end_last();
	return NULL;
}

/* The file, by the thread that writes it. Where its folder does not answer, the program goes on:
 * what is recorded stays in memory until it does. */
static bool start_file(void)
{
	tfs_files_served(true);
	if (!tfs_threads_start(write_file, NULL)) {
		tfs_files_served(false);
		tfs_recorder_fact(TFS_FACT_helper_missing, NULL, 0, 0);
	}
	return !tfs_files_ask(tfs_recorder_create) || tfs_recorder_created() == 0;
}

static void forget(void)
{
	if (TFS_MUTANT(TFS_NAIVE_FORK))
		return;
	atomic_store(&state, FAILED);
	__atomic_store_n(&tfs_wanted, 0, __ATOMIC_RELAXED);
	tfs_collector_forget();
	tfs_rewrite_forget();
	tfs_recorder_forget();
	tfs_memory_forget();
	tfs_pools_forget();
}

bool tfs_shim_forget_parents(void)
{
	if (!tfs_child_is())
		return false;
	forget();
	return true;
}

static void finish(void)
{
	int running = RUNNING;

	if (getpid() != pid || tfs_child_is() ||
		!atomic_compare_exchange_strong(&state, &running, FINISHED))
		return;
	tfs_self.active = NULL;
	tfs_self.busy = true;
	tfs_steps_finish();
	tfs_windows_finish();
	tfs_recorder_pair_clocks();
	if (!tfs_files_answer(tfs_recorder_write))
		return;
	tfs_rewrite_finish();
	tfs_collector_finish();
	tfs_callsite_look_back(tfs_self.owned);
	tfs_machine_write(true);
	tfs_modules_write();
	tfs_recorder_lost(TFS_LOSS_lines_dropped, tfs_log_dropped());
	if (!tfs_files_answer(tfs_files_finish))
		return;
	if (tfs_files_whole())
		tfs_reporter_run(tfs_recording.path);
	else if (*tfs_recording.path == '\0')
		tfs_recorder_created();
	else if (!tfs_recording.nowhere)
		tfs_log_say("no report: the recording %s was truncated, removed or replaced",
			tfs_recording.path);
}

static bool start(void)
{
	tfs_env_read();
	/* Without hooks there are no steps, and without steps no windows. */
	if (injected && tfs_options.record == TFS_RECORD_WINDOWS)
		tfs_options.record = TFS_RECORD_ALL;
	tfs_clock_init();
	pid = getpid();
	pthread_sigmask(SIG_SETMASK, NULL, &programs_signals);
	if (tfs_options.disabled || tfs_recorder_begin() != 0 || !start_file())
		return false;
	tfs_modules_write();
	pthread_atfork(NULL, NULL, forget);
	atexit(finish);
	tfs_steps_start();
	tfs_nvtx_start();
	tfs_rewrite_start();
	tfs_recorder_fact(TFS_FACT_processes, NULL, tfs_options.ranks, 0);
	tfs_switches_write();
	if (!tfs_options.host)
		tfs_recorder_fact(TFS_FACT_host_off, NULL, 0, 0);
	if (injected)
		tfs_recorder_fact(TFS_FACT_hooks_none, NULL, 0, 0);
	if (!tfs_threads_start(help, NULL))
		tfs_recorder_fact(TFS_FACT_helper_missing, NULL, 0, 0);
	return true;
}

bool tfs_shim_running(void)
{
	int now = atomic_load_explicit(&state, memory_order_acquire);

	if (now != NOT_STARTED || !atomic_compare_exchange_strong(&state, &now, STARTING))
		return now == RUNNING;
	const bool started = start();
	atomic_store_explicit(&state, started ? RUNNING : FAILED, memory_order_release);
	if (started)
		tfs_windows_start();
	return started;
}

/*
 * Exit handlers run in reverse order, and the driver registers its own inside its first call. The
 * one registered at start would come after it, when CUPTI is gone; this one comes before.
 */
void tfs_shim_first_call_done(void)
{
	static _Atomic bool registered;

	if (atomic_load(&state) != RUNNING || atomic_exchange(&registered, true))
		return;
	atexit(finish);
	tfs_machine_write(false);
}

/* As a program does that ends on purpose; exit handlers do not run. */
TFS_EXPORT void _exit(int status);
TFS_EXPORT void _Exit(int status);

static void (*next_exit)(int);

void _exit(int status)
{
	tfs_breaker_disarm();
	if (next_exit)
		next_exit(status);
	for (;;)
		syscall(SYS_exit_group, status);
}

void _Exit(int status)
{
	_exit(status);
}

/* For libtfshim_inject.so, within the driver's start: records what CUPTI sees. */
TFS_EXPORT int tfshim_inject(void);

int tfshim_inject(void)
{
	injected = true;
	return tfs_shim_running();
}

__attribute__((constructor)) static void load(void)
{
	tfs_log_init();
	*(void **)&next_exit = tfs_lookup_next("_exit");
	tfs_ending_init();
	tfs_lookup_all();
	tfs_nvtx_announce();
}
