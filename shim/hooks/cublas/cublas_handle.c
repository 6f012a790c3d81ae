/* SPDX-License-Identifier: MIT */
#include <cublas_v2.h>

#include "shim/hooks/cublas/cublas.h"
#include "shim/hooks/notes.h"
#include "shim/resolve/direct.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cublas

/* Getters of one number each, that later versions have more of. */
static const uint8_t settings[] = {TFS_DIRECT_cublasGetMathMode, TFS_DIRECT_cublasGetSmCountTarget,
	TFS_DIRECT_cublasGetEmulationStrategy, TFS_DIRECT_cublasGetEmulationSpecialValuesSupport,
	TFS_DIRECT_cublasGetFixedPointEmulationMantissaControl,
	TFS_DIRECT_cublasGetFixedPointEmulationMaxMantissaBitCount,
	TFS_DIRECT_cublasGetFixedPointEmulationMantissaBitOffset};
#define SETTINGS sizeof(settings)

void tfs_cublas_details(struct tfs_details *details, cublasHandle_t handle)
{
	cudaStream_t stream = NULL;

	if (!TFS_DIRECT(cublasGetStream_v2) ||
		TFS_DIRECT(cublasGetStream_v2)(handle, &stream) != CUBLAS_STATUS_SUCCESS)
		stream = NULL;
	tfs_details_init(details, tfs_stream_id(stream, 0));
}

static _Atomic bool own_workspace;

bool tfs_cublas_stream(cublasHandle_t handle, void **out_stream)
{
	cudaStream_t stream = NULL;

	if (own_workspace || !TFS_DIRECT(cublasGetStream_v2) ||
		TFS_DIRECT(cublasGetStream_v2)(handle, &stream) != CUBLAS_STATUS_SUCCESS)
		return false;
	*out_stream = stream;
	return true;
}

bool tfs_cublas_settings(cublasHandle_t handle, struct tfs_use_call *call)
{
	cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;

	for (uint32_t i = 0; i < SETTINGS; i++) {
		cublasStatus_t (*const get)(cublasHandle_t handle, int *out) =
			(__typeof__(get))tfs_direct((enum tfs_direct)settings[i]);
		int value = 0;

		if (get && get(handle, &value) != CUBLAS_STATUS_SUCCESS)
			value = 0;
		tfs_use_shape(call, (uint64_t)(int64_t)value);
	}
	return !TFS_DIRECT(cublasGetAtomicsMode) ||
	       (TFS_DIRECT(cublasGetAtomicsMode)(handle, &atomics) == CUBLAS_STATUS_SUCCESS &&
		       atomics == CUBLAS_ATOMICS_NOT_ALLOWED);
}

bool tfs_cublas_host_pointers(cublasHandle_t handle)
{
	cublasPointerMode_t mode = CUBLAS_POINTER_MODE_HOST;

	return !TFS_DIRECT(cublasGetPointerMode_v2) ||
	       TFS_DIRECT(cublasGetPointerMode_v2)(handle, &mode) != CUBLAS_STATUS_SUCCESS ||
	       mode == CUBLAS_POINTER_MODE_HOST;
}

/* A number of 16 bits: what matters is whether it is 0 or 1. */
static double from_half(uint16_t bits)
{
	if ((bits & 0x7fff) == 0)
		return 0;
	return bits == 0x3c00 ? 1 : NAN;
}

double tfs_cublas_scalar(cublasHandle_t handle, const void *scalar, cudaDataType type)
{
	if (!scalar || !tfs_cublas_host_pointers(handle))
		return NAN;
	switch (type) {
	case CUDA_R_64F:
		return *(const double *)scalar;
	case CUDA_C_64F:
		return ((const double *)scalar)[1] == 0 ? *(const double *)scalar : NAN;
	case CUDA_C_32F:
		return ((const float *)scalar)[1] == 0 ? *(const float *)scalar : NAN;
	case CUDA_R_16F:
		return from_half(*(const uint16_t *)scalar);
	case CUDA_R_32I:
		return *(const int32_t *)scalar;
	default:
		return *(const float *)scalar;
	}
}

cudaDataType tfs_cublas_scalar_type(cublasComputeType_t compute, cudaDataType result)
{
	const bool complex = result == CUDA_C_32F || result == CUDA_C_64F || result == CUDA_C_8I;

	switch (compute) {
	case CUBLAS_COMPUTE_16F:
	case CUBLAS_COMPUTE_16F_PEDANTIC:
		return CUDA_R_16F;
	case CUBLAS_COMPUTE_64F:
	case CUBLAS_COMPUTE_64F_PEDANTIC:
	case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
		return complex ? CUDA_C_64F : CUDA_R_64F;
	case CUBLAS_COMPUTE_32I:
	case CUBLAS_COMPUTE_32I_PEDANTIC:
		return result == CUDA_R_32I ? CUDA_R_32I : CUDA_R_32F;
	default:
		return complex ? CUDA_C_32F : CUDA_R_32F;
	}
}

void tfs_cublas_put_result(struct tfs_details *details, cublasHandle_t handle, const void *result)
{
	if (tfs_cublas_host_pointers(handle))
		tfs_put_attribute(details, TFS_ATTRIBUTE_host_result, 1);
	else
		tfs_put_touched(details, result, false);
}

TFS_PLAIN_HOOK(cublasStatus_t, cublasCreate_v2, (cublasHandle_t * out), (out))
TFS_PLAIN_HOOK(cublasStatus_t, cublasDestroy_v2, (cublasHandle_t handle), (handle))
TFS_PLAIN_HOOK(cublasStatus_t, cublasSetStream_v2, (cublasHandle_t handle, cudaStream_t stream),
	(handle, stream))
TFS_PLAIN_HOOK(cublasStatus_t, cublasSetMathMode, (cublasHandle_t handle, cublasMath_t mode),
	(handle, mode))
TFS_PLAIN_HOOK(cublasStatus_t, cublasSetPointerMode_v2,
	(cublasHandle_t handle, cublasPointerMode_t mode), (handle, mode))

TFS_HOOK(cublasStatus_t, cublasSetWorkspace_v2,
	(cublasHandle_t handle, void *workspace, size_t bytes))
{
	struct tfs_frame frame = TFS_ENTER(cublasSetWorkspace_v2);
	const cublasStatus_t status = TFS_REAL(cublasSetWorkspace_v2)(handle, workspace, bytes);

	own_workspace = true;
	tfs_hook_plain(&frame, (uint32_t)status);
	return status;
}

#define FUNCTIONS(X)                                                                               \
	X(cublasCreate_v2, handle_create)                                                          \
	X(cublasDestroy_v2, handle_destroy)                                                        \
	X(cublasSetStream_v2, handle)                                                              \
	X(cublasSetMathMode, handle)                                                               \
	X(cublasSetPointerMode_v2, handle)                                                         \
	X(cublasSetWorkspace_v2, handle)

FUNCTIONS(TFS_FUNCTION_ROW)
