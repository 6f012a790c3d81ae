/* SPDX-License-Identifier: MIT */
/* The descriptor by which lt-search computes a product once more: all that decides its time is as
 * in the program's, and no address is. Descriptors are made up. */
#include "shim/rewrites/lt_search/lt_copy.h"

#include "shim/resolve/direct.h"
#include "tests/test.h"

#define MOST 64 /* attributes */
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

void *tfs_direct_known[TFS_DIRECT_COUNT];

struct made_up {
	uint64_t values[MOST];
};

static struct made_up program, copied;
static int copies, sets;
static int refused = -1; /* attribute that cannot be set */
static bool no_copy;

/* As many bytes as cublasLt.h says. */
static const struct tfs_product_part parts[] = {{CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, 4},
	{CUBLASLT_MATMUL_DESC_SCALE_TYPE, 4}, {CUBLASLT_MATMUL_DESC_TRANSA, 4},
	{CUBLASLT_MATMUL_DESC_EPILOGUE, 4}, {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, 8},
	{CUBLASLT_MATMUL_DESC_FAST_ACCUM, 1}};

const struct tfs_product_part *tfs_product_parts(size_t *out_count)
{
	*out_count = COUNT(parts);
	return parts;
}

uint64_t tfs_product_of(
	cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t attribute, size_t bytes)
{
	uint64_t value = 0;

	TEST_NEED((unsigned)attribute < MOST);
	TEST_TRUE((void *)product == &program || (void *)product == &copied);
	memcpy(&value, &((struct made_up *)product)->values[attribute], bytes);
	return value;
}

static cublasStatus_t CUBLASWINAPI create(
	cublasLtMatmulDesc_t *out, cublasComputeType_t compute, cudaDataType_t type)
{
	if (no_copy)
		return CUBLAS_STATUS_ALLOC_FAILED;
	memset(&copied, 0, sizeof(copied));
	copied.values[CUBLASLT_MATMUL_DESC_COMPUTE_TYPE] = (uint64_t)compute;
	copied.values[CUBLASLT_MATMUL_DESC_SCALE_TYPE] = (uint64_t)type;
	*out = (cublasLtMatmulDesc_t)(void *)&copied;
	copies++;
	return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t CUBLASWINAPI destroy(cublasLtMatmulDesc_t product)
{
	TEST_TRUE((void *)product == &copied);
	copies--;
	return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t CUBLASWINAPI set(cublasLtMatmulDesc_t product,
	cublasLtMatmulDescAttributes_t attribute, const void *value, size_t bytes)
{
	TEST_TRUE((void *)product == &copied);
	sets++;
	if ((int)attribute == refused)
		return CUBLAS_STATUS_INVALID_VALUE;
	memcpy(&copied.values[attribute], value, bytes);
	return CUBLAS_STATUS_SUCCESS;
}

void *tfs_direct_look_up(enum tfs_direct call)
{
	switch (call) {
	case TFS_DIRECT_cublasLtMatmulDescCreate:
		return (void *)create;
	case TFS_DIRECT_cublasLtMatmulDescDestroy:
		return (void *)destroy;
	case TFS_DIRECT_cublasLtMatmulDescSetAttribute:
		return (void *)set;
	default:
		return NULL;
	}
}

static bool possible(void)
{
	const struct tfs_product_call call = {.product = (cublasLtMatmulDesc_t)(void *)&program};

	return tfs_lt_copy_possible(&call);
}

/* Only where no factor is more than one number, nor lies where the host does not read it. */
static void check_possible(void)
{
	static const uint8_t foreign[] = {
		CUBLASLT_MATMUL_DESC_POINTER_MODE,
#if CUBLAS_VERSION >= 120800
		CUBLASLT_MATMUL_DESC_A_SCALE_MODE,
		CUBLASLT_MATMUL_DESC_B_SCALE_MODE,
		CUBLASLT_MATMUL_DESC_C_SCALE_MODE,
		CUBLASLT_MATMUL_DESC_D_SCALE_MODE,
		CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE,
		CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE,
		CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER,
#endif
#if CUBLAS_VERSION >= 130000
		CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR,
#endif
	};

	TEST_TRUE(possible());
	for (size_t i = 0; i < COUNT(foreign); i++) {
		program.values[foreign[i]] = 1;
		if (!TEST_TRUE(!possible()))
			printf("  for attribute %u\n", foreign[i]);
		program.values[foreign[i]] = 0;
	}
	TEST_TRUE(possible());
}

static char bias, auxiliary, scale;

static cublasLtMatmulDesc_t make(void)
{
	return tfs_lt_copy_make((cublasLtMatmulDesc_t)(void *)&program, &bias, &auxiliary, &scale);
}

static const uint8_t scales[] = {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER,
	CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, CUBLASLT_MATMUL_DESC_C_SCALE_POINTER,
	CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER,
	CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER};

static void check_plain(void)
{
	cublasLtMatmulDesc_t made = make();

	TEST_NEED(made);
	TEST_EQ(sets, 0);
	tfs_lt_copy_drop(made);
	TEST_EQ(copies, 0);
}

/* What the program's has is had, in the copy's own memory. */
static void check_places(void)
{
	program.values[CUBLASLT_MATMUL_DESC_COMPUTE_TYPE] = CUBLAS_COMPUTE_32F_FAST_TF32;
	program.values[CUBLASLT_MATMUL_DESC_SCALE_TYPE] = CUDA_R_32F;
	program.values[CUBLASLT_MATMUL_DESC_TRANSA] = CUBLAS_OP_T;
	program.values[CUBLASLT_MATMUL_DESC_EPILOGUE] = CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
	program.values[CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD] = UINT64_C(1) << 40 | 64;
	program.values[CUBLASLT_MATMUL_DESC_FAST_ACCUM] = 1;
	program.values[CUBLASLT_MATMUL_DESC_BIAS_POINTER] = 0x1000;
	TEST_NEED(make());
	for (size_t i = 0; i < COUNT(parts); i++)
		TEST_EQ(copied.values[parts[i].attribute], program.values[parts[i].attribute]);
	TEST_EQ(copied.values[CUBLASLT_MATMUL_DESC_BIAS_POINTER], (uintptr_t)&bias);
	TEST_EQ(copied.values[CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER], 0);
	for (size_t i = 0; i < COUNT(scales); i++)
		TEST_EQ(copied.values[scales[i]], 0);
	for (size_t i = 0; i < COUNT(scales); i++)
		program.values[scales[i]] = 0x2000 + i;
	program.values[CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER] = 0x3000;
	TEST_NEED(make());
	TEST_EQ(copied.values[CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER], (uintptr_t)&auxiliary);
	for (size_t i = 0; i < COUNT(scales); i++)
		if (!TEST_TRUE(copied.values[scales[i]] == (uintptr_t)&scale))
			printf("  for attribute %u\n", scales[i]);
	copies = 0;
}

/* Half a copy is none. */
static void check_refused(void)
{
	static const uint8_t needed[] = {CUBLASLT_MATMUL_DESC_TRANSA,
		CUBLASLT_MATMUL_DESC_FAST_ACCUM, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
		CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER,
		CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER};

	for (size_t i = 0; i < COUNT(needed); i++) {
		refused = needed[i];
		if (!TEST_TRUE(!make()))
			printf("  for attribute %u\n", needed[i]);
		TEST_EQ(copies, 0);
	}
	refused = -1;
	no_copy = true;
	TEST_TRUE(!make());
	TEST_EQ(copies, 0);
}

int main(void)
{
	check_possible();
	check_plain();
	check_places();
	check_refused();
	return test_result();
}
