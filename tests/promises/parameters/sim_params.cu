/* SPDX-License-Identifier: MIT */
/*
 * Kernels, all but one without CPU versions, whose parameters the device code tells: by every way
 * to ask, for functions of the program and for files of the same code (the arguments), whole or
 * cut short.
 */
#include <cuda.h>
#include <cuda_runtime.h>
#include <stddef.h>

#include "sim_params_old.h"
#include "tests/sim/tfsim.h"
#include "tests/test.h"

#define OK(call) TEST_EQ(call, 0)

struct odd {
	char b[3];
};
struct empty {
};
struct alignas(16) vector {
	float x[5];
	char tail;
};
struct alignas(8) line {
	char c;
};
struct large {
	double d[600];
};
struct huge {
	double d[2100];
};
template <class T> struct pair {
	T a;
	char b;
};

__device__ int counter = 7;
__device__ float zeroed[3];
__constant__ short table[4] = {1, 2, -3, 4};
__managed__ double managed = 2.5;

extern "C" __global__ void plain(float *x, int n)
{
	x[n] += table[n & 3] + zeroed[0];
}

__global__ void nothing()
{
	counter = 1;
}

__global__ void bytes(char a, bool b, unsigned char c)
{
	counter = a + b + c;
}

__global__ void numbers(char a, short b, double c, long long d, float e, const int *f)
{
	counter = (int)(a + b + c + d + e + *f);
}

__global__ void structs(odd a, vector b, empty c, float3 d, line e, int4 f, odd g)
{
	counter = (int)(a.b[2] + b.x[4] + sizeof(c) + d.z + e.c + f.w + g.b[0]);
}

__global__ void constant(char a, const __grid_constant__ vector b, const __grid_constant__ odd c)
{
	counter = (int)(a + b.tail + c.b[1]);
}

__global__ void above_4k(large a, char b, double *c)
{
	*c = a.d[(int)b];
}

/* Its size does not fit into the older form of the note. */
__global__ void above_16k(char a, huge b, short c, double *d)
{
	*d = b.d[a + c];
}

namespace {
__global__ void hidden(short a, odd b, int c)
{
	counter = a + b.b[0] + c;
}
}

template <class T> __global__ void generic(T a, pair<T> b, T *c)
{
	*c = a + b.a;
}

__global__ void many(int a0, char a1, int a2, char a3, int a4, char a5, int a6, char a7, int a8,
	char a9, int b0, char b1, int b2, char b3, int b4, char b5, int b6, char b7, int b8,
	char b9, int c0, char c1, int c2, char c3, int c4, char c5, int c6, char c7, int c8,
	char c9, int d0, char d1, int d2, char d3, int d4, char d5, int d6, char d7, int d8,
	double *d9)
{
	*d9 = a0 + a1 + b5 + c7 + d8;
}

#define MANY 48

struct expected {
	const char *name; /* as in the code; NULL where another compilation has another one */
	const void *kernel;
	size_t count, offset[MANY], size[MANY];
};

static struct expected kernels[16];
static unsigned kernel_count;

/* Each parameter stands where a struct's member of its type would. */
template <class... Types> static void expect(void (*kernel)(Types...), bool same_name)
{
	const size_t sizes[] = {sizeof(Types)..., 0}, alignments[] = {alignof(Types)..., 1};
	struct expected *e = &kernels[kernel_count++];
	size_t end = 0;

	e->kernel = (const void *)kernel;
	e->count = sizeof...(Types);
	for (size_t i = 0; i < e->count; i++) {
		e->offset[i] = (end + alignments[i] - 1) / alignments[i] * alignments[i];
		e->size[i] = sizes[i];
		end = e->offset[i] + e->size[i];
	}
	if (same_name)
		OK(cudaFuncGetName(&e->name, e->kernel));
}

static void expect_all()
{
	expect(plain, true);
	expect(nothing, true);
	expect(bytes, true);
	expect(numbers, true);
	expect(structs, true);
	expect(constant, true);
	expect(above_4k, true);
	expect(above_16k, true);
	expect(hidden, false);
	expect(generic<int>, true);
	expect(generic<double>, true);
	expect(many, true);
	TEST_STR(kernels[0].name, "plain");
}

