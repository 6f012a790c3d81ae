/* SPDX-License-Identifier: MIT */
#include "rules/timeline/statuses.h"

#include <stddef.h>

struct status {
	uint32_t number;
	const char *name;
};

/* The runtime's; the driver has the same numbers. */
static const struct status runtime[] = {
	{1, "cudaErrorInvalidValue"},
	{2, "cudaErrorMemoryAllocation"},
	{3, "cudaErrorInitializationError"},
	{9, "cudaErrorInvalidConfiguration"},
	{12, "cudaErrorInvalidPitchValue"},
	{13, "cudaErrorInvalidSymbol"},
	{21, "cudaErrorInvalidMemcpyDirection"},
	{98, "cudaErrorInvalidDeviceFunction"},
	{100, "cudaErrorNoDevice"},
	{101, "cudaErrorInvalidDevice"},
	{200, "cudaErrorInvalidKernelImage"},
	{201, "cudaErrorDeviceUninitialized"},
	{209, "cudaErrorNoKernelImageForDevice"},
	{400, "cudaErrorInvalidResourceHandle"},
	{500, "cudaErrorSymbolNotFound"},
	{600, "cudaErrorNotReady"},
	{700, "cudaErrorIllegalAddress"},
	{701, "cudaErrorLaunchOutOfResources"},
	{702, "cudaErrorLaunchTimeout"},
	{704, "cudaErrorPeerAccessAlreadyEnabled"},
	{705, "cudaErrorPeerAccessNotEnabled"},
	{712, "cudaErrorHostMemoryAlreadyRegistered"},
	{713, "cudaErrorHostMemoryNotRegistered"},
	{719, "cudaErrorLaunchFailure"},
	{800, "cudaErrorNotPermitted"},
	{801, "cudaErrorNotSupported"},
	{900, "cudaErrorStreamCaptureUnsupported"},
	{901, "cudaErrorStreamCaptureInvalidated"},
	{999, "cudaErrorUnknown"},
	{0, NULL},
};

static const struct status driver[] = {
	{1, "CUDA_ERROR_INVALID_VALUE"},
	{2, "CUDA_ERROR_OUT_OF_MEMORY"},
	{3, "CUDA_ERROR_NOT_INITIALIZED"},
	{101, "CUDA_ERROR_INVALID_DEVICE"},
	{201, "CUDA_ERROR_INVALID_CONTEXT"},
	{209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
	{400, "CUDA_ERROR_INVALID_HANDLE"},
	{500, "CUDA_ERROR_NOT_FOUND"},
	{600, "CUDA_ERROR_NOT_READY"},
	{700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
	{701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
	{719, "CUDA_ERROR_LAUNCH_FAILED"},
	{800, "CUDA_ERROR_NOT_PERMITTED"},
	{801, "CUDA_ERROR_NOT_SUPPORTED"},
	{999, "CUDA_ERROR_UNKNOWN"},
	{0, NULL},
};

static const struct status cublas[] = {
	{1, "CUBLAS_STATUS_NOT_INITIALIZED"},
	{3, "CUBLAS_STATUS_ALLOC_FAILED"},
	{7, "CUBLAS_STATUS_INVALID_VALUE"},
	{8, "CUBLAS_STATUS_ARCH_MISMATCH"},
	{11, "CUBLAS_STATUS_MAPPING_ERROR"},
	{13, "CUBLAS_STATUS_EXECUTION_FAILED"},
	{14, "CUBLAS_STATUS_INTERNAL_ERROR"},
	{15, "CUBLAS_STATUS_NOT_SUPPORTED"},
	{0, NULL},
};

/* Of version 8, and from 1000 on of version 9. */
static const struct status cudnn[] = {
	{1, "CUDNN_STATUS_NOT_INITIALIZED"},
	{2, "CUDNN_STATUS_ALLOC_FAILED"},
	{3, "CUDNN_STATUS_BAD_PARAM"},
	{4, "CUDNN_STATUS_INTERNAL_ERROR"},
	{8, "CUDNN_STATUS_EXECUTION_FAILED"},
	{9, "CUDNN_STATUS_NOT_SUPPORTED"},
	{1001, "CUDNN_STATUS_NOT_INITIALIZED"},
	{2000, "CUDNN_STATUS_BAD_PARAM"},
	{3000, "CUDNN_STATUS_NOT_SUPPORTED"},
	{4000, "CUDNN_STATUS_INTERNAL_ERROR"},
	{5000, "CUDNN_STATUS_EXECUTION_FAILED"},
	{0, NULL},
};

static const struct status nccl[] = {
	{1, "ncclUnhandledCudaError"},
	{2, "ncclSystemError"},
	{3, "ncclInternalError"},
	{4, "ncclInvalidArgument"},
	{5, "ncclInvalidUsage"},
	{6, "ncclRemoteError"},
	{7, "ncclInProgress"},
	{0, NULL},
};

static const struct status *statuses_of(enum tfs_library library)
{
	switch (library) {
	case TFS_LIBRARY_cudart:
		return runtime;
	case TFS_LIBRARY_cuda:
		return driver;
	case TFS_LIBRARY_cublas:
	case TFS_LIBRARY_cublaslt:
		return cublas;
	case TFS_LIBRARY_cudnn:
		return cudnn;
	case TFS_LIBRARY_nccl:
		return nccl;
	default:
		return NULL;
	}
}

const char *tfs_status_name(enum tfs_library library, uint32_t status)
{
	const struct status *at = statuses_of(library);

	while (at && at->name && at->number != status)
		at++;
	return at ? at->name : NULL;
}

static bool unsupported(enum tfs_library library, uint32_t status)
{
	switch (library) {
	case TFS_LIBRARY_cudart:
	case TFS_LIBRARY_cuda:
		return status == 801;
	case TFS_LIBRARY_cublas:
	case TFS_LIBRARY_cublaslt:
		return status == 15;
	case TFS_LIBRARY_cudnn:
		return status == 9 || status / 1000 == 3;
	default:
		return false;
	}
}

static bool asks(enum tfs_family family)
{
	switch (family) {
	case TFS_FAMILY_conv_get:
	case TFS_FAMILY_conv_find:
	case TFS_FAMILY_workspace_query:
	case TFS_FAMILY_property:
	case TFS_FAMILY_constant:
	case TFS_FAMILY_query:
	case TFS_FAMILY_elapsed:
	case TFS_FAMILY_descriptor:
	case TFS_FAMILY_descriptor_create:
	case TFS_FAMILY_descriptor_destroy:
	case TFS_FAMILY_other:
		return true;
	default:
		return false;
	}
}

bool tfs_status_harmless(enum tfs_family family)
{
	return asks(family) || family == TFS_FAMILY_host_register;
}

bool tfs_status_fails(enum tfs_library library, enum tfs_family family, uint32_t status)
{
	const bool cuda = library == TFS_LIBRARY_cudart || library == TFS_LIBRARY_cuda;

	if (!status || (cuda && (status == 600 || status == 704 || status == 712)))
		return false;
	if (library == TFS_LIBRARY_nccl && status == 7)
		return false;
	return !(asks(family) && unsupported(library, status));
}
