/* SPDX-License-Identifier: MIT */
/*
 * Call sites that are easily taken for one another. One helper makes all copies, always at the
 * same depth of the stack; it is called from two places, turn and turn about, by the same
 * function. A cache keyed by return address and stack pointer alone sees a single site. Each
 * group below makes a number of calls of its own, by which the script knows it again:
 * shim_sites WAIT, where WAIT is the milliseconds given to the shim to get its unwinder.
 */
#include <cuda_runtime_api.h>
#include <time.h>

#include "tests/test.h"

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif
#define BARRIER() __asm__ volatile("" : : : "memory")

static void *device;
static char bytes[64];

static NOINLINE void upload(size_t size)
{
	cudaMemcpy(device, bytes, size, cudaMemcpyHostToDevice);
	BARRIER();
}

/* The same helper one level deeper. */
static NOINLINE void send(size_t size)
{
	upload(size);
	BARRIER();
}

/* 1000 and 1000 from two lines of one function, at one depth. */
static NOINLINE void two_lines(void)
{
	for (int i = 0; i < 1000; i++) {
		upload(16);
		BARRIER();
		upload(32);
		BARRIER();
	}
}

/* 700 and 300 by two functions with frames of the same size, three calls up. */
static NOINLINE void images(int times)
{
	for (int i = 0; i < times; i++) {
		send(8);
		BARRIER();
	}
}

static NOINLINE void labels(int times)
{
	for (int i = 0; i < times; i++) {
		send(8);
		BARRIER();
	}
	__asm__ volatile("nop");
}

static NOINLINE void two_functions(void)
{
	volatile int seven = 7;
	volatile int three = 3;

	for (int i = 0; i < 100; i++) {
		images(seven);
		labels(three);
	}
}

/* A hundred times down to depth 5: one site per depth. */
static NOINLINE void recurse(int depth)
{
	if (depth > 0)
		recurse(depth - 1);
	cudaMemset(device, 0, 8);
	BARRIER();
}

int main(int argc, char **argv)
{
	const long wait_ms = argc > 1 ? atol(argv[1]) : 0;
	const struct timespec pause = {wait_ms / 1000, wait_ms % 1000 * 1000000};

	if (cudaMalloc(&device, sizeof(bytes)) != cudaSuccess)
		return test_skip("no device");
	nanosleep(&pause, NULL);
	two_lines();
	two_functions();
	for (int i = 0; i < 100; i++)
		recurse(4);
	printf("made 3000 copies, 500 fills\n");
	return 0;
}
