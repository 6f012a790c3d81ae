/* SPDX-License-Identifier: MIT */
#include <cublasLt.h>

#include "shim/hooks/cublas.h"
#include "shim/resolve/direct.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cublaslt

/* An attribute of an opaque argument that decides the answer, with its size in bytes. */
struct part {
	uint8_t attribute, bytes;
};

static const struct part layout_parts[] = {{CUBLASLT_MATRIX_LAYOUT_TYPE, 4},
	{CUBLASLT_MATRIX_LAYOUT_ORDER, 4}, {CUBLASLT_MATRIX_LAYOUT_ROWS, 8},
	{CUBLASLT_MATRIX_LAYOUT_COLS, 8}, {CUBLASLT_MATRIX_LAYOUT_LD, 8},
	{CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 4}, {CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 8}};
static const struct part product_parts[] = {
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
static const struct part preference_parts[] = {{CUBLASLT_MATMUL_PREF_SEARCH_MODE, 4},
	{CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, 8},
	{CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, 4},
	{CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, 4},
	{CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, 4},
	{CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, 4},
	{CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, 4}, {CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT, 4},
	{CUBLASLT_MATMUL_PREF_IMPL_MASK, 8}};

#define COUNT(parts) (sizeof(parts) / sizeof((parts)[0]))

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

/* What this version of the library does not have counts as 0; of no object nothing is asked. */
static uint64_t mix_layout(uint64_t hash, cublasLtMatrixLayout_t layout)
{
	for (size_t i = 0; layout && i < COUNT(layout_parts); i++) {
		const struct part part = layout_parts[i];
		uint64_t value = 0;
		size_t written = 0;

		TFS_DIRECT(cublasLtMatrixLayoutGetAttribute)
		(layout, (cublasLtMatrixLayoutAttribute_t)part.attribute, &value, part.bytes,
			&written);
		hash = mix(hash, value);
	}
	return hash;
}

static uint64_t mix_product(uint64_t hash, cublasLtMatmulDesc_t product)
{
	for (size_t i = 0; product && i < COUNT(product_parts); i++) {
		const struct part part = product_parts[i];
		uint64_t value = 0;
		size_t written = 0;

		TFS_DIRECT(cublasLtMatmulDescGetAttribute)
		(product, (cublasLtMatmulDescAttributes_t)part.attribute, &value, part.bytes,
			&written);
		hash = mix(hash, value);
	}
	return hash;
}

static uint64_t mix_preference(uint64_t hash, cublasLtMatmulPreference_t preference)
{
	for (size_t i = 0; preference && i < COUNT(preference_parts); i++) {
		const struct part part = preference_parts[i];
		uint64_t value = 0;
		size_t written = 0;

		TFS_DIRECT(cublasLtMatmulPreferenceGetAttribute)
		(preference, (cublasLtMatmulPreferenceAttributes_t)part.attribute, &value,
			part.bytes, &written);
		hash = mix(hash, value);
	}
	return hash;
}

struct question {
	cublasLtHandle_t handle; /* of a device */
	cublasLtMatmulDesc_t product;
	cublasLtMatrixLayout_t layouts[4];
	cublasLtMatmulPreference_t preference;
	int answers;
};

/* 0 where it cannot be told. */
static uint64_t hash_of(const struct question *question)
{
	uint64_t hash = mix(mix(1, (uint64_t)question->answers), (uintptr_t)question->handle);

	if (!TFS_DIRECT(cublasLtMatrixLayoutGetAttribute) ||
		!TFS_DIRECT(cublasLtMatmulDescGetAttribute) ||
		!TFS_DIRECT(cublasLtMatmulPreferenceGetAttribute))
		return 0;
	for (unsigned i = 0; i < COUNT(question->layouts); i++)
		hash = mix_layout(hash, question->layouts[i]);
	hash = mix_preference(mix_product(hash, question->product), question->preference);
	return hash ? hash : 1;
}

TFS_HOOK(cublasStatus_t, cublasLtMatmulAlgoGetHeuristic,
	(cublasLtHandle_t handle, cublasLtMatmulDesc_t product, cublasLtMatrixLayout_t a,
		cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
		cublasLtMatmulPreference_t preference, int wanted,
		cublasLtMatmulHeuristicResult_t answers[], int *count))
{
	struct tfs_frame frame = TFS_ENTER(cublasLtMatmulAlgoGetHeuristic);
	const cublasStatus_t status = TFS_REAL(cublasLtMatmulAlgoGetHeuristic)(
		handle, product, a, b, c, d, preference, wanted, answers, count);

	if (TFS_END(&frame, status, 0)) {
		const struct question question = {
			handle, product, {a, b, c, d}, preference, wanted};
		struct tfs_details details;

		tfs_details_init(&details, TFS_NO_STREAM);
		if (status == CUBLAS_STATUS_SUCCESS)
			tfs_put_attribute(&details, TFS_ATTRIBUTE_question, hash_of(&question));
		tfs_hook_details(&frame, &details);
	}
	return TFS_LEAVE(&frame), status;
}

#define FUNCTIONS(X) X(cublasLtMatmulAlgoGetHeuristic, workspace_query)

FUNCTIONS(TFS_FUNCTION_ROW)
