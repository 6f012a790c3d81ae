/* SPDX-License-Identifier: MIT */
/* With an argument: launches a kernel without a CPU version and calls what is not supported. */
#include "tests/promises/sim_ptx.h"

int main(int argc, char **argv)
{
	cudaIpcMemHandle_t handle;
	cudaLibrary_t library;
	cudaKernel_t kernel;
	void *memory, *args[2];
	char block[24] = "";
	float number = 0;

	(void)argv;
	if (no_device())
		return test_skip("no device");
	args[0] = block;
	args[1] = &number;
	OK(cudaMalloc(&memory, 64));
	library = sim_ptx_load();
	OK(cudaLibraryGetKernel(&kernel, library, "unknown"));
	for (int i = 0; argc > 1 && i < 3; i++)
		OK(cudaLaunchKernel(kernel, (dim3){1, 1, 1}, (dim3){32, 1, 1}, args, 0, NULL));
	OK(cudaDeviceSynchronize());
	for (int i = 0; argc > 1 && i < 2; i++)
		(void)cudaIpcGetMemHandle(&handle, memory);
	(void)cudaGetLastError();
	return test_result();
}
