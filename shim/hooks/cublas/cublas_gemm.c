/* SPDX-License-Identifier: MIT */
#define TFS_HOT_HOOKS
#include <cublas_v2.h>

#include "shim/hooks/compute.h"
#include "shim/hooks/cublas/cublas.h"
#include "shim/hooks/notes.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cublas

/* How products are written down; most of their hooks are made from cublas_product.txt. Those here
 * also tell rewrites beforehand what memory they work on. */

static void put(struct tfs_details *details, const void *address, int64_t leading, int64_t rows,
	int64_t columns, long long stride, int64_t batch, uint32_t bytes, uint32_t role)
{
	const int64_t last = batch > 1 ? stride * (batch - 1) : 0;

	tfs_put_matrix(details, address, (uint64_t)leading, (uint64_t)(last + rows),
		(uint64_t)columns, bytes, role);
}

static uint64_t alignment(const struct tfs_gemm *call)
{
	const uint64_t addresses = (uintptr_t)call->a | (uintptr_t)call->b | (uintptr_t)call->c;
	const uint64_t columns = (uint64_t)call->lda * call->a_bytes |
				 (uint64_t)call->ldb * call->b_bytes |
				 (uint64_t)call->ldc * call->c_bytes;

	return TFS_ALIGNMENT(tfs_cublas_aligned(addresses | columns), call->a_bytes) |
	       TFS_PRODUCT_ORDERED | (call->a_transposed ? TFS_PRODUCT_FIRST_TRANSPOSED : 0) |
	       (call->b_transposed ? TFS_PRODUCT_SECOND_TRANSPOSED : 0);
}

void tfs_cublas_note_gemm(struct tfs_frame *frame, const struct tfs_gemm *call)
{
	const double beta = tfs_cublas_scalar(call->handle, call->beta, call->scalar);
	/* A beta that is not known counts as one that reads. */
	const uint32_t c_role = TFS_ROLE_WRITE | (beta != 0 ? TFS_ROLE_READ : 0);
	struct tfs_details details;

	tfs_cublas_details(&details, call->handle);
	put(&details, call->a, call->lda, call->a_transposed ? call->k : call->m,
		call->a_transposed ? call->m : call->k, call->stride_a, call->batch, call->a_bytes,
		TFS_ROLE_READ);
	put(&details, call->b, call->ldb, call->b_transposed ? call->n : call->k,
		call->b_transposed ? call->k : call->n, call->stride_b, call->batch, call->b_bytes,
		TFS_ROLE_READ);
	put(&details, call->c, call->ldc, call->m, call->n, call->stride_c, call->batch,
		call->c_bytes, c_role);
	for (unsigned i = 0; i < 3; i++)
		tfs_put_touched(&details, call->lists[i], true);
	tfs_put_attribute(&details, TFS_ATTRIBUTE_alpha,
		tfs_cublas_bits(tfs_cublas_scalar(call->handle, call->alpha, call->scalar)));
	tfs_put_attribute(&details, TFS_ATTRIBUTE_beta, tfs_cublas_bits(beta));
	tfs_put_attribute(&details, TFS_ATTRIBUTE_shape_m, (uint64_t)call->m);
	tfs_put_attribute(&details, TFS_ATTRIBUTE_shape_n, (uint64_t)call->n);
	tfs_put_attribute(&details, TFS_ATTRIBUTE_shape_k, (uint64_t)call->k);
	if (call->batch > 1)
		tfs_put_attribute(&details, TFS_ATTRIBUTE_count, (uint64_t)call->batch);
	tfs_put_attribute(&details, TFS_ATTRIBUTE_math, (uint64_t)call->compute);
	tfs_put_attribute(&details, TFS_ATTRIBUTE_alignment, alignment(call));
	tfs_hook_details(frame, &details);
}

static void use_matrix(struct tfs_use_call *call, const void *address, int64_t leading,
	int64_t rows, int64_t columns, long long stride, int64_t batch, uint32_t bytes)
{
	const uint64_t elements = (uint64_t)leading * (uint64_t)(columns - 1) + (uint64_t)rows;

	call->unknown |= leading < 1 || rows < 1 || columns < 1 || stride < 0;
	tfs_use_reads(call, address, (elements + (uint64_t)stride * (uint64_t)(batch - 1)) * bytes);
	tfs_use_shape(call, (uint64_t)(uint32_t)leading << 32 | (uint32_t)rows);
	tfs_use_shape(call, (uint64_t)columns);
	tfs_use_shape(call, (uint64_t)stride);
}

/* Is C written without gaps? */
static bool is_dense(const struct tfs_gemm *call)
{
	return (call->ldc == call->m || call->n == 1) &&
	       (call->batch == 1 || call->stride_c == call->m * call->n) && call->c_bytes > 1;
}

/* Before the call: says what memory it works on. */
static void tell(const struct tfs_op *op, struct tfs_use_call *told)
{
	const struct tfs_gemm *call = op->compute.call;

	told->element_bytes = call->c_bytes;
	told->output = op->compute.output;
	told->unknown = !tfs_cublas_stream(call->handle, &told->stream) ||
			!tfs_cublas_host_pointers(call->handle) || !call->alpha || !call->beta ||
			call->batch < 1;
	use_matrix(told, call->a, call->lda, call->a_transposed ? call->k : call->m,
		call->a_transposed ? call->m : call->k, call->stride_a, call->batch, call->a_bytes);
	use_matrix(told, call->b, call->ldb, call->b_transposed ? call->n : call->k,
		call->b_transposed ? call->k : call->n, call->stride_b, call->batch, call->b_bytes);
	use_matrix(told, call->c, call->ldc, call->m, call->n, call->stride_c, call->batch,
		call->c_bytes);
	/* The last of what it reads is what it writes. */
	told->output_bytes = told->unknown ? 0 : told->reads[--told->read_count].bytes;
	told->dense = is_dense(call);
	told->scaled = call->simple && !told->unknown;
	if (told->scaled) {
		told->alpha = tfs_cublas_scalar(call->handle, call->alpha, call->scalar);
		told->beta = tfs_cublas_scalar(call->handle, call->beta, call->scalar);
	}
	tfs_use_shape(told, (uint64_t)(uint32_t)call->compute << 32 | call->a_transposed << 1 |
				    call->b_transposed);
	tfs_use_shape(told, (uint64_t)call->batch);
	tfs_use_shape(told, call->kind);
	told->repeats = tfs_cublas_settings(call->handle, told);
}

