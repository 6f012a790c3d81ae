/* SPDX-License-Identifier: MIT */
/*
 * What the libraries take for themselves: handles, the code of algorithms, and a search's own
 * tensors are device memory too. Where there is none left they say so by their own status, and the
 * program's last error is what it was.
 */
#include <cublasLt.h>
#include <cublas_v2.h>

#include "tests/libraries/lib_conv.h"

#define MIB ((size_t)1 << 20)

static const struct lib_conv layer = {
	64, 6, 16, 1, 14, 14, 5, 5, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, 0, 1, 0};

enum { MOST = 20 };
/* From 1 MiB on memory is given out by whole pages, which may be 2 MiB: this is too little. */
#define LITTLE (MIB - 512)

static size_t left(void)
{
	size_t rest = 0, all;

	LIB_EQ(cudaMemGetInfo(&rest, &all), 0);
	return rest;
}

/* Memory taken by the program, in ever smaller blocks, so that this much is left in one piece. */
struct hog {
	void *blocks[256];
	int count;
};

static void hog_take(struct hog *hog, size_t rest)
{
	void *hole = NULL;

	LIB_EQ(cudaMalloc(&hole, rest), 0);
	hog->count = 0;
	for (size_t size = left(); size >= 512; size /= 2)
		while (hog->count < 256 && !cudaMalloc(&hog->blocks[hog->count], size))
			hog->count++;
	LIB_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
	LIB_TRUE(left() < 4096);
	LIB_EQ(cudaFree(hole), 0);
}

static void hog_give(struct hog *hog)
{
	while (hog->count > 0)
		LIB_EQ(cudaFree(hog->blocks[--hog->count]), 0);
}

static void check_handles(void)
{
	const size_t before = left();
	cudnnHandle_t dnn;
	cublasHandle_t blas;
	cublasLtHandle_t lt;

	LIB_EQ(cudnnCreate(&dnn), 0);
	LIB_TRUE(left() + MIB <= before);
	LIB_EQ(cudnnDestroy(dnn), 0);
	LIB_EQ(left(), before);
	LIB_EQ(cublasCreate(&blas), 0);
	/* Two workspaces of 4 MiB at least. */
	LIB_TRUE(left() + 8 * MIB <= before);
	LIB_EQ(cublasDestroy(blas), 0);
	LIB_EQ(left(), before);
	LIB_EQ(cublasLtCreate(&lt), 0);
	LIB_TRUE(left() < before);
	LIB_EQ(cublasLtDestroy(lt), 0);
	LIB_EQ(left(), before);
}

/* The last error of the program, whatever it was, before and after. */
static void check_none_left(cudaError_t error)
{
	struct hog hog;
	cudnnHandle_t dnn = NULL;
	cublasHandle_t blas = NULL;
	cublasLtHandle_t lt = NULL;

	hog_take(&hog, LITTLE);
	if (error)
		LIB_EQ(cudaMalloc(&(void *){NULL}, 2 * MIB), error);
	LIB_EQ(cudnnCreate(&dnn), CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED);
	LIB_EQ(cublasCreate(&blas), CUBLAS_STATUS_ALLOC_FAILED);
	LIB_EQ(cublasLtCreate(&lt), CUBLAS_STATUS_ALLOC_FAILED);
	LIB_TRUE(!dnn && !blas && !lt);
	LIB_EQ(cudaGetLastError(), error);
	hog_give(&hog);
}

/* With 2 MiB left the tensors fit but not the workspaces; with nothing not even the tensors. */
static void check_search(cudnnHandle_t dnn, const struct lib_problem *p)
{
	cudnnConvolutionFwdAlgoPerf_t r[MOST];
	struct hog hog;
	size_t before;
	int n = 0, failed = 0;

	LIB_EQ(cudnnFindConvolutionForwardAlgorithm(dnn, p->x, p->w, p->conv, p->y, MOST, &n, r),
		0);
	before = left();
	LIB_EQ(cudnnFindConvolutionForwardAlgorithm(dnn, p->x, p->w, p->conv, p->y, MOST, &n, r),
		0);
	LIB_EQ(left(), before);
	hog_take(&hog, 2 * MIB);
	LIB_EQ(cudnnFindConvolutionForwardAlgorithm(dnn, p->x, p->w, p->conv, p->y, MOST, &n, r),
		0);
	for (int i = 0; i < n; i++) {
		const bool fits = r[i].memory < MIB / 4;

		if (r[i].status == CUDNN_STATUS_NOT_SUPPORTED)
			continue;
		LIB_EQ(r[i].status, fits ? CUDNN_STATUS_SUCCESS
					 : CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED);
		LIB_TRUE(fits || r[i].time < 0);
		failed += !fits;
	}
	LIB_TRUE(failed >= 2);
	hog_give(&hog);
	hog_take(&hog, 512);
	LIB_EQ(cudnnFindConvolutionForwardAlgorithm(dnn, p->x, p->w, p->conv, p->y, MOST, &n, r),
		CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED);
	LIB_EQ(cudaGetLastError(), 0);
	hog_give(&hog);
	LIB_EQ(left(), before);
}

