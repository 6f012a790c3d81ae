/* SPDX-License-Identifier: MIT */
/* While a thread starts CUPTI, the process's end waits for it: before any handler that CUPTI has
 * registered by then runs, and once, however many they are. This process ends that way. */
#include "cupti/ending.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "tests/test.h"

#define HANDLERS 5u

static unsigned waits, ran;

int __wrap_pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until);

/* The thread never gets ready: the patience is at an end at once. */
int __wrap_pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	TEST_TRUE(mutex);
	TEST_IN(until->tv_sec - now.tv_sec, 0, 1);
	waits++;
	return ETIMEDOUT;
}

/* Of CUPTI. */
static void handle(void)
{
	TEST_EQ(waits, 1);
	ran++;
}

static void *start(void *unused)
{
	TEST_TRUE(tfs_ending_wait_for_us());
	for (unsigned i = 0; i < HANDLERS; i++)
		TEST_EQ(atexit(handle), 0);
	return unused;
}

/* Registered before CUPTI was started: waits for nothing, and runs last. */
static void judge(void)
{
	TEST_EQ(ran, HANDLERS);
	TEST_EQ(waits, 1);
	/* Nobody starts it now. */
	tfs_ending_go_on();
	TEST_TRUE(!tfs_ending_wait_for_us());
	fflush(stdout);
	_exit(test_result());
}

/* A constructor that runs before the shim's. */
static __attribute__((constructor(101))) void begin(void)
{
	TEST_EQ(atexit(judge), 0);
}

static void before_all(void)
{
	TEST_EQ(waits, 0);
}

int main(void)
{
	pthread_t thread;

	TEST_NEED(pthread_create(&thread, NULL, start, NULL) == 0);
	pthread_join(thread, NULL);
	/* Of the program: the end has only begun, nothing of CUPTI is at stake. */
	TEST_EQ(atexit(before_all), 0);
	return 1; /* judge() says how it went */
}
