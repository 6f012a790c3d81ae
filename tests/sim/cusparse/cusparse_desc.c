/* SPDX-License-Identifier: MIT */
#include "tests/sim/cusparse/cusparse_desc.h"

#include <stdlib.h>
#include <string.h>

/* A copy in memory of its own. */
static cusparseStatus_t make(void *out, const void *contents, size_t size)
{
	void *made = malloc(size);

	if (!made)
		return CUSPARSE_STATUS_ALLOC_FAILED;
	memcpy(made, contents, size);
	*(void **)out = made;
	return CUSPARSE_STATUS_SUCCESS;
}

TFS_SPARSE_API cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t *descrA)
{
	struct cusparseMatDescr d = {CUSPARSE_MATRIX_TYPE_GENERAL, CUSPARSE_FILL_MODE_LOWER,
		CUSPARSE_DIAG_TYPE_NON_UNIT, CUSPARSE_INDEX_BASE_ZERO};

	return descrA ? make(descrA, &d, sizeof(d)) : CUSPARSE_STATUS_INVALID_VALUE;
}

TFS_SPARSE_API cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t descrA)
{
	free(descrA);
	return CUSPARSE_STATUS_SUCCESS;
}

/* Both functions of a member of the description. */
#define MEMBER(part, T, member, highest)                                                           \
	TFS_SPARSE_API cusparseStatus_t cusparseSet##part(cusparseMatDescr_t descrA, T value)      \
	{                                                                                          \
		if (!descrA || (int)value < 0 || (int)value > (int)(highest))                      \
			return CUSPARSE_STATUS_INVALID_VALUE;                                      \
		descrA->member = value;                                                            \
		return CUSPARSE_STATUS_SUCCESS;                                                    \
	}                                                                                          \
	TFS_SPARSE_API T cusparseGet##part(const cusparseMatDescr_t descrA)                        \
	{                                                                                          \
		return descrA->member;                                                             \
	}

MEMBER(MatType, cusparseMatrixType_t, type, CUSPARSE_MATRIX_TYPE_TRIANGULAR)
MEMBER(MatFillMode, cusparseFillMode_t, fill, CUSPARSE_FILL_MODE_UPPER)
MEMBER(MatDiagType, cusparseDiagType_t, diagonal, CUSPARSE_DIAG_TYPE_UNIT)
MEMBER(MatIndexBase, cusparseIndexBase_t, base, CUSPARSE_INDEX_BASE_ONE)

TFS_SPARSE_API cusparseStatus_t cusparseCreateConstCsr(cusparseConstSpMatDescr_t *spMatDescr,
	int64_t rows, int64_t cols, int64_t nnz, const void *csrRowOffsets, const void *csrColInd,
	const void *csrValues, cusparseIndexType_t csrRowOffsetsType,
	cusparseIndexType_t csrColIndType, cusparseIndexBase_t idxBase, cudaDataType valueType)
{
	struct cusparseSpMatDescr d = {.rows = rows,
		.cols = cols,
		.nonzeros = nnz,
		.offsets = csrRowOffsets,
		.indices = csrColInd,
		.values = csrValues,
		.wide_offsets = csrRowOffsetsType == CUSPARSE_INDEX_64I,
		.wide_indices = csrColIndType == CUSPARSE_INDEX_64I,
		.base = idxBase == CUSPARSE_INDEX_BASE_ONE,
		.type = valueType};

	if (!spMatDescr || rows < 0 || cols < 0 || nnz < 0 || (rows && !csrRowOffsets) ||
		(nnz && (!csrColInd || !csrValues)))
		return CUSPARSE_STATUS_INVALID_VALUE;
	if (csrRowOffsetsType == CUSPARSE_INDEX_16U || csrColIndType == CUSPARSE_INDEX_16U)
		return CUSPARSE_STATUS_NOT_SUPPORTED;
	return make(spMatDescr, &d, sizeof(d));
}

TFS_SPARSE_API cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t *spMatDescr, int64_t rows,
	int64_t cols, int64_t nnz, void *csrRowOffsets, void *csrColInd, void *csrValues,
	cusparseIndexType_t csrRowOffsetsType, cusparseIndexType_t csrColIndType,
	cusparseIndexBase_t idxBase, cudaDataType valueType)
{
	return cusparseCreateConstCsr((cusparseConstSpMatDescr_t *)spMatDescr, rows, cols, nnz,
		csrRowOffsets, csrColInd, csrValues, csrRowOffsetsType, csrColIndType, idxBase,
		valueType);
}

TFS_SPARSE_API cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t spMatDescr)
{
	free((void *)spMatDescr);
	return CUSPARSE_STATUS_SUCCESS;
}

TFS_SPARSE_API cusparseStatus_t cusparseCreateDnVec(
	cusparseDnVecDescr_t *dnVecDescr, int64_t size, void *values, cudaDataType valueType)
{
	struct cusparseDnVecDescr d = {size, values, valueType};

	if (!dnVecDescr || size < 0 || (size && !values))
		return CUSPARSE_STATUS_INVALID_VALUE;
	return make(dnVecDescr, &d, sizeof(d));
}

TFS_SPARSE_API cusparseStatus_t cusparseCreateConstDnVec(cusparseConstDnVecDescr_t *dnVecDescr,
	int64_t size, const void *values, cudaDataType valueType)
{
	return cusparseCreateDnVec(
		(cusparseDnVecDescr_t *)dnVecDescr, size, (void *)values, valueType);
}

TFS_SPARSE_API cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t dnVecDescr)
{
	free((void *)dnVecDescr);
	return CUSPARSE_STATUS_SUCCESS;
}

TFS_SPARSE_API cusparseStatus_t cusparseDnVecGetValues(
	cusparseDnVecDescr_t dnVecDescr, void **values)
{
	if (!dnVecDescr || !values)
		return CUSPARSE_STATUS_INVALID_VALUE;
	*values = dnVecDescr->values;
	return CUSPARSE_STATUS_SUCCESS;
}

TFS_SPARSE_API cusparseStatus_t cusparseDnVecSetValues(
	cusparseDnVecDescr_t dnVecDescr, void *values)
{
	if (!dnVecDescr || !values)
		return CUSPARSE_STATUS_INVALID_VALUE;
	dnVecDescr->values = values;
	return CUSPARSE_STATUS_SUCCESS;
}

TFS_SPARSE_API cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t *dnMatDescr, int64_t rows,
	int64_t cols, int64_t ld, void *values, cudaDataType valueType, cusparseOrder_t order)
{
	struct cusparseDnMatDescr d = {rows, cols, ld, values, valueType, order};
	int64_t shortest = order == CUSPARSE_ORDER_ROW ? cols : rows;

	if (!dnMatDescr || rows < 0 || cols < 0 || ld < shortest || (rows && cols && !values))
		return CUSPARSE_STATUS_INVALID_VALUE;
	return make(dnMatDescr, &d, sizeof(d));
}

TFS_SPARSE_API cusparseStatus_t cusparseCreateConstDnMat(cusparseConstDnMatDescr_t *dnMatDescr,
	int64_t rows, int64_t cols, int64_t ld, const void *values, cudaDataType valueType,
	cusparseOrder_t order)
{
	return cusparseCreateDnMat((cusparseDnMatDescr_t *)dnMatDescr, rows, cols, ld,
		(void *)values, valueType, order);
}

TFS_SPARSE_API cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t dnMatDescr)
{
	free((void *)dnMatDescr);
	return CUSPARSE_STATUS_SUCCESS;
}
