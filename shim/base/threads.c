/* SPDX-License-Identifier: MIT */
#include "shim/base/threads.h"

#include <errno.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)

static _Atomic uint32_t calls[TFS_CALLS]; /* futexes */
static _Atomic uint32_t own;
static _Atomic bool alone;

void tfs_threads_count(void)
{
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
