/* SPDX-License-Identifier: MIT */
/*
 * nvtx_steps ranges|layers|micro|named|started|api|plain: trains a little and says where its steps
 * are, by ranges around what carries the weights, by ranges only inside, around micro-batches, by
 * ranges without any work that could be seen, not at all behind many that one call starts and
 * another ends, by the call for it, or not at all.
 */
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <errno.h>
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include "shim/tfshim.h"
#include "tests/test.h"

#define SIZE 32
#define STEPS 60

static cublasHandle_t handle;
static float *weights;
static float *batch;
static float *output;

static void work(void)
{
	const float one = 1, zero = 0, rate = -0.01f;

	nvtxRangePushA("forward");
	cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, SIZE, SIZE, SIZE, &one, weights, SIZE, batch,
		SIZE, &zero, output, SIZE);
	nvtxRangePop();
	nvtxRangePushA("update");
	cublasSaxpy(handle, SIZE * SIZE, &rate, output, 1, weights, 1);
	nvtxRangePop();
}

static void evaluate(void)
{
	const float one = 1, zero = 0;

	for (int i = 0; i < 5; i++)
		cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, SIZE, SIZE, SIZE, &one, weights, SIZE,
			batch, SIZE, &zero, output, SIZE);
	cudaDeviceSynchronize();
}

static void train(const char *how)
{
	const bool ranges = strcmp(how, "ranges") == 0;
	char name[32];

	for (int i = 0; i < STEPS; i++) {
		errno = EXDEV;
		if (strcmp(how, "api") == 0)
			TFSHIM_STEP();
		TEST_EQ(errno, EXDEV);
		snprintf(name, sizeof(name), "pass %d", i);
		if (ranges)
			nvtxRangePushA(name);
		nvtxRangePushA("data");
		cudaMemcpy(batch, output, SIZE * SIZE * sizeof(float), cudaMemcpyDeviceToDevice);
		nvtxRangePop();
		if (strcmp(how, "plain") != 0 && strcmp(how, "layers") != 0)
			nvtxRangePushA("inner");
		work();
		if (strcmp(how, "plain") != 0 && strcmp(how, "layers") != 0)
			nvtxRangePop();
		nvtxMarkA("here");
		if (ranges)
			nvtxRangePop();
	}
	errno = EXDEV;
	if (strcmp(how, "api") == 0)
		TFSHIM_STEP_END();
	TEST_EQ(errno, EXDEV);
	evaluate();
}

/* Nothing here carries weights: the name is all there is. */
static void idle(void)
{
	for (int i = 0; i < STEPS; i++) {
		nvtxRangePushA("train_step");
		cudaMemset(output, 0, SIZE);
		nvtxRangePop();
	}
}

/* More than are timed at once, and one that is ended twice. */
static void start_and_end(void)
{
	const nvtxRangeId_t outer = nvtxRangeStartA("outer");

	for (int i = 0; i < 2000; i++)
		nvtxRangeEnd(nvtxRangeStartA("ended at once"));
	nvtxRangeEnd(outer);
	nvtxRangeEnd(outer);
	nvtxRangeStartA("never ended");
}

int main(int count, char **words)
{
	TEST_NEED(count == 2);
	TEST_EQ(cudaMalloc((void **)&weights, SIZE * SIZE * sizeof(float)), cudaSuccess);
	TEST_EQ(cudaMalloc((void **)&batch, SIZE * SIZE * sizeof(float)), cudaSuccess);
	TEST_EQ(cudaMalloc((void **)&output, SIZE * SIZE * sizeof(float)), cudaSuccess);
	TEST_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
	/* Call stacks, and so loops, are known only once the unwinder is there. */
	usleep(200000);
	if (strcmp(words[1], "started") == 0)
		start_and_end();
	if (strcmp(words[1], "named") == 0)
		idle();
	else
		train(words[1]);
	TEST_EQ(cublasDestroy(handle), CUBLAS_STATUS_SUCCESS);
	return test_result();
}
