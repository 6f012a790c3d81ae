/* SPDX-License-Identifier: MIT */
/*
 * Preloaded: to the program's first thread, and who works in it, each look at the monotonic clock
 * takes a microsecond, and nothing else takes any time. So what somebody waits by looking at the
 * clock again and again takes as long as he means it to, whatever the machine is at. Who gives way
 * between two looks would wait for all that a busy machine has to do, thousands of times: nobody
 * does.
 */
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 1000u
#define SECOND_NS 1000000000u

static bool in_first_thread(void)
{
	return syscall(SYS_gettid) == getpid();
}

__attribute__((visibility("default"))) int sched_yield(void)
{
	return in_first_thread() ? 0 : (int)syscall(SYS_sched_yield);
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *now)
{
	static uint64_t looks;

	if (clock != CLOCK_MONOTONIC || !in_first_thread())
		return (int)syscall(SYS_clock_gettime, clock, now);
	const uint64_t ns = SECOND_NS + looks++ * LOOK_NS;
	now->tv_sec = (time_t)(ns / SECOND_NS);
	now->tv_nsec = (long)(ns % SECOND_NS);
	return 0;
}
