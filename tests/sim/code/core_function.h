/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CORE_FUNCTION_H
#define TFS_TESTS_SIM_CORE_FUNCTION_H

/* Kernels by name, and where their parameters' layout comes from. */

#include "tests/sim/code/core_image.h"
#include "tests/sim/core/core_private.h"
#include "tests/sim/tfsim.h"

struct tfsim_function {
	char *name;
	_Atomic(const struct sim_params *) params; /* never changed once there; NULL: not known */
	int max_dynamic_shared;
	struct tfsim_function *next;
};

/* The registered CPU version, or NULL. The lock is not needed. */
const struct tfsim_kernel *sim_kernel_find(const char *name);
TFSIM_API int tfsim_kernel_register(const struct tfsim_kernel *kernel);
TFSIM_API void tfsim_kernel_shares(const struct tfsim_kernel *kernel, uint32_t bytes);
/*
 * The function of this name and these parameters, which are taken; there can be several of one name
 * in different modules. NULL without memory.
 */
struct tfsim_function *sim_function_laid_out(const char *name, struct sim_params *params);

/* A launch with its own copy of the arguments; behind them stand pointers to each. */
struct sim_launch {
	struct tfsim_function *function;
	const struct tfsim_kernel *kernel;
	const struct sim_params *params; /* NULL: not known, and nothing copied */
	dim3 grid, block;
	size_t shared_bytes;
	/* An "extra" buffer has the same layout. */
	_Alignas(16) unsigned char values[];
};

#endif