template <class Handle, class Ask>
static bool check_params(const struct expected *e, Handle handle, Ask ask)
{
	bool right = true;
	size_t offset, size;

	for (size_t i = 0; i < e->count; i++) {
		offset = size = 99999;
		right &= TEST_EQ(ask(handle, i, &offset, &size), 0);
		right &= TEST_EQ(offset, e->offset[i]);
		right &= TEST_EQ(size, e->size[i]);
	}
	right &= TEST_EQ(ask(handle, e->count, &offset, &size), CUDA_ERROR_INVALID_VALUE);
	if (!right)
		printf("  of %s\n", e->name ? e->name : "hidden");
	return right;
}

static void check_program()
{
	for (unsigned i = 0; i < kernel_count; i++) {
		cudaFunction_t function;
		cudaKernel_t kernel;

		OK(cudaGetFuncBySymbol(&function, kernels[i].kernel));
		OK(cudaGetKernel(&kernel, kernels[i].kernel));
		check_params(&kernels[i], function, cuFuncGetParamInfo);
		check_params(&kernels[i], kernel, cuKernelGetParamInfo);
		check_params(&kernels[i], kernels[i].kernel, cudaFuncGetParamInfo);
	}
	cudaGetLastError();
}

static void check_module(CUmodule module)
{
	CUfunction function;

	for (unsigned i = 0; i < kernel_count; i++)
		if (kernels[i].name &&
			TEST_EQ(cuModuleGetFunction(&function, module, kernels[i].name), 0))
			check_params(&kernels[i], function, cuFuncGetParamInfo);
	TEST_EQ(cuModuleGetFunction(&function, module, "plai"), CUDA_ERROR_NOT_FOUND);
	OK(cuModuleUnload(module));
}

static void check_library(CUlibrary library)
{
	unsigned count = 0;
	CUkernel kernel;

	for (unsigned i = 0; i < kernel_count; i++)
		if (kernels[i].name &&
			TEST_EQ(cuLibraryGetKernel(&kernel, library, kernels[i].name), 0))
			check_params(&kernels[i], kernel, cuKernelGetParamInfo);
	OK(cudaLibraryGetKernelCount(&count, (cudaLibrary_t)library));
	TEST_EQ(count, kernel_count);
	OK(cuLibraryUnload(library));
}

/* Refused, or nothing is known, or the truth. */
static void check_cut(const char *path, const char *bytes, size_t size)
{
	size_t offset, param_size;
	FILE *file = fopen(path, "wb");
	CUfunction function;
	CUmodule module;

	TEST_NEED(file);
	TEST_EQ(fwrite(bytes, 1, size, file), size);
	fclose(file);
	if (cuModuleLoad(&module, path) != CUDA_SUCCESS)
		return;
	if (cuModuleGetFunction(&function, module, "plain") == CUDA_SUCCESS &&
		cuFuncGetParamInfo(function, 1, &offset, &param_size) == CUDA_SUCCESS) {
		TEST_EQ(offset, 8);
		TEST_EQ(param_size, 4);
	}
	OK(cuModuleUnload(module));
}

static void check_file(const char *path)
{
	char cut[] = "/tmp/sim_params.XXXXXX";
	int at = mkstemp(cut);
	FILE *file = fopen(path, "rb");
	CUlibrary library;
	CUmodule module;
	char *bytes;
	long size;

	TEST_NEED(file && at >= 0 && fseek(file, 0, SEEK_END) == 0);
	size = ftell(file);
	rewind(file);
	bytes = (char *)calloc(size + 1, 1);
	TEST_NEED(bytes && fread(bytes, 1, size, file) == (size_t)size);
	fclose(file);
	if (TEST_EQ(cuModuleLoad(&module, path), 0))
		check_module(module);
	if (TEST_EQ(cuModuleLoadData(&module, bytes), 0))
		check_module(module);
	if (TEST_EQ(cuLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0), 0))
		check_library(library);
	if (TEST_EQ(cudaLibraryLoadFromFile((cudaLibrary_t *)&library, path, NULL, NULL, 0, NULL,
			    NULL, 0),
		    0))
		check_library(library);
	for (long part = 0; part < size; part += 1 + size / 300)
		check_cut(cut, bytes, part);
	free(bytes);
	remove(cut);
}

