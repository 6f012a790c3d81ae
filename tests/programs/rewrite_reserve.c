/* SPDX-License-Identifier: MIT */
/*
 * What programs count on when they take stream-ordered memory in every step, one case each. They
 * hold with and without tfshim, and fail when a pool keeps its memory otherwise than pool-threshold
 * promises: the script has it do so.
 */
#include <cublas_v2.h>
#include <cuda.h>
#include <dlfcn.h>

#include "shim/tfshim.h"
#include "tests/programs/rewrite_case.h"
#include "tests/programs/sim_gate.h"

#define MIB ((size_t)1 << 20)
#define BYTES (2 * MIB)
#define ROUNDS 24

static cudaStream_t stream;

static void *past_tfshim(const char *name)
{
	void *runtime = dlopen("libcudart.so.13", RTLD_NOW);
	void *function = runtime != NULL ? dlsym(runtime, name) : NULL;

	TEST_NEED(function != NULL);
	return function;
}

/* Free memory as CUDA has it. */
static size_t truly_free(void)
{
	cudaError_t (*ask)(size_t *, size_t *);
	size_t free_bytes = 0, all;

	*(void **)&ask = past_tfshim("cudaMemGetInfo");
	TEST_EQ(ask(&free_bytes, &all), cudaSuccess);
	return free_bytes;
}

/* A temporary of each step, from a pool or from the current one. */
static void churn_from(cudaMemPool_t pool, size_t bytes, int times)
{
	const size_t used = bytes < MIB ? bytes : MIB;
	char *back = malloc(used);

	for (int i = 1; i <= times; i++) {
		char *memory = NULL;

		if (pool != NULL)
			OK(cudaMallocFromPoolAsync((void **)&memory, bytes, pool, stream));
		else
			OK(cudaMallocAsync((void **)&memory, bytes, stream));
		OK(cudaMemsetAsync(memory, i, used, stream));
		OK(cudaMemcpyAsync(back, memory, used, cudaMemcpyDeviceToHost, stream));
		OK(cudaFreeAsync(memory, stream));
		OK(cudaStreamSynchronize(stream));
		TEST_EQ(wrong_bytes(back, i, used), 0);
	}
	free(back);
}

static void churn(size_t bytes, int times)
{
	churn_from(NULL, bytes, times);
}

static cudaMemPool_t make_pool(enum cudaMemAllocationHandleType shared)
{
	const struct cudaMemPoolProps like = {.allocType = cudaMemAllocationTypePinned,
		.handleTypes = shared,
		.location = {.type = cudaMemLocationTypeDevice, .id = 0}};
	cudaMemPool_t pool = NULL;

	OK(cudaMemPoolCreate(&pool, &like));
	return pool;
}

static void plain(void)
{
	churn(BYTES, ROUNDS);
}

static void few(void)
{
	churn(BYTES, 6);
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

static void capturing(void)
{
	cudaStream_t captured;
	cudaGraph_t graph = NULL;
	char *memory;

	OK(cudaStreamCreateWithFlags(&captured, cudaStreamNonBlocking));
	OK(cudaStreamBeginCapture(captured, cudaStreamCaptureModeRelaxed));
	for (int i = 0; i < 3; i++) {
		OK(cudaMallocAsync((void **)&memory, BYTES, captured));
		OK(cudaFreeAsync(memory, captured));
	}
	OK(cudaStreamEndCapture(captured, &graph));
	TEST_TRUE(graph != NULL);
}

static void error_waiting(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		char *memory;

		TEST_EQ(cudaSetDevice(99), cudaErrorInvalidDevice);
		OK(cudaMallocAsync((void **)&memory, BYTES, stream));
		TEST_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
		OK(cudaFreeAsync(memory, stream));
		OK(cudaStreamSynchronize(stream));
	}
}

static void elsewhere(void)
{
	char *memory;

	OK(cudaSetDevice(1));
	OK(cudaMalloc((void **)&memory, BYTES));
	OK(cudaSetDevice(0));
	churn(BYTES, ROUNDS);
}

/* Made where tfshim does not look. */
static void unknown_pool(void)
{
	const struct cudaMemPoolProps like = {.allocType = cudaMemAllocationTypePinned,
		.location = {.type = cudaMemLocationTypeDevice, .id = 0}};
	cudaError_t (*make)(cudaMemPool_t *, const struct cudaMemPoolProps *);
	cudaMemPool_t pool = NULL;

	*(void **)&make = past_tfshim("cudaMemPoolCreate");
	OK(make(&pool, &like));
	churn_from(pool, BYTES, ROUNDS);
}

static void shared_pool(void)
{
	churn_from(make_pool(cudaMemHandleTypePosixFileDescriptor), BYTES, ROUNDS);
}

static void set_high(void)
{
	uint64_t keep = UINT64_MAX;
	cudaMemPool_t pool;

	OK(cudaDeviceGetDefaultMemPool(&pool, 0));
	OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
	churn(BYTES, ROUNDS);
}

/* Nothing lies between releasing and taking again. */
static void without_waits(void)
{
	char *memory;

	for (int i = 0; i < ROUNDS; i++) {
		OK(cudaMallocAsync((void **)&memory, BYTES, stream));
		OK(cudaFreeAsync(memory, stream));
	}
	OK(cudaStreamSynchronize(stream));
}

/* More pools than can be minded. */
static void crowd(void)
{
	for (int i = 0; i < 20; i++)
		churn_from(make_pool(cudaMemHandleTypeNone), MIB, 12);
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
	{"plain", plain},
	{"few", few},
	{"asked", asked},
	{"own-threshold", own_threshold},
	{"sized-by-free", sized_by_free},
	{"halves", halves},
	{"error-kept", error_kept},
	{"pools", pools},
	{"selected", selected},
	{"threads", threads},
	{"reset", reset},
	{"capturing", capturing},
	{"error-waiting", error_waiting},
	{"elsewhere", elsewhere},
	{"unknown-pool", unknown_pool},
	{"shared-pool", shared_pool},
	{"set-high", set_high},
	{"without-waits", without_waits},
	{"crowd", crowd},
	{"weights", weights},
};

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	alarm(60);
	OK(cudaStreamCreate(&stream));
	return rewrite_case_run(cases, sizeof(cases) / sizeof(cases[0]), words[1]);
}
