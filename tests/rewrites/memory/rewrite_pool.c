/* SPDX-License-Identifier: MIT */
/*
 * What programs count on when they allocate and free in every step, one case each. They hold with
 * and without tfshim, and fail when a pool breaks its contract: the script has it do so.
 */
#include <cuda.h>

#include "tests/rewrites/memory/rewrite_pool.h"

/* Where memory is to run short, the device's must be 32 MiB: filling more takes its time. */
#define PART (MIB / 8)

/* Counterexample 4: the free is all that the host waits by before it reads the result. */
static void free_waits(void)
{
	char *pinned, *memory;

	OK(cudaMallocHost((void **)&pinned, BYTES));
	for (int i = 1; i <= ROUNDS; i++) {
		OK(cudaMalloc((void **)&memory, BYTES));
		OK(cudaMemsetAsync(memory, i, BYTES, stream));
		OK(cudaLaunchHostFunc(stream, dawdle, NULL));
		OK(cudaMemcpyAsync(pinned, memory, BYTES, cudaMemcpyDeviceToHost, stream));
		OK(cudaFree(memory));
		TEST_EQ(wrong_bytes(pinned, i, BYTES), 0);
	}
	OK(cudaFreeHost(pinned));
}

/* Counterexample 5: one stream still reads what is freed, another writes what is allocated. */
static void two_streams(void)
{
	char *memory, *result, *back = malloc(BYTES);
	cudaStream_t other;

	OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	OK(cudaMalloc((void **)&result, BYTES));
	for (int i = 1; i <= ROUNDS; i++) {
		OK(cudaMalloc((void **)&memory, BYTES));
		OK(cudaMemsetAsync(memory, i, BYTES, stream));
		OK(cudaLaunchHostFunc(stream, dawdle, NULL));
		OK(cudaMemcpyAsync(result, memory, BYTES, cudaMemcpyDeviceToDevice, stream));
		OK(cudaFree(memory));
		OK(cudaMalloc((void **)&memory, BYTES));
		OK(cudaMemsetAsync(memory, 0x77, BYTES, other));
		OK(cudaDeviceSynchronize());
		OK(cudaMemcpy(back, result, BYTES, cudaMemcpyDeviceToHost));
		TEST_EQ(wrong_bytes(back, i, BYTES), 0);
		OK(cudaFree(memory));
	}
	free(back);
}

/* Counterexample 6: what the program left in a block never comes back in a new one. Of memory
 * that nobody wrote nothing else is promised. */
static void nothing_stale(void)
{
	char *memory, *back = malloc(BYTES);

	for (int i = 0; i < ROUNDS; i++) {
		OK(cudaMalloc((void **)&memory, BYTES));
		OK(cudaMemcpy(back, memory, BYTES, cudaMemcpyDeviceToHost));
		TEST_EQ(wrong_bytes(back, 0x5a, BYTES), BYTES);
		OK(cudaMemset(memory, 0x5a, BYTES));
		OK(cudaFree(memory));
	}
	free(back);
}

/* The same of a program that counts on zeros, which CUDA does not promise. */
static void zeros(void)
{
	char *memory, *back = malloc(BYTES);

	for (int i = 0; i < ROUNDS; i++) {
		OK(cudaMalloc((void **)&memory, BYTES));
		OK(cudaMemcpy(back, memory, BYTES, cudaMemcpyDeviceToHost));
		TEST_EQ(wrong_bytes(back, 0, BYTES), 0);
		OK(cudaMemset(memory, 0x5a, BYTES));
		OK(cudaFree(memory));
	}
	free(back);
}

/* Counterexample 7: sizes its buffers by what is free. */
static void sized_by_free(void)
{
	size_t first, now, all;
	char *memory;

	OK(cudaMemGetInfo(&first, &all));
	for (int i = 0; i < ROUNDS; i++) {
		churn(40 * PART, 6);
		OK(cudaMemGetInfo(&now, &all));
		TEST_TRUE(now >= first - PART && now <= all);
		OK(cudaMalloc((void **)&memory, now / 10 * 9));
		OK(cudaFree(memory));
	}
}