/* As it is, and as nvcc wraps it. */
static void check_old()
{
	static const struct expected shape = {
		"shape", NULL, 5, {0, 2, 4, 16, 48}, {1, 2, 3, 32, 8}};
	struct {
		int magic, version;
		const void *data, *rest;
	} wrapper = {0x466243b1, 1, sim_params_old, NULL};
	CUfunction function;
	CUmodule module;

	for (int wrapped = 0; wrapped < 2; wrapped++) {
		if (wrapped)
			OK(cuModuleLoadFatBinary(&module, &wrapper));
		else
			OK(cuModuleLoadData(&module, sim_params_old));
		if (TEST_EQ(cuModuleGetFunction(&function, module, "shape"), 0))
			check_params(&shape, function, cuFuncGetParamInfo);
		OK(cuModuleGetFunction(&function, module, "nothing"));
		TEST_EQ(cuModuleGetFunction(&function, module, "other"), CUDA_ERROR_NOT_FOUND);
		OK(cuModuleUnload(module));
	}
}

static cudaGraphNode_t only_node(cudaStream_t stream, cudaGraph_t *out_graph)
{
	cudaGraphNode_t node = NULL;
	size_t count = 1;

	OK(cudaStreamEndCapture(stream, out_graph));
	OK(cudaGraphGetNodes(*out_graph, &node, &count));
	TEST_EQ(count, 1);
	return node;
}

/* What a launch is given, its graph's node has; what a buffer holds, too. */
static void check_arguments()
{
	struct cudaKernelNodeParams params;
	cudaFunction_t function;
	cudaStream_t stream;
	cudaGraph_t graph;
	large first;
	double result;
	struct {
		large a;
		char b;
		double *c;
	} packed;
	size_t size = sizeof(packed);
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
		&size, CU_LAUNCH_PARAM_END};

	memset(&first, 0x55, sizeof(first));
	OK(cudaStreamCreate(&stream));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	above_4k<<<1, 1, 0, stream>>>(first, 'x', &result);
	OK(cudaGetLastError());
	OK(cudaGraphKernelNodeGetParams(only_node(stream, &graph), &params));
	TEST_TRUE(memcmp(params.kernelParams[0], &first, sizeof(first)) == 0);
	TEST_EQ(*(char *)params.kernelParams[1], 'x');
	TEST_TRUE(*(double **)params.kernelParams[2] == &result);
	OK(cudaGraphDestroy(graph));

	packed = {first, 'y', &result + 1};
	packed.a.d[599] = 4;
	OK(cudaGetFuncBySymbol(&function, (const void *)above_4k));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, extra));
	OK(cudaGraphKernelNodeGetParams(only_node(stream, &graph), &params));
	TEST_TRUE(memcmp(params.kernelParams[0], &packed.a, sizeof(packed.a)) == 0);
	TEST_EQ(*(char *)params.kernelParams[1], 'y');
	TEST_TRUE(*(double **)params.kernelParams[2] == &result + 1);
	OK(cudaGraphDestroy(graph));
	size -= 1;
	TEST_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, extra),
		CUDA_ERROR_INVALID_VALUE);
	OK(cudaStreamDestroy(stream));
}

/* Kernels of one name in two modules keep their own parameters. */
static void check_same_name()
{
	static const char head[] = ".version 7.8\n.target sm_75\n.address_size 64\n";
	static const struct expected one = {"twin", NULL, 1, {0}, {4}};
	static const struct expected two = {"twin", NULL, 2, {0, 8}, {1, 8}};
	char text[256];
	CUfunction function, other;
	CUmodule module, second;

	snprintf(text, sizeof(text), "%s.visible .entry twin(.param .u32 a) { ret; }", head);
	OK(cuModuleLoadData(&module, text));
	snprintf(text, sizeof(text),
		"%s.visible .entry twin(.param .u8 a, .param .u64 b) { ret; }", head);
	OK(cuModuleLoadData(&second, text));
	OK(cuModuleGetFunction(&function, module, "twin"));
	OK(cuModuleGetFunction(&other, second, "twin"));
	check_params(&one, function, cuFuncGetParamInfo);
	check_params(&two, other, cuFuncGetParamInfo);
	OK(cuModuleUnload(second));
	OK(cuModuleUnload(module));
}

