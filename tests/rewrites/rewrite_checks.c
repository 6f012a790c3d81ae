/* SPDX-License-Identifier: MIT */
/*
 * One case per named check of the rewrites: the case breaks that precondition, so that the rewrite
 * must refuse by that name; the data arrive all the same. The script reads the ledger afterwards.
 */
#include <pthread.h>
#include <sys/mman.h>

#include "tests/rewrites/rewrite_case.h"
#include "tests/rewrites/search/rewrite_conv.h"

#define BYTES (2 << 20)

static char *device;
static cudaStream_t stream;

/* Sends `bytes` of value 5 from `source` and compares. */
static void send(char *target, char *source, size_t bytes)
{
	char *back = malloc(bytes);

	memset(source, 5, bytes);
	OK(cudaMemcpyAsync(target, source, bytes, cudaMemcpyHostToDevice, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaMemcpy(back, target, bytes, cudaMemcpyDeviceToHost));
	TEST_EQ(wrong_bytes(back, 5, bytes), 0);
	free(back);
}

static void send_plain(void)
{
	send(device, malloc(BYTES), BYTES);
}

static void from_device(void)
{
	char *back = malloc(BYTES);

	OK(cudaMemset(device, 5, BYTES));
	OK(cudaMemcpy(back, device, BYTES, cudaMemcpyDeviceToHost));
	TEST_EQ(wrong_bytes(back, 5, BYTES), 0);
}

static void within_device(void)
{
	char *other = NULL;

	OK(cudaMalloc((void **)&other, BYTES));
	OK(cudaMemset(device, 5, BYTES));
	OK(cudaMemcpyAsync(other, device, BYTES, cudaMemcpyDeviceToDevice, stream));
	OK(cudaDeviceSynchronize());
}

static void send_small(void)
{
	send(device, malloc(4096), 4096);
}

static void send_in_capture(void)
{
	cudaStream_t captured;
	cudaGraph_t graph = NULL;

	OK(cudaStreamCreateWithFlags(&captured, cudaStreamNonBlocking));
	OK(cudaStreamBeginCapture(captured, cudaStreamCaptureModeRelaxed));
	OK(cudaMemsetAsync(device, 1, 16, captured));
	char *source = malloc(BYTES);
	memset(source, 5, BYTES);
	OK(cudaMemcpyAsync(device, source, BYTES, cudaMemcpyHostToDevice, stream));
	OK(cudaStreamEndCapture(captured, &graph));
	send_plain();
}

static void send_pinned(void)
{
	char *pinned = NULL;
	char *managed = NULL;
	char *registered = aligned_alloc(4096, BYTES);

	OK(cudaMallocHost((void **)&pinned, BYTES));
	send(device, pinned, BYTES);
	OK(cudaHostRegister(registered, BYTES, 0));
	send(device, registered, BYTES);
	OK(cudaHostUnregister(registered));
	OK(cudaMallocManaged((void **)&managed, BYTES, cudaMemAttachGlobal));
	send(device, managed, BYTES);
}

static void send_to_managed(void)
{
	char *managed = NULL;

	OK(cudaMallocManaged((void **)&managed, BYTES, cudaMemAttachGlobal));
	send(managed, malloc(BYTES), BYTES);
}

static void send_to_pool(void)
{
	char *pooled = NULL;

	OK(cudaMallocAsync((void **)&pooled, BYTES, stream));
	send(pooled, malloc(BYTES), BYTES);
}

static struct gate gate;
static sem_t sending;

/* More than the ring holds, behind a closed gate: waits inside for a chunk. */
static void *fill_ring(void *other)
{
	const size_t bytes = 32u << 20;
	char *source = malloc(bytes);
	char *target = NULL;

	memset(source, 1, bytes);
	OK(cudaMalloc((void **)&target, bytes));
	gate_close(&gate, other);
	sem_post(&sending);
	OK(cudaMemcpyAsync(target, source, bytes, cudaMemcpyHostToDevice, other));
	return NULL;
}

static void send_beside(void)
{
	cudaStream_t other;
	pthread_t thread;
	char *sources[200];

	sem_init(&sending, 0, 0);
	OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	TEST_EQ(pthread_create(&thread, NULL, fill_ring, other), 0);
	sem_wait(&sending);
	/* It may not be inside yet: goes on until it must be. */
	for (int i = 0; i < 200; i++) {
		sources[i] = malloc(BYTES / 16);
		memset(sources[i], 5, BYTES / 16);
		OK(cudaMemcpyAsync(device, sources[i], BYTES / 16, cudaMemcpyHostToDevice, stream));
		sched_yield();
	}
	gate_open(&gate);
	pthread_join(thread, NULL);
	OK(cudaDeviceSynchronize());
}

static bool behind_gate;
static cudaStream_t conv_stream;

/* A convolution with the algorithm given, twice. */
static void convolve(cudnnConvolutionFwdAlgo_t algorithm)
{
	static float x[CONV_X], w[CONV_W];
	const float one = 1, zero = 0;
	float *y = NULL;
	size_t bytes = 0;
	void *workspace = NULL;
	struct conv conv;

	conv_make(&conv);
	DNN(cudnnSetStream(conv.handle, conv_stream));
	float *device_x = conv_floats(x, CONV_X, 3);
	float *device_w = conv_floats(w, CONV_W, 4);
	OK(cudaMalloc((void **)&y, CONV_Y * sizeof(float)));
	DNN(cudnnGetConvolutionForwardWorkspaceSize(
		conv.handle, conv.x, conv.w, conv.convolution, conv.y, algorithm, &bytes));
	OK(cudaMalloc(&workspace, bytes + 1));
	if (behind_gate)
		gate_close(&gate, cudaStreamLegacy);
	for (int i = 0; i < 2; i++)
		DNN(cudnnConvolutionForward(conv.handle, &one, conv.x, device_x, conv.w, device_w,
			conv.convolution, algorithm, workspace, bytes, &zero, conv.y, y));
	if (behind_gate)
		gate_open(&gate);
	OK(cudaStreamSynchronize(conv_stream));
}

static void convolve_fixed(void)
{
	convolve(CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM);
}

/* The stream waits for what this thread does only after the convolution was enqueued. */
static void convolve_behind(void)
{
	behind_gate = true;
	convolve(CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM);
}

/* The same problem with another algorithm than before. */
static void convolve_otherwise(void)
{
	convolve(CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM);
	convolve(CUDNN_CONVOLUTION_FWD_ALGO_GEMM);
}

/* On two streams, each with a workspace of its own. */
static void convolve_twice(void)
{
	for (int i = 0; i < 2; i++) {
		OK(cudaStreamCreateWithFlags(&conv_stream, cudaStreamNonBlocking));
		convolve(CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM);
	}
}

/* Another stream is being captured when the problem is met, and then no more. */
static void convolve_capturing(void)
{
	cudaStream_t captured;
	cudaGraph_t graph = NULL;

	OK(cudaStreamCreateWithFlags(&conv_stream, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&captured, cudaStreamNonBlocking));
	OK(cudaStreamBeginCapture(captured, cudaStreamCaptureModeRelaxed));
	OK(cudaMemsetAsync(device, 1, 16, captured));
	convolve(CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM);
	OK(cudaStreamEndCapture(captured, &graph));
	TEST_TRUE(graph);
	convolve(CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM);
}

static void convolve_best(void)
{
	convolve(CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM);
}

/* The program measures one problem, and fixes the algorithm of another. */
static void convolve_searching(void)
{
	cudnnConvolutionFwdAlgoPerf_t list[8];
	struct conv conv;
	int count;

	conv_make(&conv);
	conv_resize(&conv, CONV_N / 2);
	DNN(cudnnFindConvolutionForwardAlgorithm(
		conv.handle, conv.x, conv.w, conv.convolution, conv.y, 8, &count, list));
	convolve_fixed();
}

static void convolve_volume(void)
{
	const int dims[5] = {2, 3, 6, 6, 6}, out[5] = {2, 4, 4, 4, 4}, filter[5] = {4, 3, 3, 3, 3};
	const int strides[5] = {648, 216, 36, 6, 1}, out_strides[5] = {256, 64, 16, 4, 1};
	const int pads[3] = {0, 0, 0}, ones[3] = {1, 1, 1};
	const float one = 1, zero = 0;
	struct conv conv;
	float *memory = NULL;

	conv_make(&conv);
	OK(cudaMalloc((void **)&memory, 1 << 20));
	DNN(cudnnSetTensorNdDescriptor(conv.x, CUDNN_DATA_FLOAT, 5, dims, strides));
	DNN(cudnnSetTensorNdDescriptor(conv.y, CUDNN_DATA_FLOAT, 5, out, out_strides));
	DNN(cudnnSetFilterNdDescriptor(conv.w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 5, filter));
	DNN(cudnnSetConvolutionNdDescriptor(
		conv.convolution, 3, pads, ones, ones, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
	/* Whether the library can do it is the library's affair. */
	cudnnConvolutionForward(conv.handle, &one, conv.x, memory, conv.w, memory + 8192,
		conv.convolution, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, NULL, 0, &zero, conv.y,
		memory + 16384);
}

static const struct rewrite_case cases[] = {
	{"plain", send_plain},
	{"host-and-device", within_device},
	{"from-device", from_device},
	{"size", send_small},
	{"not-capturing", send_in_capture},
	{"source-pageable", send_pinned},
	{"target-device-memory", send_to_managed},
	{"target-pool", send_to_pool},
	{"ring-free", send_beside},
	{"convolution", convolve_fixed},
	{"streams-idle", convolve_behind},
	{"conv-capturing", convolve_capturing},
	{"asked-as-decided", convolve_otherwise},
	{"workspace-memory", convolve_twice},
	{"gain", convolve_best},
	{"program-does-not-search", convolve_searching},
	{"plain-problem", convolve_volume},
};

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	alarm(300);
	OK(cudaMalloc((void **)&device, BYTES));
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	const int result = rewrite_case_run(cases, sizeof(cases) / sizeof(cases[0]), words[1]);
	TEST_EQ(cudaGetLastError(), cudaSuccess);
	return result != 0 ? result : test_result();
}
