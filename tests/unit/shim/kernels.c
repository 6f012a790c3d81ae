/* SPDX-License-Identifier: MIT */
/* What is known of a kernel by what the program launches it with: a function, a kernel, a symbol of
 * the program's or a handle in its place. The driver and the runtime are made up. */
#include "shim/state/kernels.h"

#include <cuda_runtime_api.h>

#include "shim/base/driver_api.h"
#include "shim/resolve/direct.h"
#include "tests/unit/trace/recording.h"

/* What the driver knows of one thing. */
struct made_up {
	const char *name;
	unsigned parameters;
	size_t bytes;
};

static struct made_up functions[4], kernels[4];
static char symbols[4];     /* in an object, this program */
static char *elsewhere;     /* symbols of code that was made at run time lie in none */
static cudaError_t last;    /* the runtime's last error */
static unsigned asked;      /* names */
static unsigned overwrites; /* of an error that nobody had read */

static struct made_up *find(struct made_up *all, const void *sought)
{
	for (unsigned i = 0; i < 4; i++)
		if (sought == &all[i])
			return &all[i];
	return NULL;
}

static CUresult name_of(struct made_up *all, const void *sought, const char **out)
{
	const struct made_up *known = find(all, sought);

	asked++;
	if (!known)
		return CUDA_ERROR_INVALID_HANDLE;
	*out = known->name;
	return CUDA_SUCCESS;
}

static CUresult parameter_of(
	struct made_up *all, const void *sought, size_t index, size_t *offset, size_t *bytes)
{
	const struct made_up *known = find(all, sought);

