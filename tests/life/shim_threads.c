/* SPDX-License-Identifier: MIT */
/*
 * Threads: shim_threads TOGETHER GENERATIONS. So many at a time make calls, and so often. Prints
 * how many calls were made; the memory that grew after the first generations is held against a
 * limit.
 */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "tests/test.h"

#define CALLS 50
#define SETTLED 20      /* generations after which memory is constant */
#define GROWTH_KB 4096L /* what glibc's arenas need at most */

static void *device;
static atomic_ulong made;
static pthread_barrier_t all_called; /* so that none ends before the last began */

static void *work(void *nothing)
{
	char bytes[32] = "";

	for (int i = 0; i < CALLS; i++)
		if (cudaMemcpy(device, bytes, sizeof(bytes), cudaMemcpyHostToDevice) == cudaSuccess)
			atomic_fetch_add(&made, 1);
	pthread_barrier_wait(&all_called);
	return nothing;
}

/* Private memory only: pages of the recording are the kernel's cache. */
static long resident_kb(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long kb = 0;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "RssAnon: %ld", &kb) == 1)
			break;
	if (file)
		fclose(file);
	return kb;
}

int main(int argc, char **argv)
{
	const unsigned together = argc > 1 ? (unsigned)atoi(argv[1]) : 16;
	const unsigned generations = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	pthread_t threads[64];
	long before = 0;

	if (cudaMalloc(&device, 64) != cudaSuccess)
		return test_skip("no device");
	TEST_NEED(pthread_barrier_init(&all_called, NULL, together < 64 ? together : 64) == 0);
	for (unsigned i = 0; i < generations; i++) {
		if (i == SETTLED)
			before = resident_kb();
		for (unsigned k = 0; k < together && k < 64; k++)
			TEST_NEED(pthread_create(&threads[k], NULL, work, NULL) == 0);
		for (unsigned k = 0; k < together && k < 64; k++)
			TEST_EQ(pthread_join(threads[k], NULL), 0);
	}
	const long after = resident_kb();
	if (generations > SETTLED)
		TEST_IN(after - before, -1000000, GROWTH_KB);
	fprintf(stderr, "tfshim-test: memory %ld kB then %ld kB\n", before, after);
	printf("made %lu\n", atomic_load(&made));
	return test_result();
}
