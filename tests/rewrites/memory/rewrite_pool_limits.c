/* SPDX-License-Identifier: MIT */
/* Programs that allocate and free in every step, and in which one thing is such that no block may
 * be kept, one case each. */
#include <cublas_v2.h>
#include <cuda.h>
#include <dlfcn.h>

#include "tests/rewrites/memory/rewrite_pool.h"
#include "tests/sim/tfsim.h"

static void plain(void)
{
	churn(BYTES, ROUNDS);
}

/* Less than a page of some devices. */
static void small(void)
{
	churn(MIB / 2, ROUNDS);
}

/* A library allocates, and not the program; the script gives it another cuBLAS. */
static void by_library(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		cublasHandle_t handle;

		OK((int)cublasCreate(&handle));
	}
}

/* The same by a function that nobody knows to be a library's. */
static void by_stranger(void)
{
	cublasStatus_t (*create)(void);

	*(void **)&create = dlsym(RTLD_DEFAULT, "cublasOtherwise");
	TEST_NEED(create);
	for (int i = 0; i < ROUNDS; i++)
		OK((int)create());
}

static void managed(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		char *memory;

		OK(cudaMallocManaged((void **)&memory, BYTES, cudaMemAttachGlobal));
		OK(cudaFree(memory));
	}
}

static void pooled(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		char *memory;

		OK(cudaMallocAsync((void **)&memory, BYTES, stream));
		OK(cudaStreamSynchronize(stream));
		OK(cudaFree(memory));
	}
}

static void pinned(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		char *memory;

		OK(cudaMallocHost((void **)&memory, BYTES));
		OK(cudaFreeHost(memory));
	}
}

static void shared(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		cudaIpcMemHandle_t handle;
		char *memory;

		OK(cudaMalloc((void **)&memory, BYTES));
		/* The simulated device has none; having asked is enough. */
		(void)cudaIpcGetMemHandle(&handle, memory);
		(void)cudaGetLastError();
		OK(cudaFree(memory));
	}
}

static void peers(void)
{
	(void)cudaDeviceEnablePeerAccess(1, 0);
	(void)cudaGetLastError();
	churn(BYTES, ROUNDS);
}

/* In a relaxed capture a free is allowed; it is made for real. */
static void capturing(void)
{
	enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
	cudaStream_t captured;
	cudaGraph_t graph = NULL;

	churn(BYTES, 10);
	OK(cudaStreamCreateWithFlags(&captured, cudaStreamNonBlocking));
	OK(cudaThreadExchangeStreamCaptureMode(&mode));
	OK(cudaStreamBeginCapture(captured, cudaStreamCaptureModeRelaxed));
	churn(BYTES, 3);
	OK(cudaStreamEndCapture(captured, &graph));
	TEST_TRUE(graph);
}

static void once(void)
{
	char *memory;

	for (size_t i = 1; i <= ROUNDS; i++) {
		OK(cudaMalloc((void **)&memory, i * 4096));
		OK(cudaFree(memory));
	}
}

static void other_device(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		char *memory;

		OK(cudaSetDevice(0));
		OK(cudaMalloc((void **)&memory, BYTES));
		OK(cudaSetDevice(1));
		OK(cudaFree(memory));
	}
}

/* The block is of a context other than the current one, on the same device. */
static void other_context(void)
{
	CUcontext first, second;

	TEST_EQ(cuCtxGetCurrent(&first), CUDA_SUCCESS);
	TEST_EQ(cuCtxCreate(&second, NULL, 0, 0), CUDA_SUCCESS);
	for (int i = 0; i < ROUNDS; i++) {
		char *memory;

		TEST_EQ(cuCtxSetCurrent(first), CUDA_SUCCESS);
		OK(cudaMalloc((void **)&memory, BYTES));
		TEST_EQ(cuCtxSetCurrent(second), CUDA_SUCCESS);
		OK(cudaFree(memory));
	}
}

static void error_waiting(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		char *memory;

		OK(cudaMalloc((void **)&memory, BYTES));
		TEST_EQ(cudaSetDevice(99), cudaErrorInvalidDevice);
		OK(cudaFree(memory));
		TEST_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
	}
}

static void many(void)
{
	char *memory[6];

	for (int i = 0; i < ROUNDS; i++) {
		for (int k = 0; k < 6; k++)
			OK(cudaMalloc((void **)&memory[k], BYTES));
		for (int k = 0; k < 6; k++)
			OK(cudaFree(memory[k]));
	}
}

/* More blocks than the pool has places. */
static void crowd(void)
{
	static char *memory[300];

	for (int i = 0; i < 10; i++) {
		for (int k = 0; k < 300; k++)
			OK(cudaMalloc((void **)&memory[k], 4096));
		for (int k = 0; k < 300; k++)
			OK(cudaFree(memory[k]));
	}
}

static void fail_device(void *nothing)
{
	dawdle(nothing);
	tfsim_kernel_fault(cudaErrorIllegalAddress);
}

/* The free is the first to hear that the device has failed. */
static void device_fails(void)
{
	char *memory;

	churn(BYTES, 10);
	OK(cudaMalloc((void **)&memory, BYTES));
	OK(cudaLaunchHostFunc(stream, fail_device, NULL));
	TEST_EQ(cudaFree(memory), cudaErrorIllegalAddress);
	TEST_EQ(cudaMalloc((void **)&memory, BYTES), cudaErrorIllegalAddress);
	TEST_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
}

static const struct rewrite_case cases[] = {
	{"plain", plain},
	{"small", small},
	{"by-library", by_library},
	{"by-stranger", by_stranger},
	{"managed", managed},
	{"pooled", pooled},
	{"pinned", pinned},
	{"shared", shared},
	{"peers", peers},
	{"capturing", capturing},
	{"once", once},
	{"other-device", other_device},
	{"other-context", other_context},
	{"error-waiting", error_waiting},
	{"many", many},
	{"crowd", crowd},
	{"device-fails", device_fails},
};

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	alarm(300);
	OK(cudaStreamCreate(&stream));
	return rewrite_case_run(cases, sizeof(cases) / sizeof(cases[0]), words[1]);
}
