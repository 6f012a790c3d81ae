/* SPDX-License-Identifier: MIT */
/* Programs that take stream-ordered memory in every step, plainly, or so that one thing keeps a
 * pool from being told to keep its own; one case each. */
#include <cuda_runtime_api.h>

#include "tests/rewrites/memory/rewrite_reserve.h"

static void plain(void)
{
	churn(BYTES, ROUNDS);
}

static void few(void)
{
	churn(BYTES, 6);
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
	TEST_TRUE(graph);
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

/* The current device is not the pool's. */
static void other_device(void)
{
	cudaMemPool_t pool = make_pool(cudaMemHandleTypeNone);
	size_t before, now, all;
	char *memory;

	OK(cudaMemGetInfo(&before, &all));
	OK(cudaSetDevice(1));
	OK(cudaStreamCreate(&stream));
	for (int i = 0; i < ROUNDS; i++) {
		OK(cudaMallocFromPoolAsync((void **)&memory, 40 * MIB, pool, stream));
		OK(cudaFreeAsync(memory, stream));
		OK(cudaStreamSynchronize(stream));
		OK(cudaSetDevice(0));
		OK(cudaDeviceSynchronize());
		OK(cudaMemGetInfo(&now, &all));
		TEST_TRUE(now + MIB >= before);
		OK(cudaSetDevice(1));
	}
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

static const struct rewrite_case cases[] = {
	{"plain", plain},
	{"few", few},
	{"capturing", capturing},
	{"error-waiting", error_waiting},
	{"elsewhere", elsewhere},
	{"other-device", other_device},
	{"unknown-pool", unknown_pool},
	{"shared-pool", shared_pool},
	{"set-high", set_high},
	{"without-waits", without_waits},
	{"crowd", crowd},
};

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	alarm(300);
	OK(cudaStreamCreate(&stream));
	return rewrite_case_run(cases, sizeof(cases) / sizeof(cases[0]), words[1]);
}
