/* SPDX-License-Identifier: MIT */
#include "tests/sim/cublas/cublaslt_desc.h"

#include <stdlib.h>
#include <string.h>

/* Sizes of the attributes, indexed by their numbers; 0 means there is none. */
static const unsigned char layout_sizes[] = {4, 4, 8, 8, 8, 4, 8, 8};
static const unsigned char operation_sizes[] = {
	4, 4, 4, 4, 4, 4, 4, 4, 8, 0, 8, 8, 8, 8, 8, 4, 0, 8, 8, 8, 8, 8, 4, 8, 8, 1, 4};
static const unsigned char preference_sizes[] = {4, 8, 0, 4, 0, 4, 4, 4, 4, 4, 0, 0, 8};

struct table {
	const unsigned char *sizes;
	int count, words;
};

static const struct table layouts = {layout_sizes, sizeof(layout_sizes), 8};
static const struct table operations = {operation_sizes, sizeof(operation_sizes), 32};
/* What has a number above the last word is accepted and forgotten. */
static const struct table preferences = {preference_sizes, sizeof(preference_sizes), 8};

static int word(const struct table *t, int attribute)
{
	if (attribute < 0 || attribute >= t->count || !t->sizes[attribute])
		return -1;
	return attribute % t->words;
}

static cublasStatus_t set(
	const struct table *t, uint64_t *data, int attribute, const void *buf, size_t size)
{
	int w = word(t, attribute);

	if (!data || !buf || w < 0 || size < t->sizes[attribute])
		return CUBLAS_STATUS_INVALID_VALUE;
	/* Preferences about alignment have nothing to decide here, and no room. */
	if (attribute >= t->words)
		return CUBLAS_STATUS_SUCCESS;
	data[w] = 0;
	memcpy(&data[w], buf, t->sizes[attribute]);
	return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t get(const struct table *t, const uint64_t *data, int attribute, void *buf,
	size_t size, size_t *written)
{
	int w = word(t, attribute);

	if (!data || w < 0)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (written)
		*written = t->sizes[attribute];
	if (size == 0 && written)
		return CUBLAS_STATUS_SUCCESS;
	if (!buf || size < t->sizes[attribute])
		return CUBLAS_STATUS_INVALID_VALUE;
	memcpy(buf, &data[w], t->sizes[attribute]);
	return CUBLAS_STATUS_SUCCESS;
}

TFS_LT_API cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t matLayout,
	size_t size, cudaDataType type, uint64_t rows, uint64_t cols, int64_t ld)
{
	if (!matLayout || size < sizeof(*matLayout))
		return CUBLAS_STATUS_INVALID_VALUE;
	memset(matLayout, 0, sizeof(*matLayout));
	matLayout->data[CUBLASLT_MATRIX_LAYOUT_TYPE] = (uint64_t)type;
	matLayout->data[CUBLASLT_MATRIX_LAYOUT_ROWS] = rows;
	matLayout->data[CUBLASLT_MATRIX_LAYOUT_COLS] = cols;
	matLayout->data[CUBLASLT_MATRIX_LAYOUT_LD] = (uint64_t)ld;
	matLayout->data[CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT] = 1;
	return CUBLAS_STATUS_SUCCESS;
}

TFS_LT_API cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *matLayout,
	cudaDataType type, uint64_t rows, uint64_t cols, int64_t ld)
{
	if (!matLayout)
		return CUBLAS_STATUS_INVALID_VALUE;
	*matLayout = malloc(sizeof(**matLayout));
	if (!*matLayout)
		return CUBLAS_STATUS_ALLOC_FAILED;
	return cublasLtMatrixLayoutInit_internal(
		*matLayout, sizeof(**matLayout), type, rows, cols, ld);
}

TFS_LT_API cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t matLayout)
{
	free(matLayout);
	return CUBLAS_STATUS_SUCCESS;
}

TFS_LT_API cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t matLayout,
	cublasLtMatrixLayoutAttribute_t attr, const void *buf, size_t sizeInBytes)
{
	return set(&layouts, matLayout ? matLayout->data : NULL, (int)attr, buf, sizeInBytes);
}

TFS_LT_API cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t matLayout,
	cublasLtMatrixLayoutAttribute_t attr, void *buf, size_t sizeInBytes, size_t *sizeWritten)
{
	return get(&layouts, matLayout ? matLayout->data : NULL, (int)attr, buf, sizeInBytes,
		sizeWritten);
}

TFS_LT_API cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t matmulDesc,
	size_t size, cublasComputeType_t computeType, cudaDataType_t scaleType)
{
	if (!matmulDesc || size < sizeof(*matmulDesc))
		return CUBLAS_STATUS_INVALID_VALUE;
	memset(matmulDesc, 0, sizeof(*matmulDesc));
	matmulDesc->data[CUBLASLT_MATMUL_DESC_COMPUTE_TYPE] = (uint64_t)computeType;
	matmulDesc->data[CUBLASLT_MATMUL_DESC_SCALE_TYPE] = (uint64_t)scaleType;
	matmulDesc->data[CUBLASLT_MATMUL_DESC_EPILOGUE] = CUBLASLT_EPILOGUE_DEFAULT;
	matmulDesc->data[CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE] = 0xffffffffu;
	matmulDesc->data[CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE] = 0xffffffffu;
	return CUBLAS_STATUS_SUCCESS;
}

