/* SPDX-License-Identifier: MIT */
/*
 * Makes calls, does something to the file of its own recording, and makes more calls for a while:
 * shim_cut WAY FILE
 */
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/test.h"

#define THREADS 3
#define ROUNDS 30
#define CALLS 500

static atomic_int round_number;

static __attribute__((noinline)) void call_from(int depth)
{
	if (depth > 0)
		call_from(depth - 1);
	else
		TEST_EQ(cudaStreamQuery(NULL), cudaSuccess);
	__asm__ volatile("" : : : "memory");
}

static void *work(void *nothing)
{
	for (int seen = 0; seen < ROUNDS; seen = atomic_load(&round_number))
		call_from(seen % 29);
	return nothing;
}

static void write_other(const char *path)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	TEST_EQ(write(fd, "another's", 9), 9);
	TEST_EQ(close(fd), 0);
}

static void change(const char *way, const char *path)
{
	if (strcmp(way, "truncate") == 0) {
		TEST_EQ(truncate(path, 0), 0);
	} else if (strcmp(way, "shorten") == 0) {
		TEST_EQ(truncate(path, 5000), 0);
	} else if (strcmp(way, "folder") == 0) {
		TEST_EQ(unlink(path), 0);
		TEST_EQ(mkdir(path, 0700), 0);
	} else if (strcmp(way, "fifo") == 0) {
		TEST_EQ(unlink(path), 0);
		TEST_EQ(mkfifo(path, 0600), 0);
	} else if (strcmp(way, "none") != 0) {
		TEST_EQ(unlink(path), 0);
		if (strcmp(way, "replace") == 0)
			write_other(path);
	}
}

int main(int argc, char **argv)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	pthread_t threads[THREADS];
	void *device;

	if (argc < 3 || cudaMalloc(&device, 64) != cudaSuccess)
		return test_skip("no file stated, or no device");
	for (int i = 0; i < THREADS; i++)
		TEST_NEED(pthread_create(&threads[i], NULL, work, NULL) == 0);
	for (int round = 1; round <= ROUNDS; round++) {
		for (int i = 0; i < CALLS; i++)
			call_from(i % 37);
		nanosleep(&pause, NULL);
		if (round == ROUNDS / 2 && access(argv[2], F_OK) == 0)
			change(argv[1], argv[2]);
		atomic_store(&round_number, round);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("done, last error %d\n", (int)cudaGetLastError());
	return test_result();
}
