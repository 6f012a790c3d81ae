/* SPDX-License-Identifier: MIT */
/*
 * What it takes the host to make, change and destroy what a program should make once: events,
 * streams, handles, pinned memory, executable graphs of so many launches. "fact making NAME US",
 * the median. See fact.h.
 */
#include <cublas_v2.h>
#include <cudnn.h>

#include "tests/gpu/facts/fact.h"

#define OK(call) TEST_EQ(call, 0)

enum { REPEATS = 9, MIB = 1 << 20 };

static cudaStream_t stream;
static cudaKernel_t idle;
static char *memory;

/* What is made and destroyed; both give a status. */
union thing {
	cudaEvent_t event;
	cudaStream_t stream;
	cublasHandle_t blas;
	cudnnHandle_t dnn;
	cudnnTensorDescriptor_t tensor;
	void *memory;
};

static int event_make(union thing *t)
{
	return cudaEventCreate(&t->event);
}
static int event_end(union thing *t)
{
	return cudaEventDestroy(t->event);
}
static int stream_make(union thing *t)
{
	return cudaStreamCreate(&t->stream);
}
static int stream_end(union thing *t)
{
	return cudaStreamDestroy(t->stream);
}
static int blas_make(union thing *t)
{
	return (int)cublasCreate(&t->blas);
}
static int blas_end(union thing *t)
{
	return (int)cublasDestroy(t->blas);
}
static int dnn_make(union thing *t)
{
	return (int)cudnnCreate(&t->dnn);
}
static int dnn_end(union thing *t)
{
	return (int)cudnnDestroy(t->dnn);
}
static int tensor_make(union thing *t)
{
	return (int)cudnnCreateTensorDescriptor(&t->tensor);
}
static int tensor_end(union thing *t)
{
	return (int)cudnnDestroyTensorDescriptor(t->tensor);
}
static int pinned_make(union thing *t)
{
	return cudaMallocHost(&t->memory, MIB);
}
static int pinned_more(union thing *t)
{
	return cudaMallocHost(&t->memory, 64 * MIB);
}
static int pinned_end(union thing *t)
{
	return cudaFreeHost(t->memory);
}
static int device_make(union thing *t)
{
	return cudaMalloc(&t->memory, MIB);
}
static int device_more(union thing *t)
{
	return cudaMalloc(&t->memory, 64 * MIB);
}
static int device_end(union thing *t)
{
	return cudaFree(t->memory);
}

static const struct {
	const char *name;
	int (*make)(union thing *thing);
	int (*end)(union thing *thing);
} things[] = {
	{"event", event_make, event_end},
	{"stream", stream_make, stream_end},
	{"cublas-handle", blas_make, blas_end},
	{"cudnn-handle", dnn_make, dnn_end},
	{"cudnn-tensor-descriptor", tensor_make, tensor_end},
	{"pinned-1-MiB", pinned_make, pinned_end},
	{"pinned-64-MiB", pinned_more, pinned_end},
	{"device-1-MiB", device_make, device_end},
	{"device-64-MiB", device_more, device_end},
};

static double since_us(uint64_t start_ns)
{
	return (double)(fact_now_ns() - start_ns) / 1e3;
}

static void told(const char *what, const char *name, double *us)
{
	char full[64];

	snprintf(full, sizeof(full), "%s-%s", what, name);
	fact("making", full, "%.2f", fact_median(us, REPEATS));
}

static void ask_things(void)
{
	double make_us[REPEATS], end_us[REPEATS];

	for (size_t i = 0; i < sizeof(things) / sizeof(things[0]); i++) {
		for (unsigned k = 0; k < REPEATS; k++) {
			union thing thing;
			uint64_t start_ns = fact_now_ns();

			OK(things[i].make(&thing));
			make_us[k] = since_us(start_ns);
			start_ns = fact_now_ns();
			OK(things[i].end(&thing));
			end_us[k] = since_us(start_ns);
		}
		told("make", things[i].name, make_us);
		told("destroy", things[i].name, end_us);
	}
}

static cudaGraph_t captured(unsigned launches, int value)
{
	const dim3 one = {1, 1, 1};
	cudaGraph_t graph = NULL;

	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	for (unsigned i = 0; i < launches; i++)
		OK(idle ? cudaLaunchKernel((const void *)idle, one, one, NULL, 0, stream)
			: cudaMemsetAsync(memory, value, MIB, stream));
	OK(cudaStreamEndCapture(stream, &graph));
	return graph;
}

static void ask_graph(unsigned launches)
{
	double capture_us[REPEATS], make_us[REPEATS], update_us[REPEATS], launch_us[REPEATS],
		end_us[REPEATS];
	cudaGraphExecUpdateResultInfo info;
	cudaGraphExec_t ready = NULL;
	char name[32];

	for (unsigned k = 0; k < REPEATS; k++) {
		uint64_t start_ns = fact_now_ns();
		const cudaGraph_t graph = captured(launches, 0), other = captured(launches, 1);

		capture_us[k] = since_us(start_ns) / 2;
		start_ns = fact_now_ns();
		OK(cudaGraphInstantiate(&ready, graph, 0));
		make_us[k] = since_us(start_ns);
		start_ns = fact_now_ns();
		OK(cudaGraphExecUpdate(ready, other, &info));
		update_us[k] = since_us(start_ns);
		OK(cudaGraphLaunch(ready, stream));
		OK(cudaStreamSynchronize(stream));
		start_ns = fact_now_ns();
		OK(cudaGraphLaunch(ready, stream));
		launch_us[k] = since_us(start_ns);
		OK(cudaStreamSynchronize(stream));
		start_ns = fact_now_ns();
		OK(cudaGraphExecDestroy(ready));
		end_us[k] = since_us(start_ns);
		OK(cudaGraphDestroy(graph));
		OK(cudaGraphDestroy(other));
	}
	snprintf(name, sizeof(name), "graph-of-%u", launches);
	told("capture", name, capture_us);
	told("instantiate", name, make_us);
	told("update", name, update_us);
	told("launch", name, launch_us);
	told("destroy", name, end_us);
}

int main(void)
{
	cudaLibrary_t library;

	if (!fact_device())
		return test_skip("no CUDA device");
	OK(cudaMalloc((void **)&memory, MIB));
	OK(cudaStreamCreate(&stream));
	if (!fact_simulated()) {
		OK(cudaLibraryLoadData(&library, fact_ptx, NULL, NULL, 0, NULL, NULL, 0));
		OK(cudaLibraryGetKernel(&idle, library, "idle"));
	}
	ask_graph(8);
	ask_graph(64);
	ask_graph(256);
	ask_things();
	return test_result();
}
