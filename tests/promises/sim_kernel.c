/* SPDX-License-Identifier: MIT */
/* Kernels: arguments are copied at launch, order in the stream, names, parameters, bad shapes. */
#include "sim_ptx.h"

#define NUMBER 1000

static const void *add_one;
static cudaStream_t stream;
static int *device, *host;

static cudaError_t launch(int *x, int n, int step)
{
	void *args[] = {&x, &n, &step};

	return cudaLaunchKernel(add_one, (dim3){8, 1, 1}, (dim3){128, 1, 1}, args, 0, stream);
}

static void check_arguments_are_copied(void)
{
	struct gate gate;
	int *x = device, n = NUMBER, step = 5, wrong = 0;
	void *args[] = {&x, &n, &step};

	OK(cudaMemsetAsync(device, 0, NUMBER * sizeof(int), stream));
	gate_close(&gate, stream);
	OK(cudaLaunchKernel(add_one, (dim3){8, 1, 1}, (dim3){128, 1, 1}, args, 0, stream));
	n = 0;
	step = 99;
	x = NULL;
	memset(args, 0, sizeof(args));
	OK(launch(device, NUMBER, 1));
	OK(cudaMemcpyAsync(host, device, NUMBER * sizeof(int), cudaMemcpyDeviceToHost, stream));
	TEST_TRUE(!gate.passed);
	gate_open(&gate);
	OK(cudaStreamSynchronize(stream));
	for (int i = 0; i < NUMBER; i++)
		wrong += host[i] != 6;
	TEST_EQ(wrong, 0);
}

static void check_in_graph(void)
{
	struct cudaKernelNodeParams params;
	cudaGraphExec_t exec;
	cudaGraphNode_t node;
	cudaGraph_t graph;
	size_t count = 1;
	int *x = device, n = NUMBER, step = 10;
	void *args[] = {&x, &n, &step};

	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(launch(device, NUMBER, 1));
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphGetNodes(graph, &node, &count));
	OK(cudaGraphKernelNodeGetParams(node, &params));
	TEST_EQ(params.gridDim.x, 8);
	TEST_EQ(*(int *)params.kernelParams[2], 1);
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaMemsetAsync(device, 0, NUMBER * sizeof(int), stream));
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaGraphLaunch(exec, stream));
	params.kernelParams = args;
	OK(cudaGraphExecKernelNodeSetParams(exec, node, &params));
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaMemcpyAsync(host, device, NUMBER * sizeof(int), cudaMemcpyDeviceToHost, stream));
	OK(cudaStreamSynchronize(stream));
	TEST_EQ(host[0], 12);
	TEST_EQ(host[NUMBER - 1], 12);
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
}

static void check_what_it_is(cudaLibrary_t library)
{
	struct cudaFuncAttributes attributes;
	size_t offset = 9, size = 9;
	cudaKernel_t other;
	const char *name = NULL;
	unsigned count = 0;
	int blocks = 0;

	OK(cudaFuncGetName(&name, add_one));
	TEST_STR(name, "add_one");
	OK(cudaFuncGetParamInfo(add_one, 2, &offset, &size));
	TEST_EQ(offset, 12);
	TEST_EQ(size, 4);
	TEST_EQ(cudaFuncGetParamInfo(add_one, 3, &offset, &size), cudaErrorInvalidValue);
	OK(cudaLibraryGetKernelCount(&count, library));
	TEST_EQ(count, 3);
	TEST_EQ(cudaLibraryGetKernel(&other, library, "missing"), cudaErrorSymbolNotFound);
	OK(cudaLibraryGetKernel(&other, library, "unknown"));
	OK(cudaFuncGetParamInfo(other, 1, &offset, &size));
	TEST_EQ(offset, 24);
	TEST_EQ(size, 4);
	OK(cudaFuncGetAttributes(&attributes, add_one));
	TEST_IN(attributes.maxThreadsPerBlock, 1, 1024);
	OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_one, 128, 0));
	TEST_IN(blocks, 1, 64);
	/* They share what a multiprocessor has. */
	OK(cudaOccupancyAvailableDynamicSMemPerBlock(&size, add_one, 1, 128));
	TEST_IN(size, 48 << 10, 256 << 10);
	OK(cudaOccupancyAvailableDynamicSMemPerBlock(&size, add_one, 16, 128));
	TEST_IN(size, 1024, 15 << 10);
	(void)cudaGetLastError();
}

static void check_bad_launches(void)
{
	int *x = device, n = 0, step = 0;
	void *args[] = {&x, &n, &step};

	TEST_EQ(cudaLaunchKernel(add_one, (dim3){0, 1, 1}, (dim3){1, 1, 1}, args, 0, stream),
		cudaErrorInvalidConfiguration);
	TEST_EQ(cudaLaunchKernel(add_one, (dim3){1, 1, 1}, (dim3){2048, 1, 1}, args, 0, stream),
		cudaErrorInvalidConfiguration);
	TEST_EQ(cudaLaunchKernel(add_one, (dim3){1, 1, 1}, (dim3){1, 1, 1}, args, 1 << 20, stream),
		cudaErrorInvalidValue);
	TEST_EQ(cudaLaunchKernel(args, (dim3){1, 1, 1}, (dim3){1, 1, 1}, args, 0, stream),
		cudaErrorInvalidDeviceFunction);
	TEST_EQ(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
	OK(cudaStreamSynchronize(stream));
}

int main(void)
{
	cudaLibrary_t library;
	cudaKernel_t kernel;

	if (no_device())
		return test_skip("no device");
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaMalloc((void **)&device, NUMBER * sizeof(int)));
	OK(cudaMallocHost((void **)&host, NUMBER * sizeof(int)));
	library = sim_ptx_load();
	OK(cudaLibraryGetKernel(&kernel, library, "add_one"));
	add_one = kernel;
	check_arguments_are_copied();
	check_in_graph();
	check_what_it_is(library);
	check_bad_launches();
	OK(cudaLibraryUnload(library));
	return test_result();
}