/* Counterexample 8: a block is one of CUDA's own, of the size that was asked for. */
static void whole_blocks(void)
{
	CUdeviceptr base;
	char *memory;
	size_t bytes;

	for (int i = 0; i < ROUNDS; i++) {
		churn(4 * MIB, 1);
		OK(cudaMalloc((void **)&memory, MIB));
		TEST_EQ(cuMemGetAddressRange(&base, &bytes, (CUdeviceptr)(uintptr_t)memory + 100),
			CUDA_SUCCESS);
		TEST_EQ(base, (CUdeviceptr)(uintptr_t)memory);
		TEST_EQ(bytes, MIB);
		OK(cudaFree(memory));
	}
}

/* Counterexample 14: halves its batch until it fits. */
static void halves(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		size_t bytes = 256 * PART;
		char *one, *two, *memory = NULL;
		cudaError_t status;

		for (int k = 0; k < 6; k++) {
			OK(cudaMalloc((void **)&one, 70 * PART));
			OK(cudaMalloc((void **)&two, 70 * PART));
			OK(cudaFree(one));
			OK(cudaFree(two));
		}
		while ((status = cudaMalloc((void **)&memory, bytes)) != cudaSuccess) {
			TEST_EQ(status, cudaErrorMemoryAllocation);
			TEST_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
			TEST_EQ(cudaGetLastError(), cudaSuccess);
			bytes /= 2;
		}
		TEST_EQ(bytes, 128 * PART);
		TEST_EQ(cudaGetLastError(), cudaSuccess);
		OK(cudaFree(memory));
	}
}

/* The address that a churned block had, freed by now. */
static char *freed_block(void)
{
	char *memory = NULL;

	churn(BYTES, 10);
	OK(cudaMalloc((void **)&memory, BYTES));
	OK(cudaFree(memory));
	return memory;
}

/* What must fail fails as it would, and nothing else does. */
static void misuse(void)
{
	char *memory = freed_block();
	struct cudaPointerAttributes attributes;
	CUdeviceptr base;
	size_t bytes;
	int local;

	TEST_EQ(cudaFree(memory), cudaErrorInvalidValue);
	TEST_EQ(cudaGetLastError(), cudaErrorInvalidValue);
	TEST_EQ(cudaFree(memory + 512), cudaErrorInvalidValue);
	TEST_EQ(cudaGetLastError(), cudaErrorInvalidValue);
	TEST_EQ(cudaFree(&local), cudaErrorInvalidValue);
	TEST_EQ(cudaGetLastError(), cudaErrorInvalidValue);
	OK(cudaFree(NULL));
	OK(cudaPointerGetAttributes(&attributes, memory + 8));
	TEST_EQ(attributes.type, cudaMemoryTypeUnregistered);
	TEST_TRUE(attributes.hostPointer == memory + 8);
	TEST_EQ(cuMemGetAddressRange(&base, &bytes, (CUdeviceptr)(uintptr_t)memory),
		CUDA_ERROR_INVALID_VALUE);
	TEST_EQ(cudaMalloc((void **)&memory, 0), cudaSuccess);
	TEST_TRUE(!memory);
	TEST_EQ(cudaMalloc(NULL, BYTES), cudaErrorInvalidValue);
	TEST_EQ(cudaGetLastError(), cudaErrorInvalidValue);
	/* The block itself is as good as before. */
	OK(cudaMalloc((void **)&memory, BYTES));
	OK(cudaMemset(memory, 1, BYTES));
	OK(cudaFree(memory));
}

