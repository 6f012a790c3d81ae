/* SPDX-License-Identifier: MIT */
/*
 * What programs count on when they take stream-ordered memory in every step, one case each. They
 * hold with and without tfshim, and fail when a pool keeps its memory otherwise than pool-threshold
 * promises: the script has it do so.
 */
#include <cublas_v2.h>
#include <cuda.h>

#include "shim/tfshim.h"
#include "tests/rewrites/memory/rewrite_reserve.h"

/* Free memory as CUDA has it. */
static size_t truly_free(void)
{
	cudaError_t (*ask)(size_t *, size_t *);
	size_t free_bytes = 0, all;

	*(void **)&ask = past_tfshim("cudaMemGetInfo");
	TEST_EQ(ask(&free_bytes, &all), cudaSuccess);
	return free_bytes;
}

/* A pool is as the program left it. */
static void asked(void)
{
	cudaMemPool_t pool;
	uint64_t value = 1;

	OK(cudaDeviceGetDefaultMemPool(&pool, 0));
	for (int i = 0; i < 4; i++) {
		churn(BYTES, ROUNDS);
		OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value));
		TEST_EQ(value, 0);
		OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &value));
		TEST_TRUE(value < BYTES);
	}
}

/* The program wants no more of it than this. */
static void own_threshold(void)
{
	const size_t before = truly_free();
	cudaMemPool_t pool;
	uint64_t value = 0;

	OK(cudaDeviceGetDefaultMemPool(&pool, 0));
	OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value));
	for (int i = 0; i < 4; i++) {
		churn(40 * MIB, 6);
		TEST_TRUE(truly_free() + MIB >= before);
	}
	value = 64 * MIB;
	OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value));
	churn(40 * MIB, ROUNDS);
	OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value));
	TEST_EQ(value, 64 * MIB);
	TEST_TRUE(truly_free() + 40 * MIB <= before);
}

/* Sizes its buffers by what is free; the device's memory must be 256 MiB. */
static void sized_by_free(void)
{
	size_t first, now, all;
	char *memory;

	OK(cudaMemGetInfo(&first, &all));
	for (int i = 0; i < 4; i++) {
		churn(40 * MIB, 20);
		OK(cudaMemGetInfo(&now, &all));
		TEST_TRUE(now + MIB >= first && now <= all);
		OK(cudaMalloc((void **)&memory, now / 10 * 9));
		OK(cudaFree(memory));
	}
}

/* Halves its batch until it fits, beside a pool; 256 MiB. */
static void halves(void)
{
	for (int i = 0; i < 3; i++) {
		size_t bytes = 512 * MIB;
		char *memory = NULL;
		cudaError_t status;

		churn(70 * MIB, 16);
		while ((status = cudaMalloc((void **)&memory, bytes - 64 * MIB)) != cudaSuccess) {
			TEST_EQ(status, cudaErrorMemoryAllocation);
			TEST_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
			TEST_EQ(cudaGetLastError(), cudaSuccess);
			bytes /= 2;
		}
		TEST_EQ(bytes, 256 * MIB);
		TEST_EQ(cudaGetLastError(), cudaSuccess);
		OK(cudaFree(memory));
	}
}

/* An error that nobody has asked for yet is still there when memory was given back. */
static void error_kept(void)
{
	char *memory;

	churn(70 * MIB, 16);
	TEST_EQ(cudaSetDevice(99), cudaErrorInvalidDevice);
	OK(cudaMalloc((void **)&memory, 200 * MIB));
	TEST_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
	OK(cudaFree(memory));
}

/* Pools come and go, and their handles come back. */
static void pools(void)
{
	for (int i = 0; i < 4; i++) {
		cudaMemPool_t pool = make_pool(cudaMemHandleTypeNone);
		uint64_t value = 1;

		churn_from(pool, BYTES, ROUNDS);
		OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value));
		TEST_EQ(value, 0);
		OK(cudaMemPoolDestroy(pool));
	}
}

static void selected(void)
{
	OK(cudaDeviceSetMemPool(0, make_pool(cudaMemHandleTypeNone)));
	churn(BYTES, ROUNDS);
}

