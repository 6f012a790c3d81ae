/* SPDX-License-Identifier: MIT */
/* A call of each library that launches kernels of its own, from lines of its own: what the device
 * does must be charged to these calls. One rank, one device. */
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <curand.h>
#include <nccl.h>

#include "tests/cupti/cupti_wait.h"
#include "tests/test.h"

#define OK(call) TEST_EQ(call, 0)
#define SIDE 64
#define COUNT (SIDE * SIDE)
#define STEPS 120

static struct {
	cublasHandle_t blas;
	cublasLtHandle_t lt;
	cublasLtMatmulDesc_t product;
	cublasLtMatrixLayout_t layout;
	cudnnHandle_t dnn;
	cudnnTensorDescriptor_t tensor;
	curandGenerator_t random;
	ncclComm_t comm;
	cudaStream_t stream;
	cudaGraphExec_t graph;
	float *a, *b, *c;
} net;

static void capture(void)
{
	cudaGraph_t graph;

	OK(cudaStreamBeginCapture(net.stream, cudaStreamCaptureModeGlobal));
	OK(cudaMemsetAsync(net.b, 0, COUNT, net.stream));
	OK(cudaMemsetAsync(net.c, 0, COUNT, net.stream));
	OK(cudaStreamEndCapture(net.stream, &graph));
	OK(cudaGraphInstantiate(&net.graph, graph, 0));
}

static void start(void)
{
	ncclUniqueId id;

	OK(cudaStreamCreateWithFlags(&net.stream, cudaStreamNonBlocking));
	OK(cudaMalloc((void **)&net.a, COUNT * sizeof(float)));
	OK(cudaMalloc((void **)&net.b, COUNT * sizeof(float)));
	OK(cudaMalloc((void **)&net.c, COUNT * sizeof(float)));
	OK(cudaMemset(net.a, 0, COUNT * sizeof(float)));
	OK(cublasCreate(&net.blas));
	OK(cublasSetStream(net.blas, net.stream));
	OK(cublasLtCreate(&net.lt));
	OK(cublasLtMatmulDescCreate(&net.product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
	OK(cublasLtMatrixLayoutCreate(&net.layout, CUDA_R_32F, SIDE, SIDE, SIDE));
	OK(cudnnCreate(&net.dnn));
	OK(cudnnSetStream(net.dnn, net.stream));
	OK(cudnnCreateTensorDescriptor(&net.tensor));
	OK(cudnnSetTensor4dDescriptor(
		net.tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, SIDE, SIDE, 1, 1));
	OK(curandCreateGenerator(&net.random, CURAND_RNG_PSEUDO_DEFAULT));
	OK(curandSetStream(net.random, net.stream));
	OK(ncclGetUniqueId(&id));
	OK(ncclCommInitRank(&net.comm, 1, id, 0));
	capture();
}

static void multiply(float *to)
{
	const float one = 1, zero = 0;

	OK(cublasLtMatmul(net.lt, net.product, &one, net.a, net.layout, net.a, net.layout, &zero,
		to, net.layout, to, net.layout, NULL, NULL, 0, net.stream));
}

static void step(void)
{
	const float one = 1, zero = 0;
	void *scratch;

	OK(curandGenerateUniform(net.random, net.a, COUNT));
	multiply(net.b);
	multiply(net.c);
	OK(cublasSgemm(net.blas, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE, SIDE, &one, net.a, SIDE,
		net.b, SIDE, &zero, net.c, SIDE));
	OK(cudnnSoftmaxForward(net.dnn, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL, &one,
		net.tensor, net.c, &zero, net.tensor, net.b));
	OK(ncclAllReduce(net.b, net.c, COUNT, ncclFloat, ncclSum, net.comm, net.stream));
	OK(cudaGraphLaunch(net.graph, net.stream));
	OK(cudaStreamSynchronize(net.stream));
	OK(cudaMalloc(&scratch, COUNT));
	OK(cudaFree(scratch));
}

int main(void)
{
	if (cudaFree(NULL) != cudaSuccess)
		return test_skip("no device");
	start();
	cupti_wait();
	for (int i = 0; i < STEPS; i++) {
		usleep(500);
		TFSHIM_STEP();
		step();
	}
	return test_result();
}
