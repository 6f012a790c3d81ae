/* SPDX-License-Identifier: MIT */
#include "tests/sim/cusparse/cusparse_desc.h"

/* A dense operand: the place of (i, j) is i * row_step + j * col_step. */
struct dense {
	void *values;
	int64_t rows, cols, row_step, col_step;
};

/* alpha and beta: read at the call, or by the device when they live there. */
struct scalar {
	const void *where; /* NULL: value */
	double value;
};

/* c = alpha * op(a) * b + beta * c. */
struct product {
	struct cusparseSpMatDescr a;
	bool transposed;
	struct dense b, c;
	struct scalar alpha, beta;
};

static int64_t integer(const void *array, bool wide, int64_t i)
{
	return wide ? ((const int64_t *)array)[i] : ((const int32_t *)array)[i];
}

#define RUN(name, T)                                                                               \
	static void name(void *args)                                                               \
	{                                                                                          \
		const struct product *p = args;                                                    \
		const struct cusparseSpMatDescr *a = &p->a;                                        \
		const struct dense *b = &p->b, *c = &p->c;                                         \
		T alpha = p->alpha.where ? *(const T *)p->alpha.where : (T)p->alpha.value;         \
		T beta = p->beta.where ? *(const T *)p->beta.where : (T)p->beta.value;             \
		T *to = c->values;                                                                 \
                                                                                                   \
		for (int64_t i = 0; i < c->rows; i++)                                              \
			for (int64_t j = 0; j < c->cols; j++) {                                    \
				T *at = to + i * c->row_step + j * c->col_step;                    \
                                                                                                   \
				*at = beta == 0 ? 0 : beta * *at;                                  \
			}                                                                          \
		for (int64_t r = 0; r < a->rows; r++) {                                            \
			int64_t k = integer(a->offsets, a->wide_offsets, r) - a->base;             \
			int64_t end = integer(a->offsets, a->wide_offsets, r + 1) - a->base;       \
                                                                                                   \
			for (; k < end; k++) {                                                     \
				int64_t col = integer(a->indices, a->wide_indices, k) - a->base;   \
				int64_t i = p->transposed ? col : r;                               \
				const T *from = (const T *)b->values +                             \
						(p->transposed ? r : col) * b->row_step;           \
				T v = alpha * ((const T *)a->values)[k];                           \
                                                                                                   \
				for (int64_t j = 0; j < c->cols; j++)                              \
					to[i * c->row_step + j * c->col_step] +=                   \
						v * from[j * b->col_step];                         \
			}                                                                          \
		}                                                                                  \
	}

RUN(run_float, float)
RUN(run_double, double)

static struct scalar scalar(cusparseHandle_t handle, cudaDataType type, const void *where)
{
	if (handle->pointers == CUSPARSE_POINTER_MODE_DEVICE)
		return (struct scalar){.where = where};
	return (struct scalar){.value = type == CUDA_R_64F ? *(const double *)where
							   : (double)*(const float *)where};
}

static cusparseStatus_t submit(cusparseHandle_t handle, cusparseOperation_t op, const void *alpha,
	const void *beta, cudaDataType type, const char *name, struct product *p)
{
	struct tfsim_work w = {.kind = TFSIM_KERNEL, .name = name};
	uint64_t nonzeros = (uint64_t)p->a.nonzeros, columns = (uint64_t)p->c.cols;
	uint64_t size = type == CUDA_R_64F ? 8 : 4;

	p->transposed = op != CUSPARSE_OPERATION_NON_TRANSPOSE;
	if (p->c.rows != (p->transposed ? p->a.cols : p->a.rows) ||
		p->b.rows != (p->transposed ? p->a.rows : p->a.cols) || p->b.cols != p->c.cols)
		return CUSPARSE_STATUS_INVALID_VALUE;
	p->alpha = scalar(handle, type, alpha);
	p->beta = scalar(handle, type, beta);
	w.run = type == CUDA_R_64F ? run_double : run_float;
	w.args = p;
	w.args_size = sizeof(*p);
	w.cost_ns = tfsim_cost_math(size == 8 ? TFSIM_DOUBLE : TFSIM_SINGLE,
		nonzeros * (size + (p->a.wide_indices ? 8 : 4)) +
			(uint64_t)(p->b.rows + p->c.rows) * columns * size,
		2 * nonzeros * columns);
	w.grid = (dim3){(unsigned)((uint64_t)p->a.rows / 256 + 1), 1, 1};
	w.block = (dim3){256, 1, 1};
	return tfsim_enqueue(handle->stream, &w) ? CUSPARSE_STATUS_EXECUTION_FAILED
						 : CUSPARSE_STATUS_SUCCESS;
}

