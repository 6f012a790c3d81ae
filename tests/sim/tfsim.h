/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_TFSIM_H
#define TFS_TESTS_SIM_TFSIM_H

/*
 * For programs with kernels of their own (.cu, or PTX text): gives the simulated GPU a CPU version
 * of a kernel, so that launches compute. On a real GPU the calls below find nothing and do
 * nothing, so the same binary runs on either. Without a CPU version a launch is skipped: it takes
 * modelled time, writes nothing, and is counted in the line at the end of the run.
 *
 *	static void scale_cpu(dim3 grid, dim3 block, size_t shared, void **args)
 *	{
 *		float *x = *(float **)args[0];
 *		int n = *(int *)args[1];
 *		...
 *	}
 *	static const struct tfsim_kernel scale = {
 *		"scale", scale_cpu, { sizeof(float *), sizeof(int) }, 2, 8, 1
 *	};
 *	tfsim_register_kernel(&scale);		(at the start of main)
 */

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#define TFSIM_MAX_PARAMS 32

struct tfsim_kernel {
	const char
		*name; /* as written (a function at file scope or an extern "C" one), or mangled */
	/* Computes the whole grid; args[i] points to the i-th argument's value. */
	void (*cpu)(dim3 grid, dim3 block, size_t shared_bytes, void **args);
	uint32_t param_sizes[TFSIM_MAX_PARAMS];
	uint32_t param_count;
	double bytes_per_thread, flops_per_thread; /* for the modelled duration */
};

/* The struct must live as long as the process. Returns 1 on the simulated GPU, 0 elsewhere. */
static inline int tfsim_register_kernel(const struct tfsim_kernel *kernel)
{
	int (*add)(const struct tfsim_kernel *) =
		(int (*)(const struct tfsim_kernel *))dlsym(RTLD_DEFAULT, "tfsim_kernel_register");

	return add ? add(kernel) : 0;
}

/* What a registered kernel declares of memory that the threads of a block share, in bytes. */
static inline void tfsim_kernel_declares(const struct tfsim_kernel *kernel, uint32_t declared)
{
	void (*declares)(const struct tfsim_kernel *, uint32_t) = (void (*)(
		const struct tfsim_kernel *, uint32_t))dlsym(RTLD_DEFAULT, "tfsim_kernel_shares");

	if (declares)
		declares(kernel, declared);
}

/* From a CPU version: behaves like a kernel that failed (cudaErrorIllegalAddress, ...). */
static inline void tfsim_kernel_fault(int error)
{
	void (*fault)(int) = (void (*)(int))dlsym(RTLD_DEFAULT, "tfsim_fault");

	if (fault)
		fault(error);
}

#endif
