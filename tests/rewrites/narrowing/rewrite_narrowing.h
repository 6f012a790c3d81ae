/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_REWRITE_NARROWING_H
#define TFS_TESTS_PROGRAMS_REWRITE_NARROWING_H

/* For the programs that wait for the device (rewrite_narrowing*.c): streams, and work for them. */

#include "tests/promises/sim_gate.h"

#define BYTES (1u << 20)
#define ROUNDS 40

static cudaStream_t one, other, third;
static char *big, *copy, *small, *pinned, *back;

/* Work of which its calls say all: fills and copies of device memory. Ends with `big` filled. */
static inline void quiet(cudaStream_t stream, int value)
{
	for (int k = 0; k < 12; k++)
		OK(cudaMemcpyAsync(copy, big, BYTES, cudaMemcpyDeviceToDevice, stream));
	OK(cudaMemsetAsync(big, value, BYTES, stream));
}

/* Work that the host could see. */
static inline void visible(cudaStream_t stream)
{
	OK(cudaMemcpyAsync(small, pinned, 64, cudaMemcpyHostToDevice, stream));
}

static inline void check_device(const char *memory, int value)
{
	OK(cudaMemcpy(back, memory, BYTES, cudaMemcpyDeviceToHost));
	TEST_EQ(wrong_bytes(back, value, BYTES), 0);
}

static inline void set_up(void)
{
	if (!back)
		back = malloc(BYTES);
	OK(cudaStreamCreate(&one));
	OK(cudaStreamCreate(&other));
	OK(cudaStreamCreate(&third));
	OK(cudaMalloc((void **)&big, BYTES));
	OK(cudaMalloc((void **)&copy, BYTES));
	OK(cudaMalloc((void **)&small, 64));
	OK(cudaMallocHost((void **)&pinned, BYTES));
	memset(pinned, 1, BYTES);
}

static inline void rounds(void)
{
	for (int i = 1; i <= ROUNDS; i++) {
		quiet(one, i);
		visible(other);
		OK(cudaDeviceSynchronize());
	}
	check_device(big, ROUNDS);
}

#endif
