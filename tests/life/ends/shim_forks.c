/* SPDX-License-Identifier: MIT */
/*
 * Children in every way, between calls: fork and call CUDA, fork while other threads are inside
 * calls, fork and exec, vfork and exec, a clone that the C library knows nothing of. The children's
 * calls pass through to the runtime.
 */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/test.h"

#define CALLS 300
#define BUSY 3
#define BUSY_FORKS 60
#define MANY 15000
#define HELD_UP 0.9 /* seconds; a lock that nobody gives back is taken after one */

static void *device;
static atomic_bool over;

static void work(int calls)
{
	char bytes[32] = "";

	for (int i = 0; i < calls; i++)
		TEST_EQ(cudaMemcpy(device, bytes, sizeof(bytes), cudaMemcpyHostToDevice),
			cudaSuccess);
}

static int ended(pid_t child)
{
	int status = -1;

	TEST_EQ(waitpid(child, &status, 0), child);
	return status;
}

/* What needs nothing of the device. */
static void *allocate_often(void *nothing)
{
	for (int i = 0; i < CALLS; i++) {
		void *more = NULL;

		cudaMalloc(&more, 64);
	}
	return nothing;
}

/* What a forked child gets from CUDA is CUDA's affair, but it must come back. */
static void call_in_child(void)
{
	char bytes[32] = "";
	void *more = NULL;

	for (int i = 0; i < 20; i++) {
		cudaMalloc(&more, 64);
		cudaMemcpy(device, bytes, sizeof(bytes), cudaMemcpyHostToDevice);
		cudaFree(more);
	}
}

static void fork_plainly(void)
{
	fflush(stdout);
	const pid_t child = fork();
	if (child == 0) {
		call_in_child();
		exit(11);
	}
	TEST_EQ(WEXITSTATUS(ended(child)), 11);
}

static void fork_and_exec(const char *self, bool by_vfork)
{
	fflush(stdout);
	const pid_t child = by_vfork ? vfork() : fork();
	if (child == 0) {
		execl(self, self, "child", NULL);
		_exit(12);
	}
	TEST_EQ(WEXITSTATUS(ended(child)), 13);
}

/* As sandboxes and runtimes do: the C library's handlers for fork do not run. A lock that another
 * thread holds meanwhile stays locked for good: so no work has given the device a thread yet. */
static void clone_behind_back(void)
{
	int status = -1;

	fflush(stdout);
	const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (child == 0) {
		pthread_t thread;

		allocate_often(NULL);
		if (pthread_create(&thread, NULL, allocate_often, NULL) == 0)
			pthread_join(thread, NULL);
		exit(16);
	}
	TEST_EQ(waitpid(child, &status, 0), child);
	TEST_EQ(WEXITSTATUS(status), 16);
}

static void *allocate(void *nothing)
{
	while (!atomic_load(&over)) {
		void *more = NULL;

		cudaMalloc(&more, 64);
		cudaFree(more);
	}
	return nothing;
}

/* The status says whether calls were held up by a lock whose holder is not there. */
static void call_in_busy_child(void)
{
	struct timespec start;
	struct timespec end;

	alarm(20);
	clock_gettime(CLOCK_MONOTONIC, &start);
	/* Its heap may be locked for good; the shim's tables may not. */
	cudaFree(NULL);
	cudaFree((void *)64);
	clock_gettime(CLOCK_MONOTONIC, &end);
	const double seconds =
		(double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
	_exit(seconds > HELD_UP ? 15 : 14);
}

/* At each fork another thread is likely to hold some lock. */
static void fork_among_threads(void)
{
	pthread_t threads[BUSY];
	void *low[BUSY];
	void *more;
	int held_up = 0;

	fflush(stdout);
	/* Many lie behind those that come and go: a sorted table is locked while they move up. */
	for (int i = 0; i < BUSY + MANY; i++)
		TEST_EQ(cudaMalloc(i < BUSY ? &low[i] : &more, 64), cudaSuccess);
	for (int i = 0; i < BUSY; i++)
		TEST_EQ(cudaFree(low[i]), cudaSuccess);
	for (int i = 0; i < BUSY; i++)
		TEST_EQ(pthread_create(&threads[i], NULL, allocate, NULL), 0);
	for (int i = 0; i < BUSY_FORKS; i++) {
		const pid_t child = fork();

		if (child == 0)
			call_in_busy_child();
		const int status = ended(child);
		held_up += status == 15 << 8;
		TEST_TRUE(status == 14 << 8 || status == 15 << 8);
	}
	atomic_store(&over, true);
	for (int i = 0; i < BUSY; i++)
		pthread_join(threads[i], NULL);
	/* A busy machine may hold up one. */
	TEST_IN(held_up, 0, 1);
}

int main(int argc, char **argv)
{
	if (cudaMalloc(&device, 64) != cudaSuccess)
		return test_skip("no device");
	const char *way = argc > 1 ? argv[1] : "";
	if (strcmp(way, "clone") == 0)
		allocate_often(NULL);
	else
		work(CALLS);
	if (strcmp(way, "child") == 0)
		return 13;
	if (strcmp(way, "busy") == 0) {
		fork_among_threads();
	} else if (strcmp(way, "clone") == 0) {
		clone_behind_back();
	} else {
		fork_plainly();
		fork_and_exec(argv[0], false);
		fork_and_exec(argv[0], true);
	}
	work(CALLS);
	printf("parent done\n");
	return test_result();
}
