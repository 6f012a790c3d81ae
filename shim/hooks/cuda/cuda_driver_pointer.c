/* SPDX-License-Identifier: MIT */
/* What the driver says about an address, and whom memory is shared with. */
#include "shim/hooks/cuda.h"
#include "shim/rewrites/memory/blocks.h"
#include "shim/state/memory.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cuda

static void given(CUdeviceptr address)
{
	tfs_blocks_given((void *)(uintptr_t)address, NULL);
}

TFS_HOOK(CUresult, cuPointerGetAttribute,
	(void *data, CUpointer_attribute attribute, CUdeviceptr address))
{
	struct tfs_frame frame = TFS_ENTER(cuPointerGetAttribute);

	given(address);
	const CUresult status = TFS_REAL(cuPointerGetAttribute)(data, attribute, address);

	if (attribute == CU_POINTER_ATTRIBUTE_P2P_TOKENS)
		tfs_memory_mark(address, TFS_RANGE_SHARED);
	tfs_hook_plain(&frame, status);
	return status;
}

TFS_HOOK(CUresult, cuPointerGetAttributes,
	(unsigned count, CUpointer_attribute *attributes, void **data, CUdeviceptr address))
{
	struct tfs_frame frame = TFS_ENTER(cuPointerGetAttributes);

	given(address);
	const CUresult status = TFS_REAL(cuPointerGetAttributes)(count, attributes, data, address);

	tfs_hook_plain(&frame, status);
	return status;
}

/* Set for what network cards are to read and write. */
TFS_HOOK(CUresult, cuPointerSetAttribute,
	(const void *value, CUpointer_attribute attribute, CUdeviceptr address))
{
	struct tfs_frame frame = TFS_ENTER(cuPointerSetAttribute);

	given(address);
	const CUresult status = TFS_REAL(cuPointerSetAttribute)(value, attribute, address);

	tfs_memory_mark(address, TFS_RANGE_SHARED);
	tfs_hook_plain(&frame, status);
	return status;
}

TFS_HOOK(
	CUresult, cuMemGetAddressRange_v2, (CUdeviceptr * base, size_t *bytes, CUdeviceptr address))
{
	struct tfs_frame frame = TFS_ENTER(cuMemGetAddressRange_v2);

	given(address);
	const CUresult status = TFS_REAL(cuMemGetAddressRange_v2)(base, bytes, address);

	tfs_hook_plain(&frame, status);
	return status;
}

TFS_HOOK(CUresult, cuMemGetHandleForAddressRange,
	(void *handle, CUdeviceptr address, size_t bytes, CUmemRangeHandleType type,
		unsigned long long flags))
{
	struct tfs_frame frame = TFS_ENTER(cuMemGetHandleForAddressRange);

	given(address);
	const CUresult status =
		TFS_REAL(cuMemGetHandleForAddressRange)(handle, address, bytes, type, flags);

	tfs_memory_mark(address, TFS_RANGE_SHARED);
	tfs_hook_plain(&frame, status);
	return status;
}

TFS_HOOK(CUresult, cuIpcGetMemHandle, (CUipcMemHandle * handle, CUdeviceptr address))
{
	struct tfs_frame frame = TFS_ENTER(cuIpcGetMemHandle);

	given(address);
	const CUresult status = TFS_REAL(cuIpcGetMemHandle)(handle, address);

	tfs_memory_mark(address, TFS_RANGE_SHARED);
	tfs_hook_plain(&frame, status);
	return status;
}

TFS_HOOK(CUresult, cuCtxEnablePeerAccess, (CUcontext peer, unsigned flags))
{
	struct tfs_frame frame = TFS_ENTER(cuCtxEnablePeerAccess);
	const CUresult status = TFS_REAL(cuCtxEnablePeerAccess)(peer, flags);

	tfs_memory_peers_enabled();
	tfs_hook_plain(&frame, status);
	return status;
}

TFS_HOOK(CUresult, cuImportExternalSemaphore,
	(CUexternalSemaphore * out, const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *like))
{
	struct tfs_frame frame = TFS_ENTER(cuImportExternalSemaphore);
	const CUresult status = TFS_REAL(cuImportExternalSemaphore)(out, like);

	tfs_memory_signals_made();
	tfs_hook_plain(&frame, status);
	return status;
}

#define FUNCTIONS(X)                                                                               \
	X(cuPointerGetAttribute, , , 4000, other)                                                  \
	X(cuPointerGetAttributes, , , 7000, other)                                                 \
	X(cuPointerSetAttribute, , , 6000, other)                                                  \
	X(cuMemGetAddressRange, _v2, , 3020, other)                                                \
	X(cuMemGetHandleForAddressRange, , , 11070, other)                                         \
	X(cuIpcGetMemHandle, , , 4010, other)                                                      \
	X(cuCtxEnablePeerAccess, , , 4000, other)                                                  \
	X(cuImportExternalSemaphore, , , 10000, other)

FUNCTIONS(TFS_DRIVER_ROW)
