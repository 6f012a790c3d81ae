/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_RESOLVE_DIRECT_H
#define TFS_SHIM_RESOLVE_DIRECT_H

/*
 * The functions that the shim calls itself, never through a hook. TFS_DIRECT(cudaFree)(address)
 * calls one; it is NULL while its library is not there for good, or does not have it. Each is
 * looked up when it is first asked for. To call another one, add it to the list.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/base/likely.h"
#include "shim/resolve/lookup.h"

/* What the runtime and the driver both have, in two columns; then what only one library has. */
/* clang-format off */
#define TFS_DIRECT_TWINS(X) \
	X(cudaDeviceGetAttribute, cuDeviceGetAttribute) \
	X(cudaDeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool) \
	X(cudaDeviceGetMemPool, cuDeviceGetMemPool) X(cudaDeviceGetPCIBusId, cuDeviceGetPCIBusId) \
	X(cudaDeviceSynchronize, cuCtxSynchronize) X(cudaEventCreateWithFlags, cuEventCreate) \
	X(cudaEventDestroy, cuEventDestroy_v2) X(cudaEventElapsedTime, cuEventElapsedTime) \
	X(cudaEventQuery, cuEventQuery) X(cudaEventRecord, cuEventRecord) \
	X(cudaEventSynchronize, cuEventSynchronize) X(cudaFree, cuMemFree_v2) \
	X(cudaFreeHost, cuMemFreeHost) X(cudaGetDevice, cuCtxGetDevice) \
	X(cudaGetDeviceCount, cuDeviceGetCount) X(cudaHostAlloc, cuMemHostAlloc) \
	X(cudaLaunchHostFunc, cuLaunchHostFunc) X(cudaMalloc, cuMemAlloc_v2) \
	X(cudaMemGetInfo, cuMemGetInfo_v2) X(cudaMemPoolGetAttribute, cuMemPoolGetAttribute) \
	X(cudaMemPoolSetAttribute, cuMemPoolSetAttribute) X(cudaMemPoolTrimTo, cuMemPoolTrimTo) \
	X(cudaMemcpy, cuMemcpy) X(cudaMemcpyAsync, cuMemcpyAsync) \
	X(cudaMemsetAsync, cuMemsetD8Async) X(cudaPointerGetAttributes, cuPointerGetAttributes) \
	X(cudaStreamCreateWithFlags, cuStreamCreate) X(cudaStreamIsCapturing, cuStreamIsCapturing) \
	X(cudaStreamQuery, cuStreamQuery) X(cudaStreamSynchronize, cuStreamSynchronize) \
	X(cudaThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode)

