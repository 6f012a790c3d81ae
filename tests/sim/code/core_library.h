/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CORE_LIBRARY_H
#define TFS_TESTS_SIM_CORE_LIBRARY_H

/*
 * Memory that a library (cuDNN, cuBLAS, ...) takes for itself, and what it does to the workspaces
 * it is lent. No hook sees these calls and no last error changes; CUPTI records them as calls of
 * the runtime inside the library. TFSIM_NAIVE=library takes the memory from nowhere; with
 * TFSIM_NAIVE=workspace convolutions and matrix products have no use for their workspaces.
 */

#include "tests/sim/core/core.h"

/* A block of device memory; zeroed there is none. */
struct tfsim_block {
	void *address;
	size_t size;
	uint64_t id; /* of the allocation: the address may be another's after a device reset */
};

/*
 * Device memory of the current device, 512-byte aligned, poisoned in hostile mode. Takes the time
 * of a cudaMalloc. cudaErrorMemoryAllocation when there is no room; *out_block is untouched then.
 * The caller owns it until tfsim_library_free().
 */
TFSIM_API cudaError_t tfsim_library_alloc(size_t size, struct tfsim_block *out_block);
/* As cudaFree: waits for all work of the block's device. What a reset has taken is passed over. */
TFSIM_API void tfsim_library_free(struct tfsim_block *block);

/*
 * The code of a part of a library, loaded into the current device's context when it is first used
 * there and kept until that ends. The name is the part's for the whole process.
 */
TFSIM_API cudaError_t tfsim_library_load(const char *part, size_t size);

/* In a run() function. Before a workspace is used: hostile mode fills it with NaNs. */
TFSIM_API void tfsim_workspace_enter(void *workspace, size_t size);
/* After its last use: garbage is left behind. */
TFSIM_API void tfsim_workspace_leave(void *workspace, size_t size);
/* False: algorithms keep their intermediate data elsewhere. */
TFSIM_API bool tfsim_workspace_used(void);

#endif
