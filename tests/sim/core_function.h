/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CORE_FUNCTION_H
#define TFS_TESTS_SIM_CORE_FUNCTION_H

/* Kernels by name, and where their parameters' layout comes from. */

#include "core_private.h"
#include "tfsim.h"

struct tfsim_function {
	char *name;
	uint32_t *offsets, *sizes; /* from PTX; NULL when not known */
	uint32_t param_count;
	int max_dynamic_shared;
	struct tfsim_function *next;
};

struct tfsim_module {
	struct tfsim_function **functions; /* of PTX text */
	unsigned count;
	bool listed;
};

/* The registered CPU version, or NULL. The lock is not needed. */
const struct tfsim_kernel *sim_kernel_find(const char *name);
TFSIM_API int tfsim_kernel_register(const struct tfsim_kernel *kernel);
/* Fills the module from PTX text; false without memory. */
bool sim_ptx_read(struct tfsim_module *module, const char *text);
bool sim_module_add(struct tfsim_module *module, struct tfsim_function *function);

/* The arguments of a launch; values follow. */
struct sim_launch {
	struct tfsim_function *function;
	const struct tfsim_kernel *kernel;
	dim3 grid, block;
	size_t shared_bytes;
	uint32_t param_count;
	uint32_t offset[TFSIM_MAX_PARAMS];
	void *pointers[TFSIM_MAX_PARAMS]; /* filled when somebody asks a graph node */
	_Alignas(16) unsigned char values[];
};

#endif