#define TFS_DIRECT_CALLS(X) \
	X(cudart, cudaArrayGetInfo) X(cudart, cudaGetDeviceProperties) \
	X(cudart, cudaGetFuncBySymbol) X(cudart, cudaGetLastError) X(cudart, cudaPeekAtLastError) \
	X(cudart, cudaRuntimeGetVersion) X(cudart, cudaSetDevice) \
	X(cuda, cuCtxGetCurrent) X(cuda, cuCtxRecordEvent) X(cuda, cuDeviceGet) \
	X(cuda, cuDeviceGetName) X(cuda, cuDevicePrimaryCtxGetState) \
	X(cuda, cuDevicePrimaryCtxRelease_v2) X(cuda, cuDevicePrimaryCtxRetain) \
	X(cuda, cuDeviceTotalMem_v2) X(cuda, cuDriverGetVersion) X(cuda, cuFuncGetName) \
	X(cuda, cuFuncGetParamInfo) X(cuda, cuGetProcAddress) X(cuda, cuGetProcAddress_v2) \
	X(cuda, cuGraphRetainUserObject) X(cuda, cuKernelGetName) X(cuda, cuKernelGetParamInfo) \
	X(cuda, cuMemAllocFromPoolAsync) X(cuda, cuMemFreeAsync) X(cuda, cuMemGetAddressRange_v2) \
	X(cuda, cuMemPoolCreate) X(cuda, cuMemcpyDtoDAsync_v2) X(cuda, cuMemcpyDtoHAsync_v2) \
	X(cuda, cuMemcpyDtoH_v2) X(cuda, cuMemcpyHtoDAsync_v2) X(cuda, cuPointerGetAttribute) \
	X(cuda, cuStreamGetCaptureInfo_v2) X(cuda, cuUserObjectCreate) \
	X(cudnn, cudnnConvolutionBackwardData) X(cudnn, cudnnConvolutionBackwardFilter) \
	X(cudnn, cudnnConvolutionForward) X(cudnn, cudnnCreate) X(cudnn, cudnnDestroy) \
	X(cudnn, cudnnFindConvolutionBackwardDataAlgorithmEx) \
	X(cudnn, cudnnFindConvolutionBackwardFilterAlgorithmEx) \
	X(cudnn, cudnnFindConvolutionForwardAlgorithmEx) X(cudnn, cudnnGetActivationDescriptor) \
	X(cudnn, cudnnGetActivationDescriptorSwishBeta) \
	X(cudnn, cudnnGetConvolutionBackwardDataAlgorithm_v7) \
	X(cudnn, cudnnGetConvolutionBackwardDataWorkspaceSize) \
	X(cudnn, cudnnGetConvolutionBackwardFilterAlgorithm_v7) \
	X(cudnn, cudnnGetConvolutionBackwardFilterWorkspaceSize) \
	X(cudnn, cudnnGetConvolutionForwardAlgorithm_v7) \
	X(cudnn, cudnnGetConvolutionForwardWorkspaceSize) \
	X(cudnn, cudnnGetConvolutionGroupCount) X(cudnn, cudnnGetConvolutionMathType) \
	X(cudnn, cudnnGetConvolutionNdDescriptor) X(cudnn, cudnnGetConvolutionReorderType) \
	X(cudnn, cudnnGetFilterNdDescriptor) X(cudnn, cudnnGetPoolingNdDescriptor) \
	X(cudnn, cudnnGetStream) X(cudnn, cudnnGetTensorNdDescriptor) X(cudnn, cudnnGetVersion) \
	X(cudnn, cudnnSetStream) \
	X(cublas, cublasGetAtomicsMode) X(cublas, cublasGetEmulationSpecialValuesSupport) \
	X(cublas, cublasGetEmulationStrategy) \
	X(cublas, cublasGetFixedPointEmulationMantissaBitOffset) \
	X(cublas, cublasGetFixedPointEmulationMantissaControl) \
	X(cublas, cublasGetFixedPointEmulationMaxMantissaBitCount) X(cublas, cublasGetMathMode) \
	X(cublas, cublasGetPointerMode_v2) X(cublas, cublasGetProperty) \
	X(cublas, cublasGetSmCountTarget) X(cublas, cublasGetStream_v2) \
	X(cublaslt, cublasLtMatmul) X(cublaslt, cublasLtMatmulAlgoGetHeuristic) \
	X(cublaslt, cublasLtMatmulDescCreate) X(cublaslt, cublasLtMatmulDescDestroy) \
	X(cublaslt, cublasLtMatmulDescGetAttribute) X(cublaslt, cublasLtMatmulDescSetAttribute) \
	X(cublaslt, cublasLtMatmulPreferenceCreate) X(cublaslt, cublasLtMatmulPreferenceDestroy) \
	X(cublaslt, cublasLtMatmulPreferenceGetAttribute) \
	X(cublaslt, cublasLtMatmulPreferenceSetAttribute) \
	X(cublaslt, cublasLtMatrixLayoutGetAttribute) \
	X(nccl, pncclCommCount) X(nccl, pncclCommUserRank) X(nccl, pncclGetVersion)
/* clang-format on */

/* A driver's function follows the runtime's of its row. */
enum tfs_direct {
#define X(runtime, driver) TFS_DIRECT_##runtime, TFS_DIRECT_##driver,
	TFS_DIRECT_TWINS(X)
#undef X
#define X(library, name) TFS_DIRECT_##name,
		TFS_DIRECT_CALLS(X)
#undef X
			TFS_DIRECT_COUNT,
	TFS_DIRECT_NONE = TFS_DIRECT_COUNT
};

/* The rows of two columns. */
enum tfs_twins {
#define X(runtime, driver) TFS_TWINS_##runtime = TFS_DIRECT_##runtime,
	TFS_DIRECT_TWINS(X)
#undef X
};

extern void *tfs_direct_known[TFS_DIRECT_COUNT] TFS_OWN;

/* Any thread; takes no lock of the loader's. Cold. */
void *tfs_direct_look_up(enum tfs_direct call);

static inline void *tfs_direct(enum tfs_direct call)
{
	void *known = __atomic_load_n(&tfs_direct_known[call], __ATOMIC_RELAXED);

	return TFS_LIKELY(known) ? known : tfs_direct_look_up(call);
}
#define TFS_DIRECT(name) ((__typeof__(&name))tfs_direct(TFS_DIRECT_##name))

/* The same of a library that may go: looked up each time, and not kept. Cold. */
void *tfs_direct_anew(enum tfs_direct call);

/* Are all of them there? Asked once and kept for good in *known, which begins as 0. */
bool tfs_direct_there(const uint8_t *calls, size_t count, _Atomic int *known);
#define TFS_DIRECT_THERE(list, known) tfs_direct_there(list, sizeof(list), known)

#endif
