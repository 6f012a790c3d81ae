/* SPDX-License-Identifier: MIT */
#include "reports/import/making/families.h"

#include <fnmatch.h>
#include <stddef.h>

/* The first that matches counts. */
static const struct {
	const char *pattern;
	enum tfs_family family;
} rows[] = {
	{"cudaLaunchHostFunc*", TFS_FAMILY_host_func},
	{"cuLaunchHostFunc*", TFS_FAMILY_host_func},
	{"cudaLaunch*", TFS_FAMILY_launch},
	{"cuLaunch*", TFS_FAMILY_launch},
	{"cudaMemcpy*Async*", TFS_FAMILY_copy_async},
	{"cuMemcpy*Async*", TFS_FAMILY_copy_async},
	{"cudaMemcpy*", TFS_FAMILY_copy},
	{"cuMemcpy*", TFS_FAMILY_copy},
	{"cudaMemset*Async*", TFS_FAMILY_set_async},
	{"cuMemset*Async*", TFS_FAMILY_set_async},
	{"cudaMemset*", TFS_FAMILY_set},
	{"cuMemset*", TFS_FAMILY_set},
	{"cudaDeviceSynchronize*", TFS_FAMILY_device_sync},
	{"cuCtxSynchronize*", TFS_FAMILY_device_sync},
	{"cudaStreamSynchronize*", TFS_FAMILY_stream_sync},
	{"cuStreamSynchronize*", TFS_FAMILY_stream_sync},
	{"cudaEventSynchronize*", TFS_FAMILY_event_sync},
	{"cuEventSynchronize*", TFS_FAMILY_event_sync},
	{"cu*EventQuery*", TFS_FAMILY_query},
	{"cu*StreamQuery*", TFS_FAMILY_query},
	{"cu*EventElapsedTime*", TFS_FAMILY_elapsed},
	{"cu*EventRecord*", TFS_FAMILY_event_record},
	{"cu*StreamWaitEvent*", TFS_FAMILY_stream_wait},
	{"cu*StreamCreate*", TFS_FAMILY_stream_create},
	{"cu*StreamDestroy*", TFS_FAMILY_stream_destroy},
	{"cu*EventCreate*", TFS_FAMILY_event_create},
	{"cu*EventDestroy*", TFS_FAMILY_event_destroy},
	{"cudaMallocAsync*", TFS_FAMILY_alloc_async},
	{"cudaMallocFromPoolAsync*", TFS_FAMILY_alloc_async},
	{"cuMemAlloc*Async*", TFS_FAMILY_alloc_async},
	{"cudaFreeAsync*", TFS_FAMILY_free_async},
	{"cuMemFreeAsync*", TFS_FAMILY_free_async},
	{"cudaMallocHost*", TFS_FAMILY_host_alloc},
	{"cudaHostAlloc*", TFS_FAMILY_host_alloc},
	{"cuMemAllocHost*", TFS_FAMILY_host_alloc},
	{"cuMemHostAlloc*", TFS_FAMILY_host_alloc},
	{"cudaFreeHost*", TFS_FAMILY_host_free},
	{"cuMemFreeHost*", TFS_FAMILY_host_free},
	{"cudaHostRegister*", TFS_FAMILY_host_register},
	{"cuMemHostRegister*", TFS_FAMILY_host_register},
	{"cudaHostUnregister*", TFS_FAMILY_host_unregister},
	{"cuMemHostUnregister*", TFS_FAMILY_host_unregister},
	{"cudaMallocArray*", TFS_FAMILY_other},
	{"cudaMalloc*", TFS_FAMILY_alloc},
	{"cuMemAlloc*", TFS_FAMILY_alloc},
	{"cudaFreeArray*", TFS_FAMILY_other},
	{"cudaFree*", TFS_FAMILY_free},
	{"cuMemFree*", TFS_FAMILY_free},
	{"cudaGraphLaunch*", TFS_FAMILY_graph_launch},
	{"cuGraphLaunch*", TFS_FAMILY_graph_launch},
	{"cu*GraphInstantiate*", TFS_FAMILY_graph_instantiate},
	{"cu*GraphExecUpdate*", TFS_FAMILY_graph_update},
	{"cu*Graph*", TFS_FAMILY_graph_other},
	{"cu*StreamBeginCapture*", TFS_FAMILY_capture},
	{"cu*StreamEndCapture*", TFS_FAMILY_capture_end},
	{"cuModuleLoad*", TFS_FAMILY_module},
	{"cuLibraryLoad*", TFS_FAMILY_module},
	{"cudaLibraryLoad*", TFS_FAMILY_module},
	{"cudaGetDeviceProperties*", TFS_FAMILY_constant},
	{"cudaDeviceGetAttribute*", TFS_FAMILY_constant},
	{"cudaDriverGetVersion*", TFS_FAMILY_constant},
	{"cudaRuntimeGetVersion*", TFS_FAMILY_constant},
	{"cudaDeviceCanAccessPeer*", TFS_FAMILY_property},
	{"cudaFuncGetAttributes*", TFS_FAMILY_property},
	{"cudaOccupancy*", TFS_FAMILY_property},
	{"cudaMemGetInfo*", TFS_FAMILY_property},
	{"cudaDeviceReset*", TFS_FAMILY_reset},
};

enum tfs_family tfs_family_of(const char *name)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (!fnmatch(rows[i].pattern, name, 0))
			return rows[i].family;
	return TFS_FAMILY_other;
}

enum tfs_library tfs_library_of(const char *name)
{
	return !fnmatch("cuda*", name, 0) ? TFS_LIBRARY_cudart : TFS_LIBRARY_cuda;
}