static size_t nodes_of(cudaStream_t stream)
{
	cudaGraph_t graph;
	size_t n = 99;

	LIB_EQ(cudaStreamEndCapture(stream, &graph), 0);
	LIB_EQ(cudaGraphGetNodes(graph, NULL, &n), 0);
	LIB_EQ(cudaGraphDestroy(graph), 0);
	return n;
}

/* An algorithm's code is loaded when it is first used, and stays. */
static void check_code(cudnnHandle_t dnn, const struct lib_problem *p)
{
	const int algo = CUDNN_CONVOLUTION_FWD_ALGO_FFT;
	const size_t bytes = p->size[LIB_Y] * sizeof(float);
	float *y = lib_upload(NULL, p->size[LIB_Y]), *work;
	size_t size, before;
	cudaStream_t stream;
	struct hog hog;

	LIB_EQ(cudaMemset(y, 0x11, bytes), 0);
	LIB_EQ(lib_workspace_size(dnn, p, LIB_Y, algo, &size), 0);
	work = lib_upload(NULL, size / sizeof(float));
	LIB_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), 0);
	LIB_EQ(cudnnSetStream(dnn, stream), 0);
	hog_take(&hog, LITTLE);
	LIB_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), 0);
	LIB_EQ(lib_convolve(dnn, p, LIB_Y, algo, work, size, y),
		CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED);
	LIB_EQ(nodes_of(stream), 0);
	LIB_EQ(cudaGetLastError(), 0);
	hog_give(&hog);
	before = left();
	LIB_EQ(lib_convolve(dnn, p, LIB_Y, algo, work, size, y), 0);
	LIB_TRUE(left() < before);
	before = left();
	LIB_EQ(lib_convolve(dnn, p, LIB_Y, algo, work, size, y), 0);
	LIB_EQ(left(), before);
	LIB_EQ(cudnnSetStream(dnn, 0), 0);
	LIB_EQ(cudaStreamDestroy(stream), 0);
	LIB_EQ(cudaFree(work), 0);
	LIB_EQ(cudaFree(y), 0);
}

/* A reset takes what the handles had; destroying them afterwards takes nothing of anybody else's.
 */
static void check_reset(cudnnHandle_t dnn)
{
	unsigned char *memory, bytes[64];
	size_t rest;

	LIB_EQ(cudaDeviceReset(), 0);
	LIB_EQ(cudaMalloc((void **)&memory, 64 * MIB), 0);
	LIB_EQ(cudaMemset(memory, 0x22, 64 * MIB), 0);
	rest = left();
	LIB_EQ(cudnnDestroy(dnn), 0);
	LIB_EQ(left(), rest);
	LIB_EQ(cudaMemcpy(bytes, memory, sizeof(bytes), cudaMemcpyDeviceToHost), 0);
	for (size_t i = 0; i < sizeof(bytes); i++)
		LIB_EQ(bytes[i], 0x22);
	LIB_EQ(cudaFree(memory), 0);
}

/* A handle that takes more than it did at first when it is used. (Of the device's seed.) */
static int check_first_use(void)
{
	const float one = 1;
	cudnnTensorDescriptor_t tensor;
	float *x = lib_upload(NULL, 64);
	cudnnHandle_t dnn;
	cublasHandle_t blas;
	struct hog hog;
	size_t before;

	LIB_EQ(cudnnCreate(&dnn), 0);
	LIB_EQ(cublasCreate(&blas), 0);
	LIB_EQ(cudnnCreateTensorDescriptor(&tensor), 0);
	LIB_EQ(cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 8, 8),
		0);
	hog_take(&hog, LITTLE);
	LIB_EQ(cudnnSetTensor(dnn, tensor, x, &one),
		CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED);
	LIB_EQ(cublasSscal(blas, 64, &one, x, 1), CUBLAS_STATUS_ALLOC_FAILED);
	LIB_EQ(cudaGetLastError(), 0);
	hog_give(&hog);
	before = left();
	LIB_EQ(cudnnSetTensor(dnn, tensor, x, &one), 0);
	LIB_TRUE(left() < before);
	before = left();
	LIB_EQ(cublasSscal(blas, 64, &one, x, 1), 0);
	LIB_TRUE(left() < before);
	before = left();
	LIB_EQ(cudnnSetTensor(dnn, tensor, x, &one), 0);
	LIB_EQ(cublasSscal(blas, 64, &one, x, 1), 0);
	LIB_EQ(left(), before);
	LIB_EQ(cudnnDestroyTensorDescriptor(tensor), 0);
	LIB_EQ(cublasDestroy(blas), 0);
	LIB_EQ(cudnnDestroy(dnn), 0);
	LIB_EQ(cudaFree(x), 0);
	return lib_result();
}

int main(int argc, char **argv)
{
	struct lib_problem p;
	cudnnHandle_t dnn;

	/* Of the simulated device. */
	setenv("TFSIM_MEMORY", "256m", 1);
	if (argc > 1 && !strcmp(argv[1], "first-use"))
		return check_first_use();
	check_handles();
	check_none_left(cudaSuccess);
	check_none_left(cudaErrorMemoryAllocation);
	if (!LIB_EQ(cudnnCreate(&dnn), 0))
		return lib_result();
	lib_problem_init(&p, &layer);
	check_code(dnn, &p);
	check_search(dnn, &p);
	lib_problem_finish(&p);
	check_reset(dnn);
	return lib_result();
}
