/* SPDX-License-Identifier: MIT */
/*
 * What the compiler hands to __cudaLaunchKernel for a launch: does the driver know its name? The
 * program puts itself before the runtime's function, as a preloaded library does. See fact.h.
 */
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <stdio.h>

typedef cudaError_t launch_function(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);

static bool seen;

extern "C" cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
	void **arguments, size_t shared_bytes, cudaStream_t stream)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY);
	const char *name = "";
	CUresult (*kernel_name)(const char **, CUkernel) =
		(CUresult(*)(const char **, CUkernel))dlsym(driver, "cuKernelGetName");
	CUresult (*function_name)(const char **, CUfunction) =
		(CUresult(*)(const char **, CUfunction))dlsym(driver, "cuFuncGetName");

	seen = true;
	int status = kernel_name ? (int)kernel_name(&name, (CUkernel)kernel) : -1;
	printf("fact launch-handle cuKernelGetName %s (status %d, %s)\n",
		status == 0 ? "yes" : "no", status, name);
	name = "";
	status = function_name ? (int)function_name(&name, (CUfunction)kernel) : -1;
	printf("fact launch-handle cuFuncGetName %s (status %d, %s)\n", status == 0 ? "yes" : "no",
		status, name);
	launch_function *next = (launch_function *)dlsym(RTLD_NEXT, "__cudaLaunchKernel");
	return next(kernel, grid, block, arguments, shared_bytes, stream);
}

static __global__ void nothing(int *x)
{
	if (x)
		*x = 1;
}

int main(void)
{
	int count = 0;

	if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
		printf("skipped: no CUDA device\n");
		return 77;
	}
	nothing<<<1, 1>>>(nullptr);
	printf("fact launch-handle status %d\n", (int)cudaDeviceSynchronize());
	printf("fact launch-handle __cudaLaunchKernel-is-called %s\n", seen ? "yes" : "no");
	return 0;
}
