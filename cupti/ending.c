/* SPDX-License-Identifier: MIT */
#include "cupti/ending.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "shim/base/child.h"
#include "shim/base/likely.h"
#include "shim/resolve/lookup.h"

#define PATIENCE_SECONDS 1

typedef int registering(void (*handler)(void *), void *argument, void *object);

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static _Atomic pthread_t starter; /* 0 = CUPTI is not being started */
static atomic_bool ending;
static _Atomic(registering *) real;

/* Once, however many handlers there are. A forked child has no thread that could be waited for. */
static void wait_for_start(void *nothing)
{
	struct timespec until;

	(void)nothing;
	if (tfs_child_is() || atomic_exchange(&ending, true))
		return;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_SECONDS;
	if (pthread_mutex_timedlock(&starting, &until) == 0)
		pthread_mutex_unlock(&starting);
}

void tfs_ending_init(void)
{
	atomic_store(&real, (registering *)tfs_lookup_next("__cxa_atexit"));
}

static int put_handler(void (*handler)(void *), void *argument, void *object)
{
	/* Other libraries' constructors may run before ours. */
	if (!atomic_load(&real))
		tfs_ending_init();
	registering *next = atomic_load(&real);

	return next ? next(handler, argument, object) : -1;
}

/* atexit(), and the destructors of C++. */
TFS_EXPORT int __cxa_atexit(void (*handler)(void *), void *argument, void *object);
TFS_EXPORT int __cxa_atexit(void (*handler)(void *), void *argument, void *object)
{
	const int err = put_handler(handler, argument, object);

	if (TFS_UNLIKELY(atomic_load_explicit(&starter, memory_order_relaxed) == pthread_self()))
		put_handler(wait_for_start, NULL, NULL);
	return err;
}

bool tfs_ending_wait_for_us(void)
{
	pthread_mutex_lock(&starting);
	atomic_store(&starter, pthread_self());
	put_handler(wait_for_start, NULL, NULL);
	if (!atomic_load(&ending))
		return true;
	tfs_ending_go_on();
	return false;
}

void tfs_ending_go_on(void)
{
	atomic_store(&starter, 0);
	pthread_mutex_unlock(&starting);
}
