/* SPDX-License-Identifier: MIT */
/*
 * Preloaded: the program's first thread lives in the simulated device's modelled time. What it, and
 * who works in it, reads from the monotonic clock is what its calls cost by the model, whatever the
 * machine is at; a sleep takes no longer than that. For TFSIM_PACE=0 and TFSIM_COMPUTE=0.
 *
 * With MODELLED_EPOCH set, a number of seconds since 1970, the first thread reads that and what its
 * calls cost from the clock of the day: processes that are given the same one began together.
 *
 * With MODELLED_THREADS set, threads that the program's own code starts live in it as well, each by
 * a clock of its own: who waits for another thread has to sleep until that one's time.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <dlfcn.h>

#include "tests/sim/core/core.h"

#define SECOND_NS 1000000000u

/* The device asks for the time as well. */
static __thread bool asking;

/* The calling thread was started by the program, and is to live in modelled time. */
static __thread bool started;

static bool modelled(void)
{
	return !asking && (started || syscall(SYS_gettid) == getpid());
}

struct start {
	void *(*run)(void *argument);
	void *argument;
};

static void *run_started(void *argument)
{
	const struct start start = *(struct start *)argument;

	free(argument);
	started = true;
	return start.run(start.argument);
}

/* Whether code at this address is the program's own: libraries' threads keep the kernel's time. */
static bool is_programs(void *address)
{
	Dl_info code, entry;

	return dladdr(address, &code) && dladdr((void *)(uintptr_t)getauxval(AT_ENTRY), &entry) &&
	       code.dli_fbase == entry.dli_fbase;
}

typedef int create_function(
	pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);

__attribute__((visibility("default"))) int pthread_create(
	pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
	const bool own = getenv("MODELLED_THREADS") && is_programs(__builtin_return_address(0));
	struct start *start = own ? malloc(sizeof(*start)) : NULL;
	create_function *next = NULL;

	*(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
	if (!start)
		return next(thread, attributes, run, argument);
	*start = (struct start){run, argument};
	return next(thread, attributes, run_started, start);
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *now)
{
	const char *epoch = clock == CLOCK_REALTIME ? getenv("MODELLED_EPOCH") : NULL;

	if ((clock != CLOCK_MONOTONIC && !epoch) || !modelled())
		return (int)syscall(SYS_clock_gettime, clock, now);
	asking = true;
	const uint64_t ns = SECOND_NS + tfsim_host_modelled_ns();
	asking = false;
	now->tv_sec = (time_t)(ns / SECOND_NS) + (epoch ? (time_t)atoll(epoch) : 0);
	now->tv_nsec = (long)(ns % SECOND_NS);
	return 0;
}

__attribute__((visibility("default"))) int nanosleep(
	const struct timespec *span, struct timespec *left)
{
	if (!modelled())
		return (int)syscall(SYS_nanosleep, span, left);
	tfsim_host_spend((uint64_t)span->tv_sec * SECOND_NS + (uint64_t)span->tv_nsec);
	return 0;
}

/* The processor's own counter, which nobody can model, is then not what the kernel keeps time by.
 */
__attribute__((visibility("default"))) int open(const char *path, int flags, ...)
{
	va_list arguments;

	if (strstr(path, "/clocksource0/")) {
		errno = ENOENT;
		return -1;
	}
	va_start(arguments, flags);
	const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
	va_end(arguments);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
