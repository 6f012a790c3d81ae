/* SPDX-License-Identifier: MIT */
/*
 * Closes every descriptor above 2, as daemons and launchers do, and gives the numbers to files of
 * its own; goes on with calls from stacks that were not seen before; then looks whether anybody
 * else wrote to its files, moved or closed them. With "churn", threads do so all the time while
 * calls fill the recording.
 */
#include <cuda_runtime_api.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/test.h"

#define FILES 40
#define HELD 8
#define CALLS 200000

static void *device;
static atomic_bool over;

/* Each depth is a stack of its own, on pages of its own. Built without unwind tables, so that an
 * unwinder has to try what memory it may read. */
static __attribute__((noinline)) int call_from(int depth)
{
	char page[3000];
	char bytes[8] = "";

	__asm__ volatile("" : : "r"(page) : "memory");

	if (depth == 0)
		return (int)cudaMemcpy(device, bytes, sizeof(bytes), cudaMemcpyHostToDevice);
	const int status = call_from(depth - 1);
	__asm__ volatile("" : : : "memory");
	return status;
}

static int open_own(int number)
{
	char name[64];

	snprintf(name, sizeof(name), "own-%d", number);
	return open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
}

static void close_and_check(void)
{
	int fds[FILES];

	for (int i = 0; i < 40; i++)
		call_from(i % 4);
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	for (int i = 0; i < FILES; i++)
		fds[i] = open_own(i);
	for (int depth = 5; depth < 60; depth++)
		TEST_EQ(call_from(depth), 0);
	for (int i = 0; i < FILES; i++) {
		char text[32] = "";
		struct stat status;

		TEST_EQ(fstat(fds[i], &status), 0);
		TEST_EQ(status.st_size, 0);
		TEST_EQ(write(fds[i], "mine", 4), 4);
		TEST_EQ(pread(fds[i], text, sizeof(text), 0), 4);
		TEST_STR(text, "mine");
		TEST_EQ(close(fds[i]), 0);
	}
	printf("%d files, lowest %d\n", FILES, fds[0]);
}

static bool keeps(const int *fds, const struct stat *was, int count)
{
	for (int i = 0; i < count; i++) {
		struct stat now;

		if (write(fds[i], "x", 1) != 1 || fstat(fds[i], &now) != 0 ||
			now.st_ino != was[i].st_ino || now.st_size != 1)
			return false;
	}
	return true;
}

/* A file that was opened under a number must stay under it until it is closed. */
static void *churn(void *nothing)
{
	unsigned long spoilt = 0;
	unsigned long laps = 0;

	for (; !atomic_load(&over); laps++) {
		const int count = 1 + (int)(laps % HELD);
		struct stat was[HELD];
		int fds[HELD];
		bool good = true;

		for (int i = 0; i < count; i++) {
			fds[i] = open_own(100 + i);
			good = good && fds[i] >= 0 && fstat(fds[i], &was[i]) == 0;
		}
		spoilt += !good || !keeps(fds, was, count);
		for (int fd = 3; fd < 3 + 2 * HELD; fd++)
			close(fd);
	}
	printf("%lu times were files closed, written or moved by somebody else\n", spoilt);
	fprintf(stderr, "tfshim-test: %lu laps\n", laps);
	return nothing;
}

static void call_much(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, churn, NULL) != 0)
		exit(77);
	for (int lap = 0; lap < CALLS; lap++)
		call_from(0);
	atomic_store(&over, true);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	const struct timespec pause = {.tv_nsec = 200000000};

	if (cudaMalloc(&device, 64) != cudaSuccess)
		return test_skip("no device");
	/* Let whatever starts in the background do so. */
	nanosleep(&pause, NULL);
	if (argc > 1 && strcmp(argv[1], "churn") == 0)
		call_much();
	else
		close_and_check();
	return test_result();
}
