/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOKS_CUBLAS_H
#define TFS_SHIM_HOOKS_CUBLAS_H

/* What the hooks on cuBLAS share: the handle's stream and pointer mode, and scalars that may lie on
 * the device, where they are not read. */

#include <cublas_v2.h>
#include <math.h>
#include <string.h>

#include "shim/hook.h"
#include "shim/streams.h"

/* Starts the details of a call on the handle's stream. */
void tfs_cublas_details(struct tfs_details *details, cublasHandle_t handle);

/* The handle's stream; false when that is not known, or the program gave it memory to work in. */
bool tfs_cublas_stream(cublasHandle_t handle, void **out_stream);

/* Do the handle's scalars and results lie in host memory? */
bool tfs_cublas_host_pointers(cublasHandle_t handle);

/* A scalar argument's value; NaN when it is on the device. `bytes` is 4 or 8. */
double tfs_cublas_scalar(cublasHandle_t handle, const void *scalar, uint32_t bytes);

static inline uint64_t tfs_cublas_bits(double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return bits;
}

static inline uint32_t tfs_cublas_type_bytes(cudaDataType type)
{
	switch (type) {
	case CUDA_R_64F:
		return 8;
	case CUDA_R_16F:
	case CUDA_R_16BF:
		return 2;
	case CUDA_R_8I:
	case CUDA_R_8U:
	case CUDA_R_8F_E4M3:
	case CUDA_R_8F_E5M2:
		return 1;
	default:
		return 4;
	}
}

/* A column-major matrix; a vector is one column. */
static inline void tfs_put_matrix(struct tfs_details *details, const void *address,
	uint64_t leading, uint64_t rows, uint64_t columns, uint32_t element_bytes, uint32_t role)
{
	const uint64_t elements = rows == 0 || columns == 0 ? 0 : leading * (columns - 1) + rows;

	tfs_put_operand(details, address, elements * element_bytes,
		role | TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE));
}

#endif