static void many_cpu(dim3 grid, dim3 block, size_t shared, void **args)
{
	(void)grid, (void)block, (void)shared;
	**(double **)args[39] = *(int *)args[0] + *(char *)args[1] + *(char *)args[15] +
				*(char *)args[27] + *(int *)args[38];
}

/* A CPU version is given all arguments, however many it was registered with. */
static void check_many()
{
	static const struct tfsim_kernel registered = {"many", many_cpu, {}, 0, 8, 1};
	double *result, value = 0;

	tfsim_register_kernel(&registered);
	OK(cudaMalloc((void **)&result, sizeof(*result)));
	many<<<1, 1>>>(1000, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20000, result);
	OK(cudaGetLastError());
	OK(cudaMemcpy(&value, result, sizeof(value), cudaMemcpyDeviceToHost));
	TEST_EQ(value, 21006);
	OK(cudaFree(result));
}

static void check_variables()
{
	float zeros[3] = {1, 1, 1};
	short values[4];
	int count = 0;

	OK(cudaMemcpyFromSymbol(&count, counter, sizeof(count)));
	TEST_EQ(count, 7);
	OK(cudaMemcpyFromSymbol(values, table, sizeof(values)));
	TEST_EQ(values[0], 1);
	TEST_EQ(values[2], -3);
	TEST_EQ(values[3], 4);
	OK(cudaMemcpyFromSymbol(zeros, zeroed, sizeof(zeros)));
	TEST_TRUE(zeros[0] == 0 && zeros[2] == 0);
	TEST_TRUE(managed == 2.5);
}

/* Parts of variables are written and read, and nothing behind their ends. */
static void check_symbols()
{
	const short written[2] = {-5, 6}, later[1] = {9};
	void *address = nullptr, *memory;
	short values[4] = {0}, part[2] = {0};
	float zeros[3] = {1, 1, 1};
	cudaStream_t stream;
	size_t size = 0;

	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaGetSymbolSize(&size, table));
	TEST_EQ(size, sizeof(values));
	OK(cudaGetSymbolAddress(&address, zeroed));
	OK(cudaMemset(address, 0, sizeof(zeros)));
	OK(cudaMemset(static_cast<float *>(address) + 1, 0xff, sizeof(float)));
	OK(cudaMemcpyFromSymbol(zeros, zeroed, sizeof(zeros)));
	TEST_TRUE(zeros[0] == 0 && zeros[1] != zeros[1] && zeros[2] == 0);
	OK(cudaMemcpyToSymbol(table, written, sizeof(written), sizeof(short)));
	OK(cudaMemcpyToSymbolAsync(table, later, sizeof(later), 3 * sizeof(short),
		cudaMemcpyHostToDevice, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaMemcpyFromSymbol(values, table, sizeof(values)));
	TEST_TRUE(values[0] == 1 && values[1] == -5 && values[2] == 6 && values[3] == 9);
	OK(cudaMemcpyFromSymbolAsync(part, table, sizeof(part), 2 * sizeof(short),
		cudaMemcpyDeviceToHost, stream));
	OK(cudaStreamSynchronize(stream));
	TEST_TRUE(part[0] == 6 && part[1] == 9);
	TEST_EQ(cudaMemcpyToSymbol(table, written, sizeof(written), 3 * sizeof(short)),
		cudaErrorInvalidValue);
	TEST_EQ(cudaMemcpyFromSymbol(part, table, sizeof(part), 3 * sizeof(short)),
		cudaErrorInvalidValue);
	TEST_EQ(cudaMemcpyToSymbol(
			table, written, sizeof(short), 0, cudaMemcpyDeviceToHost),
		cudaErrorInvalidMemcpyDirection);
	TEST_EQ(cudaGetSymbolAddress(&memory, &size), cudaErrorInvalidSymbol);
	(void)cudaGetLastError();
	OK(cudaStreamDestroy(stream));
}

int main(int argc, char **argv)
{
	void *memory;

	OK(cudaMalloc(&memory, 1));
	expect_all();
	check_program();
	for (int i = 1; i < argc; i++)
		check_file(argv[i]);
	check_old();
	check_same_name();
	/* Where parameters are not known there is nothing to look at. */
	TEST_NEED(!test_failures);
	check_arguments();
	check_variables();
	check_symbols();
	check_many();
	OK(cudaFree(memory));
	return test_result();
}
