/* SPDX-License-Identifier: MIT */
/*
 * The whole of what runs in a traced process, with its own threads: many threads of the program
 * make their first calls at once, through hooks that are written and such that are made from a
 * list, and one ends the program while the others go on.
 */
#include <cuda_runtime_api.h>
#include <curand.h>
#include <pthread.h>
#include <unistd.h>

#include "shim/record/recorder.h"
#include "tests/test.h"

#define THREADS 6
#define CALLS 3000u /* at least, of each thread */
#define BYTES 4096u

const char *__tsan_default_suppressions(void);

/* Totals of calls that go on are handed to the kernel as they stand, and again when they are more:
 * the copy that is made last counts. Of the table of memory a copy is thrown away that was made
 * while it changed. */
const char *__tsan_default_suppressions(void)
{
	return "race:put_aggregates\nrace:tfs_hook_count_here\nrace:tfs_memory_find\n";
}

const char *__tsan_default_options(void);

/* A call whose stack is forgotten is not known for one of these. */
const char *__tsan_default_options(void)
{
	return "history_size=7";
}

static pthread_barrier_t at_once;
static atomic_uint ready;
static atomic_ulong calls;
static char folder[] = "/tmp/tfshim-races-XXXXXX";

/* Registered first, it runs last. */
static void remove_folder(void)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	if (system(command) != 0)
		_exit(1);
}

static void *call(void *argument)
{
	char own[BYTES] = "";
	void *memory;
	curandGenerator_t generator;
	int number;
	size_t left, all;

	pthread_barrier_wait(&at_once);
	TEST_NEED(cudaMalloc(&memory, BYTES) == cudaSuccess);
	for (unsigned i = 0;; i++) {
		TEST_EQ(cudaMemcpy(memory, own, BYTES, cudaMemcpyHostToDevice), 0);
		TEST_EQ(cudaMemsetAsync(memory, 0, BYTES, NULL), 0);
		/* These are made from lists. */
		TEST_EQ(cudaRuntimeGetVersion(&number), 0);
		TEST_EQ(cudaMemGetInfo(&left, &all), 0);
		if (i % 100 == 0) {
			TEST_EQ(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT), 0);
			TEST_EQ(curandGetVersion(&number), 0);
			TEST_EQ(curandDestroyGenerator(generator), 0);
		}
		atomic_fetch_add(&calls, 1);
		if (i == CALLS)
			atomic_fetch_add(&ready, 1);
	}
	return argument;
}

static void *end(void *nothing)
{
	while (atomic_load(&ready) < THREADS)
		usleep(1000);
	printf("%lu rounds of calls by %d threads, recorded: %s\n", calls, THREADS,
		tfs_recording.header ? "yes" : "no");
	TEST_TRUE(tfs_recording.header);
	exit(test_result());
	return nothing;
}

int main(void)
{
	static char pattern[64];
	pthread_t threads[THREADS + 1];

	TEST_NEED(mkdtemp(folder) && atexit(remove_folder) == 0);
	snprintf(pattern, sizeof(pattern), "%s/x", folder);
	setenv("TFSHIM_OUTPUT", pattern, 1);
	setenv("TFSHIM_OPTIONS", "report=0:record=all:limit=64m:quiet=1", 1);
	pthread_barrier_init(&at_once, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		TEST_NEED(pthread_create(&threads[i], NULL, call, NULL) == 0);
	TEST_NEED(pthread_create(&threads[THREADS], NULL, end, NULL) == 0);
	pthread_join(threads[THREADS], NULL);
	return 1;
}
