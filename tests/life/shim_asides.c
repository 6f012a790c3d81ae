/* SPDX-License-Identifier: MIT */
/*
 * Asks for the device and for the last error, at several places and in two threads, with other
 * calls between; some of the answers are errors. A forked child asks too: nobody counts that.
 */
#include <cuda_runtime_api.h>
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/test.h"

enum { TIMES = 1000, BAD = 5 };

static int device(void)
{
	int number = -1;

	TEST_EQ(cudaGetDevice(&number), cudaSuccess);
	return number;
}

static void *ask(void *buffer)
{
	for (int i = 0; i < TIMES; i++) {
		errno = 77;
		TEST_EQ(device(), 0);
		TEST_EQ(errno, 77);
		TEST_EQ(cudaMemset(buffer, i, 64), cudaSuccess);
		TEST_EQ(cudaGetLastError(), cudaSuccess);
	}
	return NULL;
}

int main(void)
{
	pthread_t thread;
	void *buffer, *none;

	TEST_NEED(cudaMalloc(&buffer, 64) == cudaSuccess);
	ask(buffer);
	for (int i = 0; i < BAD; i++) {
		TEST_EQ(cudaMalloc(&none, (size_t)1 << 60), cudaErrorMemoryAllocation);
		TEST_EQ(cudaPeekAtLastError(), cudaErrorMemoryAllocation);
		TEST_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
		TEST_EQ(cudaGetLastError(), cudaSuccess);
	}
	TEST_NEED(pthread_create(&thread, NULL, ask, buffer) == 0);
	TEST_NEED(pthread_join(thread, NULL) == 0);

	const pid_t child = fork();
	if (child == 0) {
		int number;

		for (int i = 0; i < TIMES; i++)
			cudaGetDevice(&number);
		_exit(3);
	}
	int status = 0;
	TEST_NEED(waitpid(child, &status, 0) == child);
	TEST_EQ(WEXITSTATUS(status), 3);
	return test_result();
}
