/* SPDX-License-Identifier: MIT */
/* The ends of contexts, with which their memory and all that was made in them goes. */
#include "shim/hooks/cuda.h"
#include "shim/rewrites/memory/blocks.h"
#include "shim/rewrites/memory/contexts.h"
#include "shim/rewrites/memory/reserves.h"
#include "shim/rewrites/rewrite.h"
#include "shim/state/memory.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cuda

TFS_HOOK(CUresult, cuCtxDestroy_v2, (CUcontext context))
{
	struct tfs_frame frame = TFS_ENTER(cuCtxDestroy_v2);
	struct tfs_blocks_end end = {0};

	if (context)
		end = tfs_blocks_ending(0, context);
	const CUresult status = TFS_REAL(cuCtxDestroy_v2)(context);
	tfs_blocks_ended(&end, status == CUDA_SUCCESS);
	tfs_hook_plain(&frame, status);
	return status;
}

static void forget(const struct tfs_frame *frame, CUdevice device)
{
	if (!frame->thread)
		return;
	tfs_memory_reset((uint32_t)device);
	tfs_rewrite_tell(&(struct tfs_op){.kind = TFS_OP_RESET, .device = (uint32_t)device});
}

/* Runtimes to this day ask for the older ones. */
#define RESETS(name)                                                                               \
	TFS_HOOK(CUresult, name, (CUdevice device))                                                \
	{                                                                                          \
		struct tfs_frame frame = TFS_ENTER(name);                                          \
                                                                                                   \
		const struct tfs_blocks_end end = tfs_blocks_ending((uint32_t)device, NULL);       \
		tfs_reserves_drop(true, (uint32_t)device);                                         \
		const CUresult status = TFS_REAL(name)(device);                                    \
		tfs_blocks_ended(&end, status == CUDA_SUCCESS);                                    \
		if (status == CUDA_SUCCESS)                                                        \
			forget(&frame, device);                                                    \
		tfs_hook_plain(&frame, status);                                                    \
		return status;                                                                     \
	}

RESETS(cuDevicePrimaryCtxReset)
RESETS(cuDevicePrimaryCtxReset_v2)

/* Only the last one ends it. */
#define RELEASES(name)                                                                             \
	TFS_HOOK(CUresult, name, (CUdevice device))                                                \
	{                                                                                          \
		struct tfs_frame frame = TFS_ENTER(name);                                          \
                                                                                                   \
		const struct tfs_blocks_end end = tfs_blocks_ending((uint32_t)device, NULL);       \
		tfs_reserves_drop(true, (uint32_t)device);                                         \
		const CUresult status = TFS_REAL(name)(device);                                    \
		const bool ended =                                                                 \
			status == CUDA_SUCCESS && !tfs_context_is_active((uint32_t)device);        \
		tfs_blocks_ended(&end, ended);                                                     \
		if (ended)                                                                         \
			forget(&frame, device);                                                    \
		tfs_hook_plain(&frame, status);                                                    \
		return status;                                                                     \
	}

RELEASES(cuDevicePrimaryCtxRelease)
RELEASES(cuDevicePrimaryCtxRelease_v2)

#define FUNCTIONS(X)                                                                               \
	X(cuCtxDestroy, _v2, , 4000, other)                                                        \
	X(cuDevicePrimaryCtxReset, , , 7000, reset)                                                \
	X(cuDevicePrimaryCtxReset, _v2, , 11000, reset)                                            \
	X(cuDevicePrimaryCtxRelease, , , 7000, other)                                              \
	X(cuDevicePrimaryCtxRelease, _v2, , 11000, other)

FUNCTIONS(TFS_DRIVER_ROW)
