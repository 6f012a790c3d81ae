/* SPDX-License-Identifier: MIT */
#include "shim/base/threads.h"

#include <errno.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)

static _Atomic uint32_t calls[TFS_CALLS]; /* futexes */
static _Atomic uint32_t own;
static _Atomic bool alone;

bool tfs_threads_start(void *(*run)(void *argument), void *argument)
{
	const int saved = errno;
	pthread_attr_t attributes;
	pthread_t thread;
	sigset_t all;
	sigset_t before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	const bool started = pthread_create(&thread, &attributes, run, argument) == 0;
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = saved;
	return started;
}

/* The main thread may be pinned as well, to another processor. */
static void unpin(void)
{
	cpu_set_t here;
	cpu_set_t first;

	if (sched_getaffinity(0, sizeof(here), &here) != 0 ||
		sched_getaffinity(getpid(), sizeof(first), &first) != 0)
		return;
	CPU_OR(&here, &here, &first);
	sched_setaffinity(0, sizeof(here), &here);
}

void tfs_threads_begin(const char *name)
{
	pthread_setname_np(pthread_self(), name);
	unpin();
	atomic_fetch_add(&own, 1);
}

uint32_t tfs_threads_counted(void)
{
	return atomic_load(&own);
}

void tfs_threads_left_alone(void)
{
	atomic_store(&alone, true);
}

bool tfs_threads_alone(void)
{
	return atomic_load_explicit(&alone, memory_order_relaxed);
}

bool tfs_threads_own_descriptors(void)
{
	return syscall(SYS_close_range, 0u, ~0u, CLOSE_RANGE_UNSHARE) == 0;
}

void tfs_threads_wake(enum tfs_threads_call call)
{
	const int saved = errno;

	atomic_fetch_add(&calls[call], 1);
	syscall(SYS_futex, &calls[call], FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	errno = saved;
}

uint32_t tfs_threads_woken(enum tfs_threads_call call)
{
	return atomic_load(&calls[call]);
}

void tfs_threads_doze(enum tfs_threads_call call, uint32_t seen, uint64_t ns)
{
	const struct timespec time = {
		.tv_sec = (time_t)(ns / SECOND_NS), .tv_nsec = (long)(ns % SECOND_NS)};
	const int saved = errno;

	syscall(SYS_futex, &calls[call], FUTEX_WAIT_PRIVATE, seen, &time, NULL, 0);
	errno = saved;
}
