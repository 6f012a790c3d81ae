/* SPDX-License-Identifier: MIT */
#include "shim/hooks/memory.h"

#include <cuda_runtime_api.h>
#include <string.h>

#include "shim/base/driver_api.h"
#include "shim/hooks/take.h"
#include "shim/resolve/direct.h"

_Static_assert((int)TFS_OUT_OF_MEMORY == (int)cudaErrorMemoryAllocation &&
		       (int)TFS_OUT_OF_MEMORY == (int)CUDA_ERROR_OUT_OF_MEMORY,
	"one number for both");

uint32_t tfs_cudart_device(void)
{
	int device = 0;

	if (!tfs_lookup_steady(TFS_LIBRARY_cudart))
		return 0;
	const __typeof__(&cudaGetDevice) get = TFS_DIRECT(cudaGetDevice);
	/* Cannot fail after a call that succeeded, so the program's last error stays its own. */
	return get && get(&device) == cudaSuccess ? (uint32_t)device : 0;
}

uint32_t tfs_cuda_device(void)
{
	const __typeof__(&cuCtxGetDevice) get = TFS_DIRECT(cuCtxGetDevice);
	CUdevice device = 0;

	return get && get(&device) == CUDA_SUCCESS ? (uint32_t)device : 0;
}

bool tfs_take_alloc(const struct tfs_frame *frame, uint64_t bytes, bool driver, void *out_address,
	uint32_t *out_status)
{
	if (!tfs_is_wanted(frame, TFS_OP_ALLOC) || bytes == 0)
		return false;
	struct tfs_op op = {.kind = TFS_OP_ALLOC,
		.driver = driver,
		.memory = {.bytes = bytes, .device = tfs_current_device(driver)}};
	if (!tfs_take(frame, &op))
		return false;
	*out_status = op.status;
	if (op.status == 0)
		memcpy(out_address, &op.memory.address, sizeof(op.memory.address));
	return true;
}

bool tfs_take_free(const struct tfs_frame *frame, void *address, const struct tfs_range *was,
	bool driver, uint32_t *out_status)
{
	if (!tfs_is_wanted(frame, TFS_OP_FREE) || !address)
		return false;
	struct tfs_op op = {.kind = TFS_OP_FREE,
		.driver = driver,
		.memory = {.address = address,
			.bytes = was->bytes,
			.kind = was->kind,
			.flags = was->flags,
			.owner = was->device,
			.device = tfs_current_device(driver)}};
	if (!tfs_take(frame, &op))
		return false;
	*out_status = op.status;
	return true;
}
