/* SPDX-License-Identifier: MIT */
/*
 * Four threads make calls and count them in a file; after some milliseconds the process is killed
 * from within, at whatever moment that is: shim_killed COUNT-FILE MILLISECONDS. With a third
 * argument it only stops making calls, and says so in the file; whoever started it kills it.
 */
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/test.h"

#define THREADS 4

static _Atomic uint64_t *made; /* and in the next word, whether that is all */
static atomic_bool over;
static void *device;

static __attribute__((noinline)) void call_from(int depth)
{
	if (depth > 0)
		call_from(depth - 1);
	else if (cudaStreamQuery(NULL) == cudaSuccess)
		atomic_fetch_add(made, 1);
	__asm__ volatile("" : : : "memory");
}

static void *work(void *nothing)
{
	for (int i = 0; !atomic_load(&over); i++)
		call_from(i % 37);
	return nothing;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	if (argc < 3)
		return test_skip("no file stated");
	const long delay_ms = atol(argv[2]);
	const struct timespec delay = {delay_ms / 1000, delay_ms % 1000 * 1000000};
	const int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	TEST_NEED(fd >= 0 && ftruncate(fd, 2 * sizeof(*made)) == 0);
	made = mmap(NULL, 2 * sizeof(*made), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	TEST_NEED(made != MAP_FAILED);
	if (cudaMalloc(&device, 64) != cudaSuccess)
		return test_skip("no device");
	for (int i = 0; i < THREADS; i++)
		TEST_NEED(pthread_create(&threads[i], NULL, work, NULL) == 0);
	nanosleep(&delay, NULL);
	if (argc > 3) {
		atomic_store(&over, true);
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
		made[1] = 1;
		pause();
	}
	kill(getpid(), SIGKILL);
	return 1;
}