/* Are the scalars of a product with this result, computed so, of the size that tfs_cublas_scalar()
 * is asked for, and is the result of numbers? */
static bool is_simple(cublasComputeType_t compute, cudaDataType type)
{
	const bool number = type == CUDA_R_32F || type == CUDA_R_64F || type == CUDA_R_16F ||
			    type == CUDA_R_16BF;

	return number && compute != CUBLAS_COMPUTE_16F && compute != CUBLAS_COMPUTE_16F_PEDANTIC &&
	       compute != CUBLAS_COMPUTE_32I && compute != CUBLAS_COMPUTE_32I_PEDANTIC;
}

/* A product and the fields of its description. */
#define PRODUCT_HOOK(name, parameters, arguments, ...)                                             \
	TFS_COMPUTE_HOOK(cublasStatus_t, name, TFS_OP_COMPUTE, c, const struct tfs_gemm,           \
		tfs_cublas_note_gemm, parameters, arguments, handle, ta != CUBLAS_OP_N,            \
		__VA_ARGS__)

PRODUCT_HOOK(cublasSgemm_v2,
	(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
		const float *alpha, const float *a, int lda, const float *b, int ldb,
		const float *beta, float *c, int ldc),
	(handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, op.compute.beta, op.compute.output, ldc),
	tb != CUBLAS_OP_N, m, n, k, a, b, c, lda, ldb, ldc, 0, 0, 0, 1, 4, 4, 4, alpha, beta,
	CUDA_R_32F, .simple = true)
PRODUCT_HOOK(cublasDgemm_v2,
	(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
		const double *alpha, const double *a, int lda, const double *b, int ldb,
		const double *beta, double *c, int ldc),
	(handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, op.compute.beta, op.compute.output, ldc),
	tb != CUBLAS_OP_N, m, n, k, a, b, c, lda, ldb, ldc, 0, 0, 0, 1, 8, 8, 8, alpha, beta,
	CUDA_R_64F, .simple = true)
PRODUCT_HOOK(cublasSgemmStridedBatched,
	(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
		const float *alpha, const float *a, int lda, long long stride_a, const float *b,
		int ldb, long long stride_b, const float *beta, float *c, int ldc,
		long long stride_c, int batch),
	(handle, ta, tb, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, op.compute.beta,
		op.compute.output, ldc, stride_c, batch),
	tb != CUBLAS_OP_N, m, n, k, a, b, c, lda, ldb, ldc, stride_a, stride_b, stride_c, batch, 4,
	4, 4, alpha, beta, CUDA_R_32F, .simple = true)
PRODUCT_HOOK(cublasGemmEx,
	(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
		const void *alpha, const void *a, cudaDataType a_type, int lda, const void *b,
		cudaDataType b_type, int ldb, const void *beta, void *c, cudaDataType c_type,
		int ldc, cublasComputeType_t compute, cublasGemmAlgo_t algorithm),
	(handle, ta, tb, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, op.compute.beta,
		op.compute.output, c_type, ldc, compute, algorithm),
	tb != CUBLAS_OP_N, m, n, k, a, b, c, lda, ldb, ldc, 0, 0, 0, 1,
	tfs_cublas_type_bytes(a_type), tfs_cublas_type_bytes(b_type), tfs_cublas_type_bytes(c_type),
	alpha, beta, tfs_cublas_scalar_type(compute, c_type), (int)compute,
	.simple = is_simple(compute, c_type),
	.kind = (uint64_t)a_type << 48 | (uint64_t)b_type << 32 | (uint64_t)c_type << 16 |
		(uint16_t)algorithm)

/* As a product with one column; a transposed matrix is stored as k by m. */
PRODUCT_HOOK(cublasSgemv_v2,
	(cublasHandle_t handle, cublasOperation_t ta, int m, int n, const float *alpha,
		const float *a, int lda, const float *x, int incx, const float *beta, float *c,
		int incy),
	(handle, ta, m, n, alpha, a, lda, x, incx, op.compute.beta, op.compute.output, incy), false,
	ta == CUBLAS_OP_N ? m : n, 1, ta == CUBLAS_OP_N ? n : m, a, x, c, lda,
	ta == CUBLAS_OP_N ? n * incx : m * incx, ta == CUBLAS_OP_N ? m * incy : n * incy, 0, 0, 0,
	1, 4, 4, 4, alpha, beta, CUDA_R_32F, .simple = incx > 0 && incy == 1)

#define FUNCTIONS(X)                                                                               \
	X(cublasSgemm_v2, gemm)                                                                    \
	X(cublasDgemm_v2, gemm)                                                                    \
	X(cublasSgemmStridedBatched, gemm)                                                         \
	X(cublasGemmEx, gemm)                                                                      \
	X(cublasSgemv_v2, gemm)

FUNCTIONS(TFS_FUNCTION_ROW)