TFS_LT_API cublasStatus_t cublasLtMatmulDescCreate(
	cublasLtMatmulDesc_t *matmulDesc, cublasComputeType_t computeType, cudaDataType_t scaleType)
{
	if (!matmulDesc)
		return CUBLAS_STATUS_INVALID_VALUE;
	*matmulDesc = malloc(sizeof(**matmulDesc));
	if (!*matmulDesc)
		return CUBLAS_STATUS_ALLOC_FAILED;
	return cublasLtMatmulDescInit_internal(
		*matmulDesc, sizeof(**matmulDesc), computeType, scaleType);
}

TFS_LT_API cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t matmulDesc)
{
	free(matmulDesc);
	return CUBLAS_STATUS_SUCCESS;
}

TFS_LT_API cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t matmulDesc,
	cublasLtMatmulDescAttributes_t attr, const void *buf, size_t sizeInBytes)
{
	return set(&operations, matmulDesc ? matmulDesc->data : NULL, (int)attr, buf, sizeInBytes);
}

TFS_LT_API cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t matmulDesc,
	cublasLtMatmulDescAttributes_t attr, void *buf, size_t sizeInBytes, size_t *sizeWritten)
{
	return get(&operations, matmulDesc ? matmulDesc->data : NULL, (int)attr, buf, sizeInBytes,
		sizeWritten);
}

TFS_LT_API cublasStatus_t cublasLtMatmulPreferenceInit_internal(
	cublasLtMatmulPreference_t pref, size_t size)
{
	if (!pref || size < sizeof(*pref))
		return CUBLAS_STATUS_INVALID_VALUE;
	memset(pref, 0, sizeof(*pref));
	return CUBLAS_STATUS_SUCCESS;
}

TFS_LT_API cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *pref)
{
	if (!pref)
		return CUBLAS_STATUS_INVALID_VALUE;
	*pref = malloc(sizeof(**pref));
	if (!*pref)
		return CUBLAS_STATUS_ALLOC_FAILED;
	return cublasLtMatmulPreferenceInit_internal(*pref, sizeof(**pref));
}

TFS_LT_API cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t pref)
{
	free(pref);
	return CUBLAS_STATUS_SUCCESS;
}

TFS_LT_API cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t pref,
	cublasLtMatmulPreferenceAttributes_t attr, const void *buf, size_t sizeInBytes)
{
	return set(&preferences, pref ? pref->data : NULL, (int)attr, buf, sizeInBytes);
}

TFS_LT_API cublasStatus_t cublasLtMatmulPreferenceGetAttribute(cublasLtMatmulPreference_t pref,
	cublasLtMatmulPreferenceAttributes_t attr, void *buf, size_t sizeInBytes,
	size_t *sizeWritten)
{
	return get(
		&preferences, pref ? pref->data : NULL, (int)attr, buf, sizeInBytes, sizeWritten);
}

struct tfs_lt_layout tfs_lt_layout_read(cublasLtMatrixLayout_t layout)
{
	const uint64_t *d = layout->data;
	struct tfs_lt_layout l = {
		.type = (cudaDataType)d[CUBLASLT_MATRIX_LAYOUT_TYPE],
		.row_major = d[CUBLASLT_MATRIX_LAYOUT_ORDER] == CUBLASLT_ORDER_ROW,
		.rows = (int64_t)d[CUBLASLT_MATRIX_LAYOUT_ROWS],
		.columns = (int64_t)d[CUBLASLT_MATRIX_LAYOUT_COLS],
		.ld = (int64_t)d[CUBLASLT_MATRIX_LAYOUT_LD],
		.stride = (int64_t)d[CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET],
		.batch = (int)(uint32_t)d[CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT],
	};

	/* Tiled orders are none of ours: a type that is not supported says so. */
	if (d[CUBLASLT_MATRIX_LAYOUT_ORDER] > CUBLASLT_ORDER_ROW)
		l.type = CUDA_C_4U;
	return l;
}

struct tfs_lt_operation tfs_lt_operation_read(cublasLtMatmulDesc_t desc)
{
	const uint64_t *d = desc->data;
	struct tfs_lt_operation o = {
		.compute = (cublasComputeType_t)d[CUBLASLT_MATMUL_DESC_COMPUTE_TYPE],
		.scale = (cudaDataType)d[CUBLASLT_MATMUL_DESC_SCALE_TYPE],
		.pointers = (int)d[CUBLASLT_MATMUL_DESC_POINTER_MODE],
		.ta = (cublasOperation_t)d[CUBLASLT_MATMUL_DESC_TRANSA],
		.tb = (cublasOperation_t)d[CUBLASLT_MATMUL_DESC_TRANSB],
		.epilogue = (unsigned)d[CUBLASLT_MATMUL_DESC_EPILOGUE],
		.bias = (void *)(uintptr_t)d[CUBLASLT_MATMUL_DESC_BIAS_POINTER],
		.aux = (void *)(uintptr_t)d[CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER],
		.bias_type = (cudaDataType)(int)(uint32_t)d[CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE],
		.aux_type =
			(cudaDataType)(int)(uint32_t)d[CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE],
		.bias_stride = (int64_t)d[CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE],
		.aux_ld = (int64_t)d[CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD],
		.aux_stride = (int64_t)d[CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE],
	};

	return o;
}

uint64_t tfs_lt_workspace_limit(cublasLtMatmulPreference_t preference)
{
	return preference ? preference->data[CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES] : 0;
}
