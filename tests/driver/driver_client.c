/* SPDX-License-Identifier: MIT */
/*
 * A small training loop, built twice: with the shared runtime, and with one linked in, which only
 * the driver layer sees (driver_client_runtime.c). Both must get the same findings at the same
 * lines. Prints a sum that depends on every step.
 */
#include <cuda_runtime_api.h>

#include "tests/promises/sim_ptx.h"

#define STEPS 300
#define COUNT (256 << 10)

cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);

static cudaKernel_t add_one;

static __attribute__((noinline)) void upload(int *device, const int *host)
{
	OK(cudaMemcpy(device, host, COUNT * sizeof(int), cudaMemcpyHostToDevice));
}

static __attribute__((noinline)) void add(int *x, int count, int step)
{
	void *arguments[] = {&x, &count, &step};

	OK(__cudaLaunchKernel(
		add_one, (dim3){COUNT / 256, 1, 1}, (dim3){256, 1, 1}, arguments, 0, NULL));
}

/* As a plugin it is called from a program that has no runtime. */
#ifdef PLUGIN
__attribute__((visibility("default"))) int train(void);
#define main train
#endif

int main(void)
{
	static int batch[COUNT], loss[64];
	int *images, *weights, *gradient;
	long long sum = 0;
	cudaLibrary_t library;

	if (cudaFree(NULL) != cudaSuccess)
		return test_skip("no device");
	/* The kernels' CPU versions are for all to find; a GPU has no use for them. */
	dlopen("libtfsim.so.0", RTLD_NOW | RTLD_GLOBAL);
	library = sim_ptx_load();
	OK(cudaLibraryGetKernel(&add_one, library, "add_one"));
	OK(cudaMalloc((void **)&images, sizeof(batch)));
	OK(cudaMalloc((void **)&weights, sizeof(batch)));
	OK(cudaMalloc((void **)&gradient, sizeof(batch)));
	OK(cudaMemset(weights, 0, sizeof(batch)));
	for (int step = 0; step < STEPS; step++) {
		for (int i = 0; i < COUNT; i++)
			batch[i] = i ^ step;
		upload(images, batch);
		OK(cudaMemset(gradient, 0, sizeof(batch)));
		add(images, COUNT, 1);
		add(weights, COUNT, 0);
		add(gradient, COUNT, step);
		add(weights, COUNT, 2);
		OK(cudaMemcpy(loss, images, sizeof(loss), cudaMemcpyDeviceToHost));
		for (int i = 0; i < 64; i++)
			sum = sum * 31 % 1000003 + loss[i];
		OK(cudaDeviceSynchronize());
	}
	OK(cudaMemcpy(loss, weights, sizeof(loss), cudaMemcpyDeviceToHost));
	printf("sum %lld, weight %d\n", sum, loss[5]);
	OK(cudaFree(images));
	OK(cudaFree(weights));
	OK(cudaFree(gradient));
	return test_result();
}
