/* SPDX-License-Identifier: MIT */
#include "shim/state/product.h"

#include <string.h>

#include "shim/base/driver_api.h"
#include "shim/resolve/direct.h"

#define COUNT(parts) (sizeof(parts) / sizeof((parts)[0]))

static const struct tfs_product_part layout_parts[] = {{CUBLASLT_MATRIX_LAYOUT_TYPE, 4},
	{CUBLASLT_MATRIX_LAYOUT_ORDER, 4}, {CUBLASLT_MATRIX_LAYOUT_ROWS, 8},
	{CUBLASLT_MATRIX_LAYOUT_COLS, 8}, {CUBLASLT_MATRIX_LAYOUT_LD, 8},
	{CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 4}, {CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 8},
	{CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, 8}, {TFS_LAYOUT_BATCH_MODE, 4}};
static const struct tfs_product_part product_parts[] = {
	{CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, 4},
	{CUBLASLT_MATMUL_DESC_SCALE_TYPE, 4},
	{CUBLASLT_MATMUL_DESC_POINTER_MODE, 4},
	{CUBLASLT_MATMUL_DESC_TRANSA, 4},
	{CUBLASLT_MATMUL_DESC_TRANSB, 4},
	{CUBLASLT_MATMUL_DESC_TRANSC, 4},
	{CUBLASLT_MATMUL_DESC_FILL_MODE, 4},
	{CUBLASLT_MATMUL_DESC_EPILOGUE, 4},
	{CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, 8},
	{CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, 8},
	{CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, 8},
	{CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, 4},
	{CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, 4},
	{CUBLASLT_MATMUL_DESC_FAST_ACCUM, 1},
	{CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, 4},
	{CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE, 8},
#if CUBLAS_VERSION >= 120800
	{CUBLASLT_MATMUL_DESC_A_SCALE_MODE, 4},
	{CUBLASLT_MATMUL_DESC_B_SCALE_MODE, 4},
	{CUBLASLT_MATMUL_DESC_C_SCALE_MODE, 4},
	{CUBLASLT_MATMUL_DESC_D_SCALE_MODE, 4},
	{CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE, 4},
	{CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE, 4},
#endif
};

const struct tfs_product_part *tfs_product_parts(size_t *out_count)
{
	*out_count = COUNT(product_parts);
	return product_parts;
}

bool tfs_product_readable(void)
{
	return TFS_DIRECT(cublasLtMatrixLayoutGetAttribute) &&
	       TFS_DIRECT(cublasLtMatmulDescGetAttribute);
}

uint64_t tfs_product_of_layout(
	cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute, size_t bytes)
{
	uint64_t value = 0;
	size_t written = 0;

	return TFS_DIRECT(cublasLtMatrixLayoutGetAttribute)(
		       layout, attribute, &value, bytes, &written) == CUBLAS_STATUS_SUCCESS
		       ? value
		       : 0;
}

uint64_t tfs_product_of(
	cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t attribute, size_t bytes)
{
	uint64_t value = 0;
	size_t written = 0;

	return TFS_DIRECT(cublasLtMatmulDescGetAttribute)(
		       product, attribute, &value, bytes, &written) == CUBLAS_STATUS_SUCCESS
		       ? value
		       : 0;
}

uint64_t tfs_product_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

/* What this version of the library does not have counts as 0; of no object nothing is asked. */
uint64_t tfs_product_mix_layout(uint64_t hash, cublasLtMatrixLayout_t layout)
{
	for (size_t i = 0; layout && i < COUNT(layout_parts); i++)
		hash = tfs_product_mix(
			hash, tfs_product_of_layout(layout,
				      (cublasLtMatrixLayoutAttribute_t)layout_parts[i].attribute,
				      layout_parts[i].bytes));
	return hash;
}

uint64_t tfs_product_mix_product(uint64_t hash, cublasLtMatmulDesc_t product)
{
	for (size_t i = 0; product && i < COUNT(product_parts); i++)
		hash = tfs_product_mix(
			hash, tfs_product_of(product,
				      (cublasLtMatmulDescAttributes_t)product_parts[i].attribute,
				      product_parts[i].bytes));
	return hash;
}

bool tfs_product_adds(const struct tfs_product_call *call)
{
	const uint64_t mode = tfs_product_of(call->product, CUBLASLT_MATMUL_DESC_POINTER_MODE, 4);
	const uint64_t type = tfs_product_of(call->product, CUBLASLT_MATMUL_DESC_SCALE_TYPE, 4);

	if (mode != CUBLASLT_POINTER_MODE_HOST || !call->beta)
		return true;
	if (type == CUDA_R_64F)
		return *(const double *)call->beta != 0;
	return type != CUDA_R_32F || *(const float *)call->beta != 0;
}

uint32_t tfs_product_aligned(const void *address)
{
	return 1u << __builtin_ctzll((uintptr_t)address | 256);
}

/* Which of several handles of a device is used does not matter. */
static uint64_t mix_device(uint64_t hash)
{
	CUdevice device = 0;

	return !TFS_DIRECT(cuCtxGetDevice) || TFS_DIRECT(cuCtxGetDevice)(&device) != CUDA_SUCCESS
		       ? hash
		       : tfs_product_mix(hash, (uint64_t)device);
}

static uint64_t mix_algorithm(uint64_t hash, const cublasLtMatmulAlgo_t *algorithm)
{
	uint64_t words[sizeof(*algorithm) / sizeof(uint64_t)];

	if (!algorithm)
		return hash;
	memcpy(words, algorithm, sizeof(words));
	for (size_t i = 0; i < COUNT(words); i++)
		hash = tfs_product_mix(hash, words[i]);
	return hash;
}

/* What lacks an argument cuBLASLt refuses: nothing of it is looked at. C may be missing. */
static bool is_complete(const struct tfs_product_call *call)
{
	bool complete = call->handle && call->product && call->alpha && call->beta;

	for (unsigned i = 0; i < COUNT(call->layouts); i++)
		complete = complete && call->layouts[i] && (call->matrices[i] || i == 2);
	return complete;
}

uint64_t tfs_product_question(struct tfs_product_call *call)
{
	uint64_t hash = tfs_product_mix(2, call->workspace_bytes);

	if (call->question || !is_complete(call) || !tfs_product_readable())
		return call->question;
	for (unsigned i = 0; i < COUNT(call->layouts); i++) {
		hash = tfs_product_mix_layout(hash, call->layouts[i]);
		hash = tfs_product_mix(hash, tfs_product_aligned(call->matrices[i]));
	}
	hash = tfs_product_mix(hash, call->matrices[2] == call->matrices[3]);
	hash = tfs_product_mix(hash, tfs_product_adds(call));
	hash = mix_algorithm(tfs_product_mix_product(hash, call->product), call->algorithm);
	hash = mix_device(hash);
	call->question = hash ? hash : 1;
	return call->question;
}
