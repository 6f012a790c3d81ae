/* SPDX-License-Identifier: MIT */
#include <cublasLt.h>

#include "shim/hooks/cublas/cublas.h"
#include "shim/resolve/direct.h"
#include "shim/state/product.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cublaslt

static const struct tfs_product_part preference_parts[] = {{CUBLASLT_MATMUL_PREF_SEARCH_MODE, 4},
	{CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, 8},
	{CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, 4},
	{CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, 4},
	{CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, 4},
	{CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, 4},
	{CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, 4}, {CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT, 4},
	{CUBLASLT_MATMUL_PREF_IMPL_MASK, 8}};

#define COUNT(parts) (sizeof(parts) / sizeof((parts)[0]))

static uint64_t mix_preference(uint64_t hash, cublasLtMatmulPreference_t preference)
{
	for (size_t i = 0; preference && i < COUNT(preference_parts); i++) {
		const struct tfs_product_part part = preference_parts[i];
		uint64_t value = 0;
		size_t written = 0;

		TFS_DIRECT(cublasLtMatmulPreferenceGetAttribute)
		(preference, (cublasLtMatmulPreferenceAttributes_t)part.attribute, &value,
			part.bytes, &written);
		hash = tfs_product_mix(hash, value);
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
	uint64_t hash = tfs_product_mix(
		tfs_product_mix(1, (uint64_t)question->answers), (uintptr_t)question->handle);

	if (!tfs_product_readable() || !TFS_DIRECT(cublasLtMatmulPreferenceGetAttribute))
		return 0;
	for (unsigned i = 0; i < COUNT(question->layouts); i++)
		hash = tfs_product_mix_layout(hash, question->layouts[i]);
	hash = mix_preference(
		tfs_product_mix_product(hash, question->product), question->preference);
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
