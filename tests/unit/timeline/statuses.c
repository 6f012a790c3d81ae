/* SPDX-License-Identifier: MIT */
/* Which statuses mean that a call failed, and what they are called. */
#include "rules/timeline/statuses.h"

#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <nccl.h>

#include "tests/test.h"

#define X(library, family, status, fails)                                                          \
	{                                                                                          \
		TFS_LIBRARY_##library, TFS_FAMILY_##family, status, fails                          \
	}
static const struct {
	enum tfs_library library;
	enum tfs_family family;
	uint32_t status;
	bool fails;
} calls[] = {
	X(cudart, copy, 0, false),
	X(cudart, copy, 1, true),
	X(cuda, launch, 700, true),
	/* not ready yet, or done already */
	X(cudart, query, 600, false),
	X(cuda, query, 600, false),
	X(cudart, other, 704, false),
	X(cuda, other, 704, false),
	X(cudart, host_register, 712, false),
	X(cuda, host_register, 712, false),
	X(nccl, collective, 7, false),
	X(nccl, collective, 6, true),
	/* the same numbers, of libraries that mean something else by them */
	X(cudnn, query, 600, true),
	X(cublas, gemm, 7, true),
	/* asked for only to learn whether it can be done, or to be done */
	X(cudart, property, 801, false),
	X(cuda, other, 801, false),
	X(cudart, copy, 801, true),
	X(cublas, workspace_query, 15, false),
	X(cublaslt, conv_get, 15, false),
	X(cublas, gemm, 15, true),
	X(cublas, workspace_query, 14, true),
	X(cudnn, conv_get, 9, false),
	X(cudnn, conv_find, 3000, false),
	X(cudnn, descriptor_create, 3999, false),
	X(cudnn, conv_get, 4000, true),
	X(cudnn, conv_get, 2000, true),
	X(cudnn, conv_forward, 9, true),
	X(cudnn, conv_forward, 3000, true),
	X(nccl, other, 15, true),
};
#undef X

/* Numbers are those of the libraries' own headers. */
#define N(library, name)                                                                           \
	{                                                                                          \
		TFS_LIBRARY_##library, name, #name                                                 \
	}
