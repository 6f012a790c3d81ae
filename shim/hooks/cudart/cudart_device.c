/* SPDX-License-Identifier: MIT */
#define TFS_HOT_HOOKS
#include <cuda_runtime_api.h>

#include "shim/hooks/take.h"
#include "shim/record/aside.h"
#include "shim/state/memory.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudart

TFS_PLAIN_HOOK(cudaError_t, cudaSetDevice, (int device), (device))
TFS_ASIDE_HOOK(cudaError_t, cudaGetDevice, (int *device), (device))
TFS_PLAIN_HOOK(cudaError_t, cudaGetDeviceCount, (int *count), (count))
/* What programs built for CUDA 12 ask for; the struct is theirs, of another size. */
TFS_PLAIN_HOOK(cudaError_t, cudaGetDeviceProperties_v2, (void *prop, int device), (prop, device))
TFS_HOOK(cudaError_t, cudaGetDeviceProperties, (struct cudaDeviceProp * prop, int device))
{
	struct tfs_frame frame = TFS_ENTER(cudaGetDeviceProperties);
	struct tfs_op op = {.kind = TFS_OP_QUERY,
		.query = {.what = TFS_QUERY_PROPERTIES, .device = device, .answer = prop}};

	if (!tfs_take(&frame, &op))
		do
			op.status = TFS_REAL(cudaGetDeviceProperties)(prop, device);
		while (tfs_again(&op));
	tfs_hook_plain(&frame, op.status);
	return (cudaError_t)op.status;
}

TFS_HOOK(cudaError_t, cudaDeviceGetAttribute, (int *value, enum cudaDeviceAttr attr, int device))
{
	struct tfs_frame frame = TFS_ENTER(cudaDeviceGetAttribute);
	struct tfs_op op = {.kind = TFS_OP_QUERY,
		.query = {.what = TFS_QUERY_ATTRIBUTE,
			.attribute = (int)attr,
			.device = device,
			.answer = value}};

	if (!tfs_take(&frame, &op))
		do
			op.status = TFS_REAL(cudaDeviceGetAttribute)(value, attr, device);
		while (tfs_again(&op));
	tfs_hook_plain(&frame, op.status);
	return (cudaError_t)op.status;
}

TFS_PLAIN_HOOK(cudaError_t, cudaSetDeviceFlags, (unsigned int flags), (flags))
TFS_PLAIN_HOOK(cudaError_t, cudaDriverGetVersion, (int *driverVersion), (driverVersion))
TFS_PLAIN_HOOK(cudaError_t, cudaRuntimeGetVersion, (int *runtimeVersion), (runtimeVersion))
TFS_PLAIN_HOOK(cudaError_t, cudaDeviceCanAccessPeer,
	(int *canAccessPeer, int device, int peerDevice), (canAccessPeer, device, peerDevice))
TFS_HOOK(cudaError_t, cudaDeviceEnablePeerAccess, (int peerDevice, unsigned int flags))
{
	struct tfs_frame frame = TFS_ENTER(cudaDeviceEnablePeerAccess);
	const cudaError_t status = TFS_REAL(cudaDeviceEnablePeerAccess)(peerDevice, flags);

	tfs_memory_peers_enabled();
	tfs_hook_plain(&frame, (uint32_t)status);
	return status;
}
TFS_HOOK(cudaError_t, cudaImportExternalSemaphore,
	(cudaExternalSemaphore_t * out, const struct cudaExternalSemaphoreHandleDesc *like))
{
	struct tfs_frame frame = TFS_ENTER(cudaImportExternalSemaphore);
	const cudaError_t status = TFS_REAL(cudaImportExternalSemaphore)(out, like);

	tfs_memory_signals_made();
	tfs_hook_plain(&frame, (uint32_t)status);
	return status;
}
TFS_PLAIN_HOOK(cudaError_t, cudaFuncSetAttribute,
	(const void *func, enum cudaFuncAttribute attr, int value), (func, attr, value))
TFS_PLAIN_HOOK(cudaError_t, cudaFuncGetAttributes,
	(struct cudaFuncAttributes * attr, const void *func), (attr, func))
TFS_PLAIN_HOOK(cudaError_t, cudaOccupancyMaxActiveBlocksPerMultiprocessor,
	(int *numBlocks, const void *func, int blockSize, size_t dynamicSMemSize),
	(numBlocks, func, blockSize, dynamicSMemSize))
TFS_PLAIN_HOOK(cudaError_t, cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
	(int *numBlocks, const void *func, int blockSize, size_t dynamicSMemSize,
		unsigned int flags),
	(numBlocks, func, blockSize, dynamicSMemSize, flags))
TFS_ASIDE_HOOK(cudaError_t, cudaGetLastError, (void), ())
TFS_ASIDE_HOOK(cudaError_t, cudaPeekAtLastError, (void), ())

#define FUNCTIONS(X)                                                                               \
	X(cudaSetDevice, other)                                                                    \
	X(cudaGetDevice, other)                                                                    \
	X(cudaGetDeviceCount, other)                                                               \
	X(cudaGetDeviceProperties, constant)                                                       \
	X(cudaGetDeviceProperties_v2, constant)                                                    \
	X(cudaDeviceGetAttribute, constant)                                                        \
	X(cudaSetDeviceFlags, other)                                                               \
	X(cudaDriverGetVersion, constant)                                                          \
	X(cudaRuntimeGetVersion, constant)                                                         \
	X(cudaDeviceCanAccessPeer, property)                                                       \
	X(cudaDeviceEnablePeerAccess, other)                                                       \
	X(cudaImportExternalSemaphore, other)                                                      \
	X(cudaFuncSetAttribute, other)                                                             \
	X(cudaFuncGetAttributes, property)                                                         \
	X(cudaOccupancyMaxActiveBlocksPerMultiprocessor, property)                                 \
	X(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, property)                        \
	X(cudaGetLastError, other)                                                                 \
	X(cudaPeekAtLastError, other)

FUNCTIONS(TFS_FUNCTION_ROW)
