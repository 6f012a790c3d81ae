/* SPDX-License-Identifier: MIT */
/*
 * What a call costs the host, in nanoseconds: a kernel launch, a small convolution, a small
 * product, an event. Run with and without what is to be measured. "fact call-cost NAME NS", the
 * median of rounds that start on an idle device. See fact.h.
 */
#include <cublas_v2.h>
#include <cudnn.h>

#include "tests/gpu/facts/fact.h"

#define OK(call) TEST_EQ(call, 0)

enum { ROUNDS = 41, CALLS = 200, N = 16 };

static cudaKernel_t idle;
static cudaEvent_t event;
static float *memory;
static cublasHandle_t blas;
static cudnnHandle_t dnn;
static cudnnTensorDescriptor_t tensor;
static cudnnActivationDescriptor_t relu;

static int launch(void)
{
	const dim3 one = {1, 1, 1};

	return (int)cudaLaunchKernel((const void *)idle, one, one, NULL, 0, NULL);
}

static int record(void)
{
	return (int)cudaEventRecord(event, NULL);
}

static int set(void)
{
	return (int)cudaMemsetAsync(memory, 0, N * sizeof(float), NULL);
}

static int product(void)
{
	static const float one = 1, zero = 0;

	return (int)cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, memory, N, memory, N,
		&zero, memory + N * N, N);
}

static int activation(void)
{
	static const float one = 1, zero = 0;

	return (int)cudnnActivationForward(dnn, relu, &one, tensor, memory, &zero, tensor, memory);
}

static void cost(const char *name, int (*call)(void))
{
	double ns[ROUNDS];
	int status = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		OK(cudaDeviceSynchronize());
		const uint64_t start = fact_now_ns();
		for (unsigned i = 0; i < CALLS; i++)
			status |= call();
		ns[round] = (double)(fact_now_ns() - start) / CALLS;
	}
	TEST_EQ(status, 0);
	fact("call-cost", name, "%.0f", fact_median(ns, ROUNDS));
}

int main(void)
{
	cudaLibrary_t library;

	if (!fact_device())
		return test_skip("no CUDA device");
	OK(cudaMalloc((void **)&memory, 2 * N * N * sizeof(float)));
	OK(cudaMemset(memory, 0, 2 * N * N * sizeof(float)));
	OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	if (!fact_simulated()) {
		OK(cudaLibraryLoadData(&library, fact_ptx, NULL, NULL, 0, NULL, NULL, 0));
		OK(cudaLibraryGetKernel(&idle, library, "idle"));
		cost("kernel", launch);
	}
	cost("event", record);
	cost("memset", set);
	OK(cublasCreate(&blas));
	cost("sgemm", product);
	OK(cudnnCreate(&dnn));
	OK(cudnnCreateTensorDescriptor(&tensor));
	OK(cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, N, N));
	OK(cudnnCreateActivationDescriptor(&relu));
	OK(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0));
	cost("cudnn-activation", activation);
	return test_result();
}
