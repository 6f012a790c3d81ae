/* SPDX-License-Identifier: MIT */
/*
 * What cuDNN's three ways to choose a convolution algorithm do: whether they write to the
 * program's output, wait for the stream, and what they say about each algorithm. See fact.h.
 */
#include <cudnn.h>
#include <pthread.h>

#include "tests/gpu/facts/fact.h"
#include "tests/promises/sim_gate.h"

enum { N = 32, C = 32, SIDE = 28, MAPS = 64, MOST = 20, WORKSPACE = 256 << 20 };

static cudnnHandle_t dnn;
static cudnnTensorDescriptor_t x_t, y_t;
static cudnnFilterDescriptor_t w_t;
static cudnnConvolutionDescriptor_t conv;
static cudaStream_t stream;
static float *x, *w, *y;
static void *workspace;
static const size_t x_bytes = N * C * SIDE * SIDE * sizeof(float),
		    w_bytes = MAPS * C * 9 * sizeof(float),
		    y_bytes = N * MAPS * SIDE * SIDE * sizeof(float);
static cudnnConvolutionFwdAlgoPerf_t found[MOST];
static int count;

static int get(void)
{
	return cudnnGetConvolutionForwardAlgorithm_v7(
		dnn, x_t, w_t, conv, y_t, MOST, &count, found);
}

static int find(void)
{
	return cudnnFindConvolutionForwardAlgorithm(dnn, x_t, w_t, conv, y_t, MOST, &count, found);
}

static int find_ex(void)
{
	return cudnnFindConvolutionForwardAlgorithmEx(
		dnn, x_t, x, w_t, w, conv, y_t, y, MOST, &count, found, workspace, WORKSPACE);
}

static int find_filter_ex(void)
{
	return cudnnFindConvolutionBackwardFilterAlgorithmEx(dnn, x_t, x, y_t, y, conv, w_t, w,
		MOST, &count, (cudnnConvolutionBwdFilterAlgoPerf_t *)(void *)found, workspace,
		WORKSPACE);
}

static int find_data_ex(void)
{
	return cudnnFindConvolutionBackwardDataAlgorithmEx(dnn, w_t, w, y_t, y, conv, x_t, x, MOST,
		&count, (cudnnConvolutionBwdDataAlgoPerf_t *)(void *)found, workspace, WORKSPACE);
}

static const struct {
	const char *name;
	int (*call)(void);
	float **output;
	const size_t *bytes;
} ways[] = {
	{"get-v7", get, &y, &y_bytes},
	{"find", find, &y, &y_bytes},
	{"find-ex", find_ex, &y, &y_bytes},
	{"find-ex-filter", find_filter_ex, &w, &w_bytes},
	{"find-ex-data", find_data_ex, &x, &x_bytes},
};

struct probe {
	struct gate gate;
	sem_t done;
};

static void *watchdog(void *argument)
{
	struct probe *probe = argument;
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 2;
	sem_timedwait(&probe->done, &end);
	gate_open(&probe->gate);
	return NULL;
}

static void ask(unsigned way)
{
	const size_t bytes = *ways[way].bytes;
	unsigned char *host = malloc(bytes);
	struct probe probe;
	pthread_t thread;
	char name[64];

	sem_init(&probe.done, 0, 0);
	OK(cudaMemset(*ways[way].output, 0x11, bytes));
	OK(cudaDeviceSynchronize());
	gate_close(&probe.gate, stream);
	pthread_create(&thread, NULL, watchdog, &probe);
	const uint64_t start = fact_now_ns();
	const int status = ways[way].call();
	const double spent_ms = (double)(fact_now_ns() - start) / 1e6;
	const bool waited = atomic_load(&probe.gate.passed);
	sem_post(&probe.done);
	pthread_join(thread, NULL);
	OK(cudaDeviceSynchronize());
	OK(cudaMemcpy(host, *ways[way].output, bytes, cudaMemcpyDeviceToHost));
	snprintf(name, sizeof(name), "%s-writes-output", ways[way].name);
	fact("conv-search", name, "%s", wrong_bytes(host, 0x11, bytes) ? "yes" : "no");
	snprintf(name, sizeof(name), "%s-waits-for-the-stream", ways[way].name);
	fact("conv-search", name, "%s", waited ? "yes" : "no");
	snprintf(name, sizeof(name), "%s-results", ways[way].name);
	fact("conv-search", name, "status %d, %d results, %.1f ms%s", status, count, spent_ms,
		waited ? " with the wait" : "");
	free(host);
}

static void list(unsigned way)
{
	char name[64];

	OK(cudaMemset(*ways[way].output, 0, *ways[way].bytes));
	OK(cudaDeviceSynchronize());
	const uint64_t start = fact_now_ns();
	ways[way].call();
	const double spent_ms = (double)(fact_now_ns() - start) / 1e6;
	snprintf(name, sizeof(name), "%s-again-ms", ways[way].name);
	fact("conv-search", name, "%.2f", spent_ms);
	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%s-%d", ways[way].name, i);
		fact("conv-search", name,
			"algo %d math %d status %d time %.4f ms workspace %zu determinism %d",
			(int)found[i].algo, (int)found[i].mathType, (int)found[i].status,
			(double)found[i].time, found[i].memory, (int)found[i].determinism);
	}
}

static void describe(void)
{
	OK(cudnnCreateTensorDescriptor(&x_t));
	OK(cudnnCreateTensorDescriptor(&y_t));
	OK(cudnnCreateFilterDescriptor(&w_t));
	OK(cudnnCreateConvolutionDescriptor(&conv));
	OK(cudnnSetTensor4dDescriptor(x_t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, N, C, SIDE, SIDE));
	OK(cudnnSetTensor4dDescriptor(
		y_t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, N, MAPS, SIDE, SIDE));
	OK(cudnnSetFilter4dDescriptor(w_t, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, MAPS, C, 3, 3));
	OK(cudnnSetConvolution2dDescriptor(
		conv, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
}

int main(void)
{
	if (!fact_device())
		return test_skip("no CUDA device");
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudnnCreate(&dnn));
	OK(cudnnSetStream(dnn, stream));
	describe();
	OK(cudaMalloc((void **)&x, x_bytes));
	OK(cudaMalloc((void **)&w, w_bytes));
	OK(cudaMalloc((void **)&y, y_bytes));
	OK(cudaMalloc(&workspace, WORKSPACE));
	OK(cudaMemset(x, 0, x_bytes));
	OK(cudaMemset(w, 0, w_bytes));
	fact("conv-search", "cudnn-version", "%zu", cudnnGetVersion());
	/* Once before: what a first call loads is no part of the answers. */
	find_ex();
	for (unsigned i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		ask(i);
	alarm(0);
	for (unsigned i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		list(i);
	return test_result();
}