/* All of one type, float or double: other mixtures are not computed. */
static bool same_types(cudaDataType a, cudaDataType b, cudaDataType c, cudaDataType compute)
{
	return (a == CUDA_R_32F || a == CUDA_R_64F) && a == b && a == c && a == compute;
}

static struct dense vector(cusparseConstDnVecDescr_t v)
{
	return (struct dense){v->values, v->size, 1, 1, 0};
}

TFS_SPARSE_API cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t opA,
	const void *alpha, cusparseConstSpMatDescr_t matA, cusparseConstDnVecDescr_t vecX,
	const void *beta, cusparseDnVecDescr_t vecY, cudaDataType computeType,
	cusparseSpMVAlg_t alg, void *externalBuffer)
{
	struct product p;

	(void)alg, (void)externalBuffer;
	if (!handle)
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	if (!alpha || !matA || !vecX || !beta || !vecY)
		return CUSPARSE_STATUS_INVALID_VALUE;
	if (!same_types(matA->type, vecX->type, vecY->type, computeType)) {
		tfsim_not_supported("cusparseSpMV of this type");
		return CUSPARSE_STATUS_NOT_SUPPORTED;
	}
	p = (struct product){.a = *matA, .b = vector(vecX), .c = vector(vecY)};
	return submit(handle, opA, alpha, beta, computeType, "tfsim_csr_mv", &p);
}

/* The simulation needs no workspace. */
TFS_SPARSE_API cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle,
	cusparseOperation_t opA, const void *alpha, cusparseConstSpMatDescr_t matA,
	cusparseConstDnVecDescr_t vecX, const void *beta, cusparseDnVecDescr_t vecY,
	cudaDataType computeType, cusparseSpMVAlg_t alg, size_t *bufferSize)
{
	(void)opA, (void)computeType, (void)alg;
	if (!handle)
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	if (!alpha || !matA || !vecX || !beta || !vecY || !bufferSize)
		return CUSPARSE_STATUS_INVALID_VALUE;
	*bufferSize = 0;
	return CUSPARSE_STATUS_SUCCESS;
}

static struct dense matrix(cusparseConstDnMatDescr_t m, bool transposed)
{
	bool by_row = m->order == CUSPARSE_ORDER_ROW;
	struct dense d = {m->values, m->rows, m->cols, by_row ? m->ld : 1, by_row ? 1 : m->ld};

	if (transposed)
		return (struct dense){d.values, d.cols, d.rows, d.col_step, d.row_step};
	return d;
}

TFS_SPARSE_API cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t opA,
	cusparseOperation_t opB, const void *alpha, cusparseConstSpMatDescr_t matA,
	cusparseConstDnMatDescr_t matB, const void *beta, cusparseDnMatDescr_t matC,
	cudaDataType computeType, cusparseSpMMAlg_t alg, void *externalBuffer)
{
	struct product p;

	(void)alg, (void)externalBuffer;
	if (!handle)
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	if (!alpha || !matA || !matB || !beta || !matC)
		return CUSPARSE_STATUS_INVALID_VALUE;
	if (!same_types(matA->type, matB->type, matC->type, computeType)) {
		tfsim_not_supported("cusparseSpMM of this type");
		return CUSPARSE_STATUS_NOT_SUPPORTED;
	}
	p = (struct product){.a = *matA,
		.b = matrix(matB, opB != CUSPARSE_OPERATION_NON_TRANSPOSE),
		.c = matrix(matC, false)};
	return submit(handle, opA, alpha, beta, computeType, "tfsim_csr_mm", &p);
}

TFS_SPARSE_API cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle,
	cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
	cusparseConstSpMatDescr_t matA, cusparseConstDnMatDescr_t matB, const void *beta,
	cusparseDnMatDescr_t matC, cudaDataType computeType, cusparseSpMMAlg_t alg,
	size_t *bufferSize)
{
	(void)opA, (void)opB, (void)computeType, (void)alg;
	if (!handle)
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	if (!alpha || !matA || !matB || !beta || !matC || !bufferSize)
		return CUSPARSE_STATUS_INVALID_VALUE;
	*bufferSize = 0;
	return CUSPARSE_STATUS_SUCCESS;
}
