/* SPDX-License-Identifier: MIT */
/*
 * A lock that a thread holds for longer than anybody has patience for is not had by a second one,
 * and no handler of the program's runs in between: it might end the process, or jump out.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>

#include "shim/base/spin.h"
#include "tests/test.h"

/* As long as it took until the lock was had all the same, once. */
#define HELD_NS UINT64_C(1500000000)
#define THREADS 4
#define ROUNDS 20000
#define INTERRUPTS 2000

static struct tfs_spin lock;
static atomic_bool held;
static atomic_uint inside, handled, jumped, ready, rounds;
static atomic_bool over;
static __thread sigjmp_buf back;
static __thread volatile bool mine;

static void *hold(void *nothing)
{
	const uint64_t start_ns = tfs_clock_ns(CLOCK_MONOTONIC);

	tfs_spin_lock(&lock);
	atomic_store(&inside, 1);
	atomic_store(&held, true);
	while (tfs_clock_ns(CLOCK_MONOTONIC) - start_ns < HELD_NS)
		sched_yield();
	atomic_store(&inside, 0);
	tfs_spin_unlock(&lock);
	return nothing;
}

static void hold_long(void)
{
	pthread_t thread;

	TEST_NEED(pthread_create(&thread, NULL, hold, NULL) == 0);
	while (!atomic_load(&held))
		sched_yield();
	TEST_TRUE(!tfs_spin_try(&lock));
	TEST_TRUE(!tfs_spin_lock_within(&lock, 1000));
	tfs_spin_lock(&lock);
	TEST_EQ(atomic_load(&inside), 0);
	tfs_spin_unlock(&lock);
	pthread_join(thread, NULL);
}

/* Leaves whatever the thread was at. */
static void jump(int number)
{
	(void)number;
	TEST_TRUE(!mine);
	if (atomic_load(&over))
		return;
	atomic_fetch_add(&handled, 1);
	siglongjmp(back, 1);
}

static void *go_round(void *nothing)
{
	if (sigsetjmp(back, 1) != 0)
		atomic_fetch_add(&jumped, 1);
	else
		atomic_fetch_add(&ready, 1);
	while (!atomic_load(&over)) {
		tfs_spin_lock(&lock);
		mine = true;
		TEST_EQ(atomic_fetch_add(&inside, 1), 0);
		for (int i = 0; i < 50; i++)
			atomic_load(&held);
		TEST_EQ(atomic_fetch_sub(&inside, 1), 1);
		mine = false;
		tfs_spin_unlock(&lock);
		atomic_fetch_add(&rounds, 1);
	}
	return nothing;
}

static void interrupt(void)
{
	const struct sigaction action = {.sa_handler = jump};
	pthread_t threads[THREADS];
	sigset_t none, now;

	TEST_NEED(sigaction(SIGUSR1, &action, NULL) == 0);
	for (int i = 0; i < THREADS; i++)
		TEST_NEED(pthread_create(&threads[i], NULL, go_round, NULL) == 0);
	while (atomic_load(&ready) < THREADS)
		sched_yield();
	while (atomic_load(&handled) < INTERRUPTS || atomic_load(&rounds) < ROUNDS) {
		for (int i = 0; i < THREADS; i++)
			pthread_kill(threads[i], SIGUSR1);
		sched_yield();
	}
	atomic_store(&over, true);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	tfs_spin_lock(&lock);
	tfs_spin_unlock(&lock);
	sigemptyset(&none);
	TEST_NEED(pthread_sigmask(SIG_BLOCK, &none, &now) == 0);
	TEST_EQ(sigismember(&now, SIGUSR1), 0);
	TEST_TRUE(atomic_load(&jumped) > 0);
}

int main(void)
{
	hold_long();
	interrupt();
	printf("%u rounds, %u times interrupted\n", rounds, handled);
	return test_result();
}
