/* SPDX-License-Identifier: MIT */
/* Which calls of cuBLASLt's ask for the same product: all that decides how fast it is counts, and
 * nothing else. Descriptors are made up. */
#include "shim/state/product.h"

#include "shim/base/driver_api.h"
#include "shim/resolve/direct.h"
#include "tests/test.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define MOST 64u /* attributes */

/* What a descriptor holds, by attribute: as many bytes as cublasLt.h says. */
struct made_up {
	uint64_t values[MOST];
};

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

static struct made_up layouts[4], product;
static CUdevice device;
static unsigned asked;
static bool refuses;

static const float zero, one = 1;
static const double wide_zero, wide_one = 1;
static char handle, other_handle, matrices[4][512] __attribute__((aligned(512)));

static cublasStatus_t answer(const void *from, uint32_t attribute, void *out, size_t bytes)
{
	asked++;
	if (refuses || attribute >= MOST)
		return CUBLAS_STATUS_INVALID_VALUE;
	memcpy(out, &((const struct made_up *)from)->values[attribute], bytes);
	return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t CUBLASWINAPI of_layout(cublasLtMatrixLayout_t from,
	cublasLtMatrixLayoutAttribute_t attribute, void *out, size_t bytes, size_t *written)
{
	*written = bytes;
	return answer(from, (uint32_t)attribute, out, bytes);
}

static cublasStatus_t CUBLASWINAPI of_product(cublasLtMatmulDesc_t from,
	cublasLtMatmulDescAttributes_t attribute, void *out, size_t bytes, size_t *written)
{
	*written = bytes;
	return answer(from, (uint32_t)attribute, out, bytes);
}

static CUresult CUDAAPI current_device(CUdevice *out)
{
	*out = device;
	return CUDA_SUCCESS;
}

static void make_up(void)
{
	tfs_direct_known[TFS_DIRECT_cublasLtMatrixLayoutGetAttribute] = (void *)of_layout;
	tfs_direct_known[TFS_DIRECT_cublasLtMatmulDescGetAttribute] = (void *)of_product;
	tfs_direct_known[TFS_DIRECT_cuCtxGetDevice] = (void *)current_device;
}

static struct tfs_product_call call(void)
{
	struct tfs_product_call made = {.handle = (cublasLtHandle_t)(void *)&handle,
		.product = (cublasLtMatmulDesc_t)(void *)&product,
		.alpha = &one,
		.beta = &zero,
		.workspace_bytes = 1 << 20};

	for (unsigned i = 0; i < 4; i++) {
		made.layouts[i] = (cublasLtMatrixLayout_t)(void *)&layouts[i];
		made.matrices[i] = matrices[i];
	}
	return made;
}

static uint64_t question(struct tfs_product_call asks)
{
	return tfs_product_question(&asks);
}

static uint64_t usual(void)
{
	return question(call());
}

/* Each attribute of the list, in its last byte: one that is cut or left out is not told apart. */
static void vary(struct made_up *of, const struct tfs_product_part *parts, size_t count)
{
	const uint64_t before = usual();

	for (size_t i = 0; i < count; i++) {
		uint64_t *value = &of->values[parts[i].attribute];
		const uint64_t kept = *value;

		*value ^= UINT64_C(1) << (8 * parts[i].bytes - 1);
		if (!TEST_TRUE(usual() != before))
			printf("  for attribute %u\n", parts[i].attribute);
		/* What lies behind it is another one's. */
		*value = kept;
		if (parts[i].bytes < 8)
			*value ^= UINT64_C(1) << 8 * parts[i].bytes;
		if (!TEST_TRUE(usual() == before))
			printf("  for attribute %u\n", parts[i].attribute);
		*value = kept;
	}
}

static void test_parts(void)
{
	for (unsigned i = 0; i < 4; i++)
		vary(&layouts[i], layout_parts, COUNT(layout_parts));
	vary(&product, product_parts, COUNT(product_parts));
	/* The same numbers in another matrix are another product. */
	layouts[0].values[CUBLASLT_MATRIX_LAYOUT_ROWS] = 7;
	const uint64_t first = usual();
	layouts[0].values[CUBLASLT_MATRIX_LAYOUT_ROWS] = 0;
	layouts[1].values[CUBLASLT_MATRIX_LAYOUT_ROWS] = 7;
	TEST_TRUE(usual() != first);
	layouts[1].values[CUBLASLT_MATRIX_LAYOUT_ROWS] = 0;
}

static void test_arguments(void)
{
	const uint64_t before = usual();
	struct tfs_product_call other = call();
	cublasLtMatmulAlgo_t algorithm = {{1, 2, 3, 4, 5, 6, 7, 8}};

	TEST_TRUE(before != 0);
	/* The next call like it. */
	other.handle = (cublasLtHandle_t)(void *)&other_handle;
	other.alpha = &zero;
	for (unsigned i = 0; i < 4; i++)
		other.matrices[i] = matrices[3 - i] + 256;
	TEST_TRUE(question(other) == before);
	for (unsigned i = 0; i < 4; i++) {
		other = call();
		other.matrices[i] = matrices[i] + 64;
		TEST_TRUE(question(other) != before);
	}
	other = call();
	other.matrices[2] = other.matrices[3];
	TEST_TRUE(question(other) != before);
	other = call();
	other.beta = &one;
	TEST_TRUE(question(other) != before);
	other = call();
	other.workspace_bytes *= 2;
	TEST_TRUE(question(other) != before);
	other = call();
	other.algorithm = &algorithm;
	const uint64_t chosen = question(other);
	TEST_TRUE(chosen != before);
	for (size_t i = 0; i < COUNT(algorithm.data); i++) {
		algorithm.data[i] += 8;
		TEST_TRUE(question(other) != chosen);
		algorithm.data[i] -= 8;
	}
	device = 1;
	TEST_TRUE(usual() != before);
	device = 0;
	TEST_TRUE(usual() == before);
}

/* cuBLASLt refuses it: of what is there nothing is read. */
static void test_incomplete(void)
{
	struct tfs_product_call lacks;

	for (unsigned i = 0; i < 12; i++) {
		lacks = call();
		lacks.handle = i != 0 ? lacks.handle : NULL;
		lacks.product = i != 1 ? lacks.product : NULL;
		lacks.alpha = i != 2 ? lacks.alpha : NULL;
		lacks.beta = i != 3 ? lacks.beta : NULL;
		if (i >= 8)
			lacks.matrices[i - 8] = NULL;
		else if (i >= 4)
			lacks.layouts[i - 4] = NULL;
		asked = 0;
		/* C may be missing. */
		TEST_EQ(question(lacks) != 0, i == 10);
		TEST_EQ(asked != 0, i == 10);
	}
}

static void test_kept(void)
{
	struct tfs_product_call made = call();
	const uint64_t first = tfs_product_question(&made);

	TEST_TRUE(first != 0 && made.question == first);
	asked = 0;
	made.workspace_bytes = 0;
	TEST_TRUE(tfs_product_question(&made) == first);
	TEST_EQ(asked, 0);
}

static bool adds(cublasLtPointerMode_t mode, cudaDataType_t type, const void *beta)
{
	struct tfs_product_call made = call();

	made.beta = beta;
	product.values[CUBLASLT_MATMUL_DESC_POINTER_MODE] = mode;
	product.values[CUBLASLT_MATMUL_DESC_SCALE_TYPE] = type;
	const bool is = tfs_product_adds(&made);
	product.values[CUBLASLT_MATMUL_DESC_POINTER_MODE] = CUBLASLT_POINTER_MODE_HOST;
	product.values[CUBLASLT_MATMUL_DESC_SCALE_TYPE] = CUDA_R_32F;
	return is;
}

static void test_adds(void)
{
	TEST_TRUE(!adds(CUBLASLT_POINTER_MODE_HOST, CUDA_R_32F, &zero));
	TEST_TRUE(adds(CUBLASLT_POINTER_MODE_HOST, CUDA_R_32F, &one));
	TEST_TRUE(!adds(CUBLASLT_POINTER_MODE_HOST, CUDA_R_64F, &wide_zero));
	/* Its first half is 0, as a float. */
	TEST_TRUE(adds(CUBLASLT_POINTER_MODE_HOST, CUDA_R_64F, &wide_one));
	/* What is not known counts as one that reads. */
	TEST_TRUE(adds(CUBLASLT_POINTER_MODE_HOST, CUDA_C_32F, &wide_zero));
	TEST_TRUE(adds(CUBLASLT_POINTER_MODE_DEVICE, CUDA_R_32F, &zero));
	TEST_TRUE(adds(CUBLASLT_POINTER_MODE_HOST, CUDA_R_32F, NULL));
}

static void test_aligned(void)
{
	for (uintptr_t power = 1; power <= 256; power *= 2) {
		TEST_EQ(tfs_product_aligned((const void *)(0x100000 + power)), power);
		TEST_EQ(tfs_product_aligned((const void *)(0x100000 + 3 * power)), power);
	}
	TEST_EQ(tfs_product_aligned((const void *)0x1000), 256);
}

static void test_unreadable(void)
{
	product.values[CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD] = 7;
	refuses = true;
	TEST_EQ(tfs_product_of((cublasLtMatmulDesc_t)(void *)&product,
			CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, 8),
		0);
	refuses = false;
	TEST_EQ(tfs_product_of((cublasLtMatmulDesc_t)(void *)&product,
			CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, 8),
		7);
	product.values[CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD] = 0;
}

int main(void)
{
	/* Without cuBLASLt there is nothing to ask. */
	TEST_TRUE(!tfs_product_readable());
	TEST_EQ(usual(), 0);
	make_up();
	TEST_TRUE(tfs_product_readable());
	test_parts();
	test_arguments();
	test_incomplete();
	test_kept();
	test_adds();
	test_aligned();
	test_unreadable();
	return test_result();
}
