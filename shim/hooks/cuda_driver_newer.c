/* SPDX-License-Identifier: MIT */
/* What drivers newer than CUDA 13.0 have, and runtimes ask them for. Older headers know nothing of
 * it: the types are then those below, and driver_abi.py reads them here. */
#include <driver_types.h>

#include "shim/driver.h"
#include "shim/notes.h"
#include "shim/streams.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cuda

#if CUDA_VERSION < 13010
typedef CUresult(CUDAAPI *PFN_cuLaunchHostFunc_v13010)(
	CUstream stream, CUhostFn function, void *data, unsigned mode);
typedef CUresult(CUDAAPI *PFN_cuLaunchHostFunc_v13010_ptsz)(
	CUstream stream, CUhostFn function, void *data, unsigned mode);
#endif
#if CUDA_VERSION < 13020
typedef CUresult(CUDAAPI *PFN_cuMemcpyWithAttributesAsync_v13020)(
	CUdeviceptr to, CUdeviceptr from, size_t bytes, CUmemcpyAttributes *with, CUstream stream);
typedef CUresult(CUDAAPI *PFN_cuMemcpyWithAttributesAsync_v13020_ptsz)(
	CUdeviceptr to, CUdeviceptr from, size_t bytes, CUmemcpyAttributes *with, CUstream stream);
#endif

TFS_TWIN_HOOKS(CUresult, cuLaunchHostFunc_v2, _ptsz,
	(CUstream stream, CUhostFn function, void *data, unsigned mode),
	(stream, function, data, mode))
{
	const CUresult status = TFS_TWIN_REAL(cuLaunchHostFunc_v2)(stream, function, data, mode);

	tfs_note_stream(&frame, status, stream, per_thread);
	return status;
}

TFS_TWIN_HOOKS(CUresult, cuMemcpyWithAttributesAsync, _ptsz,
	(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUmemcpyAttributes *with, CUstream stream),
	(to, from, bytes, with, stream))
{
	const CUresult status =
		TFS_TWIN_REAL(cuMemcpyWithAttributesAsync)(to, from, bytes, with, stream);

	if (TFS_END(&frame, status, bytes))
		tfs_note_copy(&frame, (const void *)(uintptr_t)to, (const void *)(uintptr_t)from,
			bytes, cudaMemcpyDefault, tfs_stream_id(stream, per_thread));
	return TFS_LEAVE(&frame), status;
}

#define FUNCTIONS(X)                                                                               \
	X(cuLaunchHostFunc, _v2, , 13010, host_func)                                               \
	X(cuLaunchHostFunc, _v2, _ptsz, 13010, host_func)                                          \
	X(cuMemcpyWithAttributesAsync, , , 13020, copy_async)                                      \
	X(cuMemcpyWithAttributesAsync, , _ptsz, 13020, copy_async)

FUNCTIONS(TFS_DRIVER_ROW)
