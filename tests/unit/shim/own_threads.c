/* SPDX-License-Identifier: MIT */
/*
 * A thread of the shim's own has its name, is counted, blocks all signals that its starter does
 * not, and runs on the processors of the main thread and of its starter, which may be pinned to one
 * each.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>

#include "shim/base/threads.h"
#include "tests/test.h"

static sem_t begun;
static cpu_set_t all, expected;

static cpu_set_t only(int which)
{
	cpu_set_t one;
	int i = 0;

	CPU_ZERO(&one);
	for (; which >= 0 && i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &all) && which-- == 0)
			CPU_SET(i, &one);
	return one;
}

static void *look(void *argument)
{
	char name[16];
	cpu_set_t allowed;
	sigset_t blocked;

	tfs_threads_begin("tfshim-test");
	TEST_TRUE(argument == &begun);
	TEST_EQ(pthread_getname_np(pthread_self(), name, sizeof(name)), 0);
	TEST_STR(name, "tfshim-test");
	TEST_EQ(pthread_sigmask(SIG_SETMASK, NULL, &blocked), 0);
	TEST_EQ(sigismember(&blocked, SIGUSR1), 1);
	TEST_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	TEST_TRUE(CPU_EQUAL(&allowed, &expected));
	sem_post(&begun);
	return NULL;
}

static void start(void)
{
	const uint32_t before = tfs_threads_counted();
	sigset_t blocked;

	TEST_NEED(tfs_threads_start(look, &begun));
	while (sem_wait(&begun) != 0)
		;
	TEST_EQ(tfs_threads_counted(), before + 1);
	TEST_EQ(pthread_sigmask(SIG_SETMASK, NULL, &blocked), 0);
	TEST_EQ(sigismember(&blocked, SIGUSR1), 0);
}

static void *start_pinned(void *nothing)
{
	const cpu_set_t one = only(0);

	TEST_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
	start();
	return nothing;
}

static void start_by_another(void)
{
	pthread_t thread;

	TEST_NEED(pthread_create(&thread, NULL, start_pinned, NULL) == 0);
	pthread_join(thread, NULL);
}

int main(void)
{
	TEST_NEED(sem_init(&begun, 0, 0) == 0);
	TEST_NEED(sched_getaffinity(0, sizeof(all), &all) == 0);
	expected = all;
	start();
	start_by_another();
	if (CPU_COUNT(&all) > 1) {
		const cpu_set_t first = only(0), second = only(1);

		TEST_EQ(sched_setaffinity(0, sizeof(second), &second), 0);
		CPU_OR(&expected, &first, &second);
		start_by_another();
	}
	return test_result();
}