	if (!known || index >= known->parameters)
		return CUDA_ERROR_INVALID_VALUE;
	*offset = 100 + 8 * index;
	*bytes = known->bytes;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI function_name(const char **out, CUfunction function)
{
	return name_of(functions, function, out);
}

static CUresult CUDAAPI kernel_name(const char **out, CUkernel kernel)
{
	return name_of(kernels, kernel, out);
}

static CUresult CUDAAPI function_parameter(
	CUfunction function, size_t index, size_t *offset, size_t *bytes)
{
	return parameter_of(functions, function, index, offset, bytes);
}

static CUresult CUDAAPI kernel_parameter(
	CUkernel kernel, size_t index, size_t *offset, size_t *bytes)
{
	return parameter_of(kernels, kernel, index, offset, bytes);
}

static cudaError_t CUDARTAPI by_symbol(cudaFunction_t *out, const void *symbol)
{
	for (unsigned i = 0; i < 4; i++)
		if (symbol == &symbols[i] || symbol == &elsewhere[i]) {
			*out = (cudaFunction_t)(void *)&functions[i];
			return cudaSuccess;
		}
	overwrites += last != cudaSuccess;
	last = cudaErrorInvalidDeviceFunction;
	return last;
}

static cudaError_t CUDARTAPI peek(void)
{
	return last;
}

static cudaError_t CUDARTAPI take(void)
{
	const cudaError_t error = last;

	last = cudaSuccess;
	return error;
}

static void make_up_runtime(void)
{
	tfs_direct_known[TFS_DIRECT_cudaGetFuncBySymbol] = (void *)by_symbol;
	tfs_direct_known[TFS_DIRECT_cudaPeekAtLastError] = (void *)peek;
	tfs_direct_known[TFS_DIRECT_cudaGetLastError] = (void *)take;
}

static void make_up_driver(void)
{
	tfs_direct_known[TFS_DIRECT_cuFuncGetName] = (void *)function_name;
	tfs_direct_known[TFS_DIRECT_cuFuncGetParamInfo] = (void *)function_parameter;
	tfs_direct_known[TFS_DIRECT_cuKernelGetName] = (void *)kernel_name;
	tfs_direct_known[TFS_DIRECT_cuKernelGetParamInfo] = (void *)kernel_parameter;
}

static bool is_named(const struct tfs_kernel *kernel, const char *name)
{
	return kernel->name != 0 && kernel->name == tfs_recorder_kernel(name);
}

/* A driver that tells nothing: names are those by which the program asked for functions. */
static void test_old_driver(void)
{
	const struct tfs_kernel *kernel;

	tfs_kernel_named(&functions[3], "_Z4axpyPKfPffi", TFS_KERNEL_FUNCTION);
	kernel = tfs_kernel_find(&functions[3], TFS_KERNEL_FUNCTION);
	TEST_TRUE(is_named(kernel, "_Z4axpyPKfPffi"));
	TEST_EQ(kernel->constant, 1);
	TEST_EQ(kernel->parameters, 4);
	TEST_EQ(kernel->sizes[1], 8);
	TEST_EQ(kernel->offsets[1], 8);
	TEST_EQ(kernel->sizes[2], 4);
	TEST_EQ(kernel->offsets[3], 20);
	/* The first name stays; without any, nothing is said. */
	tfs_kernel_named(&functions[3], "other", TFS_KERNEL_FUNCTION);
	TEST_TRUE(tfs_kernel_find(&functions[3], TFS_KERNEL_FUNCTION) == kernel);
	TEST_TRUE(is_named(kernel, "_Z4axpyPKfPffi"));
	tfs_kernel_named(NULL, "other", TFS_KERNEL_FUNCTION);
	tfs_kernel_named(&functions[2], NULL, TFS_KERNEL_FUNCTION);
	TEST_EQ(tfs_kernel_find(NULL, TFS_KERNEL_FUNCTION)->name, 0);
	/* What a symbol is nobody can tell yet: it is asked again later. */
	TEST_EQ(tfs_kernel_find(&symbols[0], TFS_KERNEL_SYMBOL)->name, 0);
}

static void test_handles(void)
{
	const struct tfs_kernel *kernel;

	functions[0] = (struct made_up){"first", 2, 8};
	kernels[0] = (struct made_up){"second", 3, 4};
	kernels[1] = (struct made_up){"third", 100, 70000};
	kernel = tfs_kernel_find(&functions[0], TFS_KERNEL_FUNCTION);
	TEST_TRUE(is_named(kernel, "first"));
	TEST_EQ(kernel->parameters, 2);
	TEST_EQ(kernel->offsets[1], 108);
	TEST_EQ(kernel->sizes[1], 8);
	kernel = tfs_kernel_find(&kernels[0], TFS_KERNEL_HANDLE);
	TEST_TRUE(is_named(kernel, "second"));
	TEST_EQ(kernel->parameters, 3);
	TEST_EQ(kernel->sizes[2], 4);
	/* A kernel that is launched as a function; with more than is kept. */
	kernel = tfs_kernel_find(&kernels[1], TFS_KERNEL_FUNCTION);
	TEST_TRUE(is_named(kernel, "third"));
	TEST_EQ(kernel->parameters, TFS_KERNEL_PARAMETERS);
	TEST_EQ(kernel->sizes[0], UINT16_MAX);
	TEST_EQ(kernel->offsets[15], 220);
	/* Asked once. */
	asked = 0;
	TEST_TRUE(tfs_kernel_find(&kernels[1], TFS_KERNEL_FUNCTION) == kernel);
	TEST_TRUE(tfs_kernel_ask(&kernels[1], TFS_KERNEL_FUNCTION) == kernel);
	TEST_EQ(asked, 0);
}

static void test_symbols(void)
{
	functions[1] = (struct made_up){"in the program", 1, 8};
	functions[2] = (struct made_up){"made at run time", 1, 8};
	/* Asked again, now that there is somebody to ask. */
	TEST_TRUE(is_named(tfs_kernel_find(&symbols[0], TFS_KERNEL_SYMBOL), "first"));
	TEST_TRUE(is_named(tfs_kernel_find(&symbols[1], TFS_KERNEL_SYMBOL), "in the program"));
	TEST_TRUE(is_named(tfs_kernel_find(&elsewhere[2], TFS_KERNEL_SYMBOL), "made at run time"));
	TEST_EQ(last, cudaSuccess);
}

/* Handles lie in no object, unlike what is made up here: these stand for kernels by their number.
 */
static CUkernel by_number(CUkernel handle)
{
	const uintptr_t number = (uintptr_t)handle >> 4;

	return number < 4 ? (CUkernel)(void *)&kernels[number] : NULL;
}

static CUresult CUDAAPI handle_name(const char **out, CUkernel kernel)
{
	return kernel_name(out, by_number(kernel));
}

static CUresult CUDAAPI handle_parameter(
	CUkernel kernel, size_t index, size_t *offset, size_t *bytes)
{
	return kernel_parameter(by_number(kernel), index, offset, bytes);
}

/* The runtime refuses a handle in a symbol's place. */
static void test_refused(void)
{
	const void *const handle = (void *)0x20, *const other = (void *)0x30;
	const struct tfs_kernel *kernel;

	kernels[2] = (struct made_up){"a handle", 2, 2};
	kernels[3] = (struct made_up){"another handle", 2, 2};
	tfs_direct_known[TFS_DIRECT_cuKernelGetName] = (void *)handle_name;
	tfs_direct_known[TFS_DIRECT_cuKernelGetParamInfo] = (void *)handle_parameter;
	kernel = tfs_kernel_find(handle, TFS_KERNEL_SYMBOL);
	TEST_TRUE(is_named(kernel, "a handle"));
	TEST_EQ(kernel->parameters, 2);
	TEST_EQ(last, cudaSuccess);
	/* With an error that the program has yet to read it is asked later. */
	last = cudaErrorMemoryAllocation;
	TEST_EQ(tfs_kernel_find(other, TFS_KERNEL_SYMBOL)->name, 0);
	TEST_EQ(last, cudaErrorMemoryAllocation);
	last = cudaSuccess;
	TEST_TRUE(is_named(tfs_kernel_find(other, TFS_KERNEL_SYMBOL), "another handle"));
	TEST_EQ(last, cudaSuccess);
	TEST_EQ(overwrites, 0);
}

/* The same handle may mean another kernel when code was unloaded. */
static void test_unloaded(void)
{
	TEST_TRUE(is_named(tfs_kernel_find(&functions[0], TFS_KERNEL_FUNCTION), "first"));
	functions[0].name = "loaded later";
	TEST_TRUE(is_named(tfs_kernel_find(&functions[0], TFS_KERNEL_FUNCTION), "first"));
	tfs_kernels_unloaded();
	TEST_TRUE(is_named(tfs_kernel_find(&functions[0], TFS_KERNEL_FUNCTION), "loaded later"));
	TEST_EQ(tfs_kernel_find(NULL, TFS_KERNEL_FUNCTION)->key, 0);
}

/* What the driver names needs no other name. */
static void test_named_by_driver(void)
{
	functions[2].name = "by the driver";
	tfs_kernel_named(&functions[2], "by the program", TFS_KERNEL_FUNCTION);
	TEST_TRUE(is_named(tfs_kernel_find(&functions[2], TFS_KERNEL_FUNCTION), "by the driver"));
}

/* More kernels than there are places: of the last ones nothing is known, all others are found. */
static void test_many(void)
{
	static const struct tfs_kernel *found[2 * TFS_KERNEL_SLOTS];
	uint32_t known = 0;

	for (uintptr_t i = 0; i < 2 * TFS_KERNEL_SLOTS; i++) {
		found[i] = tfs_kernel_find((void *)(0x1000 + 16 * i), TFS_KERNEL_FUNCTION);
		known += found[i]->key != 0;
	}
	TEST_IN(known, TFS_KERNEL_SLOTS - 64, TFS_KERNEL_SLOTS);
	for (uintptr_t i = 0; i < 2 * TFS_KERNEL_SLOTS; i++)
		TEST_TRUE(tfs_kernel_find((void *)(0x1000 + 16 * i), TFS_KERNEL_FUNCTION) ==
			  found[i]);
	TEST_TRUE(is_named(tfs_kernel_find(&functions[0], TFS_KERNEL_FUNCTION), "loaded later"));
}

int main(void)
{
	elsewhere = malloc(4);
	TEST_NEED(elsewhere);
	recording_start();
	tfs_recorder_named_thread("test");
	test_old_driver();
	make_up_runtime();
	make_up_driver();
	test_handles();
	test_symbols();
	test_refused();
	test_unloaded();
	test_named_by_driver();
	test_many();
	free(elsewhere);
	recording_end(recording_read());
	return test_result();
}
