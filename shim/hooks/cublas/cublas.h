/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOKS_CUBLAS_CUBLAS_H
#define TFS_SHIM_HOOKS_CUBLAS_CUBLAS_H

/* What the hooks on cuBLAS share: the handle's stream and pointer mode, and scalars that may lie on
 * the device, where they are not read. */

#include <cublas_v2.h>
#include <math.h>
#include <string.h>

#include "shim/record/hook.h"
#include "shim/rewrites/fills.h"
#include "shim/state/streams.h"

/* Starts the details of a call on the handle's stream. */
void tfs_cublas_details(struct tfs_details *details, cublasHandle_t handle);

/* The handle's stream; false when that is not known, or the program gave it memory to work in. */
bool tfs_cublas_stream(cublasHandle_t handle, void **out_stream);

/* Puts what else of the handle changes what its calls compute into the shape of a call. False when
 * the program lets them add in any order. */
bool tfs_cublas_settings(cublasHandle_t handle, struct tfs_use_call *call);

/* Do the handle's scalars and results lie in host memory? */
bool tfs_cublas_host_pointers(cublasHandle_t handle);

/* A scalar argument's value; NaN when it is on the device, or not a real number. */
double tfs_cublas_scalar(cublasHandle_t handle, const void *scalar, cudaDataType type);

/* What alpha and beta are, where the call says how it computes and what the result is. */
cudaDataType tfs_cublas_scalar_type(cublasComputeType_t compute, cudaDataType result);

/* The single result of a call: of the device's, or of the host's, which waits for it. */
void tfs_cublas_put_result(struct tfs_details *details, cublasHandle_t handle, const void *result);

/* A product of two matrices, or of a batch of them, in elements. Where the matrices of a batch are
 * in a list, that is in device memory and not read: their addresses are NULL, the lists are given.
 */
struct tfs_gemm {
	cublasHandle_t handle;
	bool a_transposed;
	bool b_transposed;
	int64_t m, n, k;
	const void *a, *b, *c;
	int64_t lda, ldb, ldc;
	long long stride_a, stride_b, stride_c;
	int64_t batch;
	uint32_t a_bytes, b_bytes, c_bytes; /* of an element */
	const void *alpha, *beta;
	cudaDataType scalar;
	int compute;
	const void *lists[3];
	/* For rewrites that are told of it: its scalars and its result are numbers of the sizes
	 * that are given; and what else the call says of how it is computed. */
	bool simple;
	uint64_t kind;
};

/* A product whose details are wanted. Does not end the frame. */
void tfs_cublas_note_gemm(struct tfs_frame *frame, const struct tfs_gemm *call);

static inline uint64_t tfs_cublas_bits(double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return bits;
}

static inline uint32_t tfs_cublas_type_bytes(cudaDataType type)
{
	switch (type) {
	case CUDA_C_64F:
		return 16;
	case CUDA_R_64F:
	case CUDA_C_32F:
		return 8;
	case CUDA_R_16F:
	case CUDA_R_16BF:
	case CUDA_C_8I:
	case CUDA_C_8U:
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

/* The power of two, at most 16, that divides all that is given, or'ed together. */
static inline uint32_t tfs_cublas_aligned(uint64_t bits)
{
	return 1u << __builtin_ctzll(bits | 16);
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
