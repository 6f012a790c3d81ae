/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/lt_search/lt_copy.h"

#include "shim/resolve/direct.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* Addresses of one number each. */
static const uint8_t scales[] = {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER,
	CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, CUBLASLT_MATMUL_DESC_C_SCALE_POINTER,
	CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER,
	CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER};
/* With these the factors are more than one number, or there is another way to compute. */
static const struct tfs_product_part foreign[] = {
#if CUBLAS_VERSION >= 120800
	{CUBLASLT_MATMUL_DESC_A_SCALE_MODE, 4},
	{CUBLASLT_MATMUL_DESC_B_SCALE_MODE, 4},
	{CUBLASLT_MATMUL_DESC_C_SCALE_MODE, 4},
	{CUBLASLT_MATMUL_DESC_D_SCALE_MODE, 4},
	{CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE, 4},
	{CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE, 4},
	{CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER, 8},
#endif
#if CUBLAS_VERSION >= 130000
	{CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR, 8},
#endif
	/* alpha and beta lie on the device, where they are not read */
	{CUBLASLT_MATMUL_DESC_POINTER_MODE, 4},
};

bool tfs_lt_copy_possible(const struct tfs_product_call *call)
{
	bool possible = true;

	for (size_t i = 0; possible && i < COUNT(foreign); i++)
		possible = tfs_product_of(call->product,
				   (cublasLtMatmulDescAttributes_t)foreign[i].attribute,
				   foreign[i].bytes) == 0;
	return possible;
}

static bool set(cublasLtMatmulDesc_t copy, uint8_t attribute, const void *value, size_t bytes)
{
	return TFS_DIRECT(cublasLtMatmulDescSetAttribute)(copy,
		       (cublasLtMatmulDescAttributes_t)attribute, value,
		       bytes) == CUBLAS_STATUS_SUCCESS;
}

/* Only where it is not as in a new one: that a version of the library may not know. */
static bool copy_parts(cublasLtMatmulDesc_t copy, cublasLtMatmulDesc_t product)
{
	size_t count;
	const struct tfs_product_part *parts = tfs_product_parts(&count);
	bool copied = true;

	for (size_t i = 0; i < count && copied; i++) {
		const cublasLtMatmulDescAttributes_t which =
			(cublasLtMatmulDescAttributes_t)parts[i].attribute;
		const uint64_t value = tfs_product_of(product, which, parts[i].bytes);

		copied = value == tfs_product_of(copy, which, parts[i].bytes) ||
			 set(copy, parts[i].attribute, &value, parts[i].bytes);
	}
	return copied;
}

/* Where the program's has one. */
static bool place(
	cublasLtMatmulDesc_t copy, cublasLtMatmulDesc_t product, uint8_t attribute, void *memory)
{
	return tfs_product_of(product, (cublasLtMatmulDescAttributes_t)attribute, sizeof(memory)) ==
		       0 ||
	       set(copy, attribute, &memory, sizeof(memory));
}

cublasLtMatmulDesc_t tfs_lt_copy_make(
	cublasLtMatmulDesc_t product, void *bias, void *auxiliary, void *scale)
{
	const uint64_t compute = tfs_product_of(product, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, 4);
	const uint64_t type = tfs_product_of(product, CUBLASLT_MATMUL_DESC_SCALE_TYPE, 4);
	cublasLtMatmulDesc_t copy;

	if (TFS_DIRECT(cublasLtMatmulDescCreate)(&copy, (cublasComputeType_t)compute,
		    (cudaDataType_t)type) != CUBLAS_STATUS_SUCCESS)
		return NULL;
	bool made = copy_parts(copy, product) &&
		    place(copy, product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias) &&
		    place(copy, product, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, auxiliary);
	for (size_t i = 0; i < COUNT(scales) && made; i++)
		made = place(copy, product, scales[i], scale);
	if (made)
		return copy;
	tfs_lt_copy_drop(copy);
	return NULL;
}

void tfs_lt_copy_drop(cublasLtMatmulDesc_t copy)
{
	TFS_DIRECT(cublasLtMatmulDescDestroy)(copy);
}
