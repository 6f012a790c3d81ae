/* SPDX-License-Identifier: MIT */
/*
 * A long run in short: so many steps of nine calls and one of its own kind, and what memory and
 * time they took: shim_long STEPS [SPREAD [POOL]]. With SPREAD, calls come from so many different
 * stacks; a pool of so many KiB may be touched at any time.
 */
#include <cuda_runtime_api.h>
#include <time.h>

#include "tests/test.h"

#define GROWTH_KB 2048L
#define LEVELS 14

static void *weights;
static void *input;
static char bytes[64];

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

/* One of two ways at each level, by the bits of `path`, highest first. */
static __attribute__((noinline)) void deep(unsigned level, unsigned path)
{
	if (level == 0) {
		cudaStreamQuery(NULL);
	} else if ((path >> (level - 1) & 1) != 0) {
		deep(level - 1, path);
		__asm__ volatile("nop");
	} else {
		deep(level - 1, path);
	}
	__asm__ volatile("" : : : "memory");
}

static void step(unsigned long number, unsigned spread)
{
	cudaSetDevice(0);
	cudaStreamQuery(NULL);
	cudaStreamQuery(NULL);
	cudaStreamQuery(NULL);
	cudaStreamQuery(NULL);
	cudaStreamQuery(NULL);
	cudaStreamQuery(NULL);
	cudaGetDevice(&(int){0});
	if (number % 64 == 0)
		cudaMemcpy(input, bytes, sizeof(bytes), cudaMemcpyHostToDevice);
	if (spread != 0)
		deep(LEVELS, (unsigned)(number % spread));
}

int main(int argc, char **argv)
{
	const unsigned long steps = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	const unsigned spread = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	const long pool_kb = argc > 3 ? atol(argv[3]) : 0; /* of memory that is there to be used */
	struct timespec start;
	struct timespec end;
	long before = 0;

	if (cudaMalloc(&weights, 64) != cudaSuccess || cudaMalloc(&input, 64) != cudaSuccess)
		return test_skip("no device");
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (unsigned long i = 0; i < steps; i++) {
		if (i == steps / 4)
			before = resident_kb();
		step(i, spread);
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	const long after = resident_kb();
	TEST_IN(after - before, -1000000, GROWTH_KB + pool_kb);
	const double ns =
		(double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec);
	printf("queries %lu copies %lu\n", steps * 6, (steps + 63) / 64);
	fprintf(stderr, "tfshim-test: %.1f ns per call, memory %ld kB then %ld kB\n",
		ns / (double)steps / 8, before, after);
	return test_result();
}
