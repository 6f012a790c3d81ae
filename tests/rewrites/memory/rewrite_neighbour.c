/* SPDX-License-Identifier: MIT */
/*
 * Another process on the device needs memory that would be there without rewrites, while this one
 * goes on: it must get it before long. One case each, by what holds memory and what the program
 * goes on with; on the simulated device both share memory by TFSIM_SHARED.
 */
#include <cuda.h>
#include <cudnn.h>

#include "tests/rewrites/memory/neighbour.h"
#include "tests/rewrites/memory/rewrite_pool.h"
#include "tests/rewrites/rewrite_job.h"

#define BLOCK ((size_t)64 * MIB)
#define SPARE ((size_t)16 * MIB) /* rounding, and what the program still takes */
#define TRIES 600
#define PROBLEMS 8
#define PIECES 32

static struct neighbour neighbour;
static struct job job;
static char *memory;

/* As this program is told: what would be there without rewrites. */
static size_t left(void)
{
	size_t rest = 0, all = 0;

	neighbour_ask(&neighbour, "left", 0); /* has begun */
	OK(cudaMemGetInfo(&rest, &all));
	return rest;
}

static void go_on_allocating(void)
{
	churn(3 * MIB, 1);
}

/* Never allocates nor frees. */
static void go_on_waiting(void)
{
	OK(cudaMemsetAsync(memory, 1, BYTES, stream));
	OK(cudaStreamSynchronize(stream));
}

static void go_on_copying(void)
{
	static char host[4096];

	OK(cudaMemcpy(host, memory, sizeof(host), cudaMemcpyDeviceToHost));
}

static void go_on_waiting_for_events(void)
{
	cudaEvent_t event;

	OK(cudaEventCreate(&event));
	OK(cudaMemsetAsync(memory, 1, BYTES, stream));
	OK(cudaEventRecord(event, stream));
	OK(cudaEventSynchronize(event));
	OK(cudaEventDestroy(event));
}

static void go_on_computing(void)
{
	static int number;

	job_problem(&job, number++ % PROBLEMS);
	DNN(job_run(&job, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, NULL, 0));
	OK(cudaStreamSynchronize(stream));
}

/* The neighbour takes what it needs piece by piece, and where there is none tries again, as long as
 * this goes on. */
static void must_get(size_t bytes, void (*go_on)(void))
{
	int got = 0, tries = 0;

	while (got < PIECES && tries < TRIES) {
		if (neighbour_ask(&neighbour, "take", bytes / PIECES) == 0) {
			got++;
			continue;
		}
		tries++;
		go_on();
		usleep(1000);
	}
	TEST_EQ(got, PIECES);
	printf("%d pieces of %zu bytes, the last after %s\n", got, bytes / PIECES,
		tries == 0 ? "no wait" : "a wait");
	for (int i = 0; i < 100; i++)
		go_on();
	TEST_EQ(neighbour_ask(&neighbour, "give", 0), 0);
}

static void with_blocks(void (*go_on)(void))
{
	const size_t bytes = left() - SPARE;

	for (int round = 0; round < 3; round++) {
		churn(BLOCK, 8);
		must_get(bytes, go_on);
	}
}

static void allocating(void)
{
	with_blocks(go_on_allocating);
}

static void waiting(void)
{
	with_blocks(go_on_waiting);
}

static void copying(void)
{
	with_blocks(go_on_copying);
}

static void events(void)
{
	with_blocks(go_on_waiting_for_events);
}

/* What a search has, and what it lends to convolutions. */
static void with_search(void (*go_on)(void))
{
	job_make(&job, stream, 1);
	OK(cudaDeviceSynchronize());
	/* All code that it may load is loaded by the program too. */
	char *workspace = NULL;

	OK(cudaMalloc((void **)&workspace, 8 * MIB));
	job_problem(&job, 29);
	for (int i = 0; i < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; i++)
		job_run(&job, i, workspace, 8 * MIB);
	OK(cudaDeviceSynchronize());
	OK(cudaFree(workspace));
	const size_t bytes = left() - SPARE;

	for (int i = 0; i < PROBLEMS; i++)
		go_on_computing();
	must_get(bytes, go_on);
	DNN(cudnnDestroy(job.conv.handle));
}

static void searched(void)
{
	with_search(go_on_waiting);
}

static void computing(void)
{
	with_search(go_on_computing);
}

static const struct rewrite_case cases[] = {
	{"allocating", allocating},
	{"waiting", waiting},
	{"copying", copying},
	{"events", events},
	{"searched", searched},
	{"computing", computing},
};

int main(int count, char **words)
{
	if (neighbour_is(count, words))
		return neighbour_main();
	if (count != 2)
		return 2;
	alarm(300);
	OK(cudaStreamCreate(&stream));
	OK(cudaMalloc((void **)&memory, BYTES));
	neighbour_start(&neighbour);
	const int result = rewrite_case_run(cases, sizeof(cases) / sizeof(cases[0]), words[1]);
	neighbour_end(&neighbour, 0);
	return result != 0 ? result : test_result();
}
