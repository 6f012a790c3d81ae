/* SPDX-License-Identifier: MIT */
/* Asks the simulated device for more than it has, for sim_reach.sh: calls that are not supported,
 * more kernels without a CPU version than the line at the end of the run has room for, and a
 * function that no library has. Ends with status 3. */
#include "tests/promises/sim_ptx.h"

enum { KERNELS = 17 };

extern int cusolverDnNowhere(void) __attribute__((weak));

static cudaLibrary_t load(void)
{
	char text[2000] = ".version 7.0\n.target sm_75\n.address_size 64\n";
	size_t used = strlen(text);
	cudaLibrary_t library = NULL;

	for (int i = 1; i <= KERNELS; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
			".visible .entry k%02d()\n{\n\tret;\n}\n", i);
	OK(cudaLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
	return library;
}

int main(void)
{
	struct cudaChannelFormatDesc format = {32, 0, 0, 0, cudaChannelFormatKindFloat};
	cudaIpcMemHandle_t handle;
	cudaLibrary_t library;
	cudaKernel_t kernel;
	cudaArray_t array;
	void *memory;
	char name[8];

	if (no_device())
		return test_skip("no device");
	TEST_TRUE(!cusolverDnNowhere);
	OK(cudaMalloc(&memory, 64));
	TEST_EQ(cudaMallocArray(&array, &format, 16, 16, 0), cudaErrorNotSupported);
	for (int i = 0; i < 3; i++)
		TEST_EQ(cudaIpcGetMemHandle(&handle, memory), cudaErrorNotSupported);
	library = load();
	for (int i = 1; i <= KERNELS; i++) {
		snprintf(name, sizeof(name), "k%02d", i);
		OK(cudaLibraryGetKernel(&kernel, library, name));
		for (int n = 0; n < i; n++)
			OK(cudaLaunchKernel(
				kernel, (dim3){1, 1, 1}, (dim3){32, 1, 1}, NULL, 0, NULL));
	}
	OK(cudaDeviceSynchronize());
	return test_failures ? test_result() : 3;
}
