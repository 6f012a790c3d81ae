/* SPDX-License-Identifier: MIT */
/* While a thread starts CUPTI, the process's end waits for it: before any handler that CUPTI has
 * registered by then runs, and once, however many they are. A child ends that way. */
#include "cupti/ending.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/test.h"

#define HANDLERS 5u

static unsigned waits, ran;
static bool is_child;
static int results[2];

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
	if (!is_child)
		return;
	TEST_EQ(ran, HANDLERS);
	TEST_EQ(waits, 1);
	/* Nobody starts it now. */
	tfs_ending_go_on();
	TEST_TRUE(!tfs_ending_wait_for_us());
	const char result = (char)test_result();
	TEST_EQ(write(results[1], &result, 1), 1);
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

static void end_process(void)
{
	pthread_t thread;

	is_child = true;
	TEST_NEED(pthread_create(&thread, NULL, start, NULL) == 0);
	pthread_join(thread, NULL);
	/* Of the program: the end has only begun, nothing of CUPTI is at stake. */
	TEST_EQ(atexit(before_all), 0);
	exit(0);
}

int main(void)
{
	char result = 1;

	TEST_NEED(pipe(results) == 0);
	const pid_t child = fork();
	TEST_NEED(child >= 0);
	if (child == 0)
		end_process();
	close(results[1]);
	TEST_EQ(read(results[0], &result, 1), 1);
	TEST_EQ(result, 0);
	TEST_EQ(waitpid(child, NULL, 0), child);
	return test_result();
}