static void *work(void *argument)
{
	const int number = (int)(intptr_t)argument;
	const size_t bytes = (size_t)(1 + number % 3) * (MIB / 4);
	cudaStream_t own;
	char *memory, *back;

	OK(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
	OK(cudaMallocHost((void **)&back, bytes));
	for (int i = 0; i < 40; i++) {
		OK(cudaMallocAsync((void **)&memory, bytes, own));
		OK(cudaMemsetAsync(memory, i * 8 + number, bytes, own));
		OK(cudaMemcpyAsync(back, memory, bytes, cudaMemcpyDeviceToHost, own));
		OK(cudaFreeAsync(memory, own));
		OK(cudaStreamSynchronize(own));
		TEST_EQ(wrong_bytes(back, i * 8 + number, bytes), 0);
	}
	OK(cudaFreeHost(back));
	OK(cudaStreamDestroy(own));
	return NULL;
}

static void threads(void)
{
	churn(40 * MIB, 16);
	rewrite_case_threads(work);
}

static void reset(void)
{
	const size_t before = truly_free();

	for (int round = 0; round < 3; round++) {
		churn(BYTES, ROUNDS);
		OK(cudaDeviceReset());
		TEST_TRUE(truly_free() + MIB >= before);
		OK(cudaStreamCreate(&stream));
	}
}

/* By turns, and nothing of either is missing when the program looks. */
static void devices(void)
{
	size_t before[2], now, all;

	for (int i = 0; i < 8; i++) {
		OK(cudaSetDevice(i % 2));
		OK(cudaStreamCreate(&stream));
		if (i < 2)
			OK(cudaMemGetInfo(&before[i], &all));
		churn(40 * MIB, ROUNDS);
		for (int k = 0; i > 0 && k < 2; k++) {
			OK(cudaSetDevice(k));
			OK(cudaMemGetInfo(&now, &all));
			TEST_TRUE(now + MIB >= before[k]);
		}
	}
}

/* Trains, with its gradient in memory of the step; prints the weights. */
static void weights(void)
{
	enum { COUNT = 4096 };
	static float host[COUNT];
	const float rate = -0.01f;
	cublasHandle_t blas;
	float *weight, *grad;

	OK((int)cublasCreate(&blas));
	OK((int)cublasSetStream(blas, stream));
	OK(cudaMalloc((void **)&weight, sizeof(host)));
	for (int i = 0; i < COUNT; i++)
		host[i] = (float)(i % 97) / 97;
	OK(cudaMemcpy(weight, host, sizeof(host), cudaMemcpyHostToDevice));
	for (int i = 0; i < 200; i++) {
		TFSHIM_STEP();
		OK(cudaMallocAsync((void **)&grad, sizeof(host), stream));
		OK(cudaMemcpyAsync(grad, weight, sizeof(host), cudaMemcpyDeviceToDevice, stream));
		OK((int)cublasSaxpy(blas, COUNT - 1, &rate, weight + 1, 1, grad, 1));
		OK((int)cublasSaxpy(blas, COUNT, &rate, grad, 1, weight, 1));
		OK(cudaFreeAsync(grad, stream));
		OK(cudaStreamSynchronize(stream));
	}
	TFSHIM_STEP_END();
	OK(cudaMemcpy(host, weight, sizeof(host), cudaMemcpyDeviceToHost));
	for (int i = 0; i < COUNT; i++)
		printf("%a\n", (double)host[i]);
}

static const struct rewrite_case cases[] = {
	{"asked", asked},
	{"own-threshold", own_threshold},
	{"sized-by-free", sized_by_free},
	{"halves", halves},
	{"error-kept", error_kept},
	{"pools", pools},
	{"selected", selected},
	{"threads", threads},
	{"reset", reset},
	{"devices", devices},
	{"weights", weights},
};

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	alarm(300);
	OK(cudaStreamCreate(&stream));
	return rewrite_case_run(cases, sizeof(cases) / sizeof(cases[0]), words[1]);
}