/* An error that nobody has asked for yet is still there, also when blocks were given back. */
static void error_kept(void)
{
	char *memory = freed_block();

	churn(70 * PART, 10);
	TEST_EQ(cudaFree(memory + 512), cudaErrorInvalidValue);
	OK(cudaMalloc((void **)&memory, 200 * PART));
	TEST_EQ(cudaGetLastError(), cudaErrorInvalidValue);
	TEST_EQ(cudaGetLastError(), cudaSuccess);
	OK(cudaFree(memory));
}

/* A size of which blocks are kept: at least a page, as the device gives memory out. */
static size_t least_kept(void)
{
	size_t before, after, all;
	char *memory;

	OK(cudaMemGetInfo(&before, &all));
	OK(cudaMalloc((void **)&memory, MIB + 1));
	OK(cudaMemGetInfo(&after, &all));
	OK(cudaFree(memory));
	return before - after < 2 * MIB ? MIB / 4 : 2 * MIB;
}

static size_t least;

static void *work(void *argument)
{
	const int number = (int)(intptr_t)argument;
	const size_t bytes = (size_t)(1 + number % 3) * least;
	cudaStream_t own;
	char *pinned, *memory, *result;
	int devices = 1;

	OK(cudaGetDeviceCount(&devices));
	OK(cudaSetDevice(number % devices));
	OK(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
	OK(cudaMallocHost((void **)&pinned, bytes));
	OK(cudaMalloc((void **)&result, bytes));
	for (int i = 0; i < 40; i++) {
		OK(cudaMalloc((void **)&memory, bytes));
		OK(cudaMemsetAsync(memory, i * 8 + number, bytes, own));
		OK(cudaMemcpyAsync(result, memory, bytes, cudaMemcpyDeviceToDevice, own));
		OK(cudaFree(memory));
		OK(cudaMemcpyAsync(pinned, result, bytes, cudaMemcpyDeviceToHost, own));
		OK(cudaStreamSynchronize(own));
		TEST_EQ(wrong_bytes(pinned, i * 8 + number, bytes), 0);
	}
	OK(cudaFree(result));
	OK(cudaFreeHost(pinned));
	OK(cudaStreamDestroy(own));
	return NULL;
}

/* Eight threads on eight streams, on as many devices as there are. What a device gives out at least
 * is found while one thread allocates. */
static void threads(void)
{
	int devices = 1;

	OK(cudaGetDeviceCount(&devices));
	for (int i = 0; i < devices; i++) {
		OK(cudaSetDevice(i));
		OK(cudaStreamCreate(&stream));
		churn(BYTES, 10);
	}
	OK(cudaSetDevice(0));
	least = least_kept();
	rewrite_case_threads(work);
}

/* After a reset nothing is left of what was kept, on that device; on another one it is. */
static void reset(void)
{
	size_t before, after, all;
	int devices = 1;

	OK(cudaGetDeviceCount(&devices));
	OK(cudaMemGetInfo(&before, &all));
	for (int round = 0; round < 4; round++) {
		for (int i = devices - 1; i >= 0; i--) {
			OK(cudaSetDevice(i));
			OK(cudaStreamCreate(&stream));
			churn(BYTES, 10);
		}
		OK(cudaSetDevice(round % devices));
		OK(cudaDeviceReset());
		for (int i = 0; i < devices; i++) {
			OK(cudaSetDevice(i));
			OK(cudaMemGetInfo(&after, &all));
			TEST_EQ(after, before);
		}
	}
	OK(cudaStreamCreate(&stream));
	churn(BYTES, 10);
}

static const struct rewrite_case cases[] = {
	{"free-waits", free_waits},
	{"two-streams", two_streams},
	{"nothing-stale", nothing_stale},
	{"zeros", zeros},
	{"sized-by-free", sized_by_free},
	{"whole-blocks", whole_blocks},
	{"halves", halves},
	{"misuse", misuse},
	{"error-kept", error_kept},
	{"threads", threads},
	{"reset", reset},
};

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	alarm(300);
	OK(cudaStreamCreate(&stream));
	return rewrite_case_run(cases, sizeof(cases) / sizeof(cases[0]), words[1]);
}