static const struct {
	enum tfs_library library;
	uint32_t status;
	const char *name;
} names[] = {
	N(cudart, cudaErrorInvalidValue),
	N(cudart, cudaErrorMemoryAllocation),
	N(cudart, cudaErrorInitializationError),
	N(cudart, cudaErrorInvalidConfiguration),
	N(cudart, cudaErrorInvalidPitchValue),
	N(cudart, cudaErrorInvalidSymbol),
	N(cudart, cudaErrorInvalidMemcpyDirection),
	N(cudart, cudaErrorInvalidDeviceFunction),
	N(cudart, cudaErrorNoDevice),
	N(cudart, cudaErrorInvalidDevice),
	N(cudart, cudaErrorInvalidKernelImage),
	N(cudart, cudaErrorDeviceUninitialized),
	N(cudart, cudaErrorNoKernelImageForDevice),
	N(cudart, cudaErrorInvalidResourceHandle),
	N(cudart, cudaErrorSymbolNotFound),
	N(cudart, cudaErrorNotReady),
	N(cudart, cudaErrorIllegalAddress),
	N(cudart, cudaErrorLaunchOutOfResources),
	N(cudart, cudaErrorLaunchTimeout),
	N(cudart, cudaErrorPeerAccessAlreadyEnabled),
	N(cudart, cudaErrorPeerAccessNotEnabled),
	N(cudart, cudaErrorHostMemoryAlreadyRegistered),
	N(cudart, cudaErrorHostMemoryNotRegistered),
	N(cudart, cudaErrorLaunchFailure),
	N(cudart, cudaErrorNotPermitted),
	N(cudart, cudaErrorNotSupported),
	N(cudart, cudaErrorStreamCaptureUnsupported),
	N(cudart, cudaErrorStreamCaptureInvalidated),
	N(cudart, cudaErrorUnknown),
	N(cuda, CUDA_ERROR_INVALID_VALUE),
	N(cuda, CUDA_ERROR_OUT_OF_MEMORY),
	N(cuda, CUDA_ERROR_NOT_INITIALIZED),
	N(cuda, CUDA_ERROR_INVALID_DEVICE),
	N(cuda, CUDA_ERROR_INVALID_CONTEXT),
	N(cuda, CUDA_ERROR_NO_BINARY_FOR_GPU),
	N(cuda, CUDA_ERROR_INVALID_HANDLE),
	N(cuda, CUDA_ERROR_NOT_FOUND),
	N(cuda, CUDA_ERROR_NOT_READY),
	N(cuda, CUDA_ERROR_ILLEGAL_ADDRESS),
	N(cuda, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES),
	N(cuda, CUDA_ERROR_LAUNCH_FAILED),
	N(cuda, CUDA_ERROR_NOT_PERMITTED),
	N(cuda, CUDA_ERROR_NOT_SUPPORTED),
	N(cuda, CUDA_ERROR_UNKNOWN),
	N(cublas, CUBLAS_STATUS_NOT_INITIALIZED),
	N(cublas, CUBLAS_STATUS_ALLOC_FAILED),
	N(cublas, CUBLAS_STATUS_INVALID_VALUE),
	N(cublas, CUBLAS_STATUS_ARCH_MISMATCH),
	N(cublas, CUBLAS_STATUS_MAPPING_ERROR),
	N(cublas, CUBLAS_STATUS_EXECUTION_FAILED),
	N(cublas, CUBLAS_STATUS_INTERNAL_ERROR),
	N(cublas, CUBLAS_STATUS_NOT_SUPPORTED),
	N(cublaslt, CUBLAS_STATUS_NOT_SUPPORTED),
	N(cudnn, CUDNN_STATUS_NOT_INITIALIZED),
	N(cudnn, CUDNN_STATUS_BAD_PARAM),
	N(cudnn, CUDNN_STATUS_INTERNAL_ERROR),
	N(cudnn, CUDNN_STATUS_EXECUTION_FAILED),
	N(cudnn, CUDNN_STATUS_NOT_SUPPORTED),
	/* of version 8, and of version 9 */
	{TFS_LIBRARY_cudnn, 1, "CUDNN_STATUS_NOT_INITIALIZED"},
	{TFS_LIBRARY_cudnn, 2, "CUDNN_STATUS_ALLOC_FAILED"},
	{TFS_LIBRARY_cudnn, 3, "CUDNN_STATUS_BAD_PARAM"},
	{TFS_LIBRARY_cudnn, 4, "CUDNN_STATUS_INTERNAL_ERROR"},
	{TFS_LIBRARY_cudnn, 8, "CUDNN_STATUS_EXECUTION_FAILED"},
	{TFS_LIBRARY_cudnn, 9, "CUDNN_STATUS_NOT_SUPPORTED"},
	{TFS_LIBRARY_cudnn, 1001, "CUDNN_STATUS_NOT_INITIALIZED"},
	{TFS_LIBRARY_cudnn, 2000, "CUDNN_STATUS_BAD_PARAM"},
	{TFS_LIBRARY_cudnn, 3000, "CUDNN_STATUS_NOT_SUPPORTED"},
	{TFS_LIBRARY_cudnn, 4000, "CUDNN_STATUS_INTERNAL_ERROR"},
	{TFS_LIBRARY_cudnn, 5000, "CUDNN_STATUS_EXECUTION_FAILED"},
	N(nccl, ncclUnhandledCudaError),
	N(nccl, ncclSystemError),
	N(nccl, ncclInternalError),
	N(nccl, ncclInvalidArgument),
	N(nccl, ncclInvalidUsage),
	N(nccl, ncclRemoteError),
	N(nccl, ncclInProgress),
	/* what went well has no name, nor has what no header lists */
	{TFS_LIBRARY_cudart, 0, NULL},
	{TFS_LIBRARY_cuda, 0, NULL},
	{TFS_LIBRARY_cublas, 0, NULL},
	{TFS_LIBRARY_cudnn, 0, NULL},
	{TFS_LIBRARY_nccl, 0, NULL},
	{TFS_LIBRARY_cudart, 998, NULL},
	{TFS_LIBRARY_curand, 2, NULL},
};
#undef N

int main(void)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!TEST_EQ(tfs_status_fails(calls[i].library, calls[i].family, calls[i].status),
			    calls[i].fails))
			printf("  call %zu: status %u\n", i, calls[i].status);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!TEST_STR(tfs_status_name(names[i].library, names[i].status), names[i].name))
			printf("  library %d: status %u\n", (int)names[i].library, names[i].status);
	TEST_TRUE(tfs_status_harmless(TFS_FAMILY_host_register));
	TEST_TRUE(tfs_status_harmless(TFS_FAMILY_query));
	TEST_TRUE(!tfs_status_harmless(TFS_FAMILY_alloc));
	TEST_TRUE(!tfs_status_harmless(TFS_FAMILY_launch));
	return test_result();
}
