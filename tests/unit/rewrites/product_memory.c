/* SPDX-License-Identifier: MIT */
/* The memory that lt-search times a product on: how much, of what numbers, and that all of it is
 * given back. Descriptors and the device are made up. */
#include "shim/rewrites/lt_search/lt_scratch.h"

#include "shim/rewrites/search/search_numbers.h"
#include "tests/test.h"

#define MOST 64 /* attributes */
#define KIB 1024u
#define TOO_MUCH ((UINT64_C(1) << 40) + 1)

struct made_up {
	uint64_t values[MOST];
};

static struct made_up layouts[4], product;

uint64_t tfs_product_of_layout(
	cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute, size_t bytes)
{
	TEST_TRUE(bytes == 4 || bytes == 8);
	return ((const struct made_up *)layout)->values[attribute];
}

uint64_t tfs_product_of(
	cublasLtMatmulDesc_t of, cublasLtMatmulDescAttributes_t attribute, size_t bytes)
{
	TEST_TRUE((void *)of == &product && bytes == 8);
	return product.values[attribute];
}

/* What was taken, by number in the order of taking, and with which numbers it was filled. */
static struct {
	uint64_t bytes;
	int numbers; /* -1: none */
	bool freed;
} taken[16];
static unsigned taken_count, tries, failing; /* the one that fails, from 1 on; 0 = none */
static unsigned settled;

static char own_stream;
static struct tfs_search_device device;

static void *place(unsigned number)
{
	return (void *)(uintptr_t)((number + 1) << 20);
}

void *tfs_search_allocate(struct tfs_search_device *of, uint64_t bytes, CUstream stream)
{
	TEST_TRUE(of == &device && (char *)stream == &own_stream);
	TEST_NEED(taken_count < sizeof(taken) / sizeof(taken[0]));
	if (++tries == failing)
		return NULL;
	taken[taken_count].bytes = bytes;
	taken[taken_count].numbers = -1;
	taken[taken_count].freed = false;
	return place(taken_count++);
}

void tfs_search_free(void *memory, CUstream stream)
{
	const unsigned number = (unsigned)((uintptr_t)memory >> 20) - 1;

	TEST_TRUE((char *)stream == &own_stream);
	TEST_NEED(number < taken_count && memory == place(number));
	TEST_TRUE(!taken[number].freed && settled == 0);
	taken[number].freed = true;
}

void tfs_search_device_settle(struct tfs_search_device *of)
{
	TEST_TRUE(of == &device);
	settled++;
}

void tfs_search_numbers(
	struct tfs_search_device *of, void *memory, uint64_t bytes, enum tfs_numbers numbers)
{
	const unsigned number = (unsigned)((uintptr_t)memory >> 20) - 1;

	TEST_TRUE(of == &device);
	TEST_NEED(number < taken_count && memory == place(number));
	TEST_EQ(bytes, taken[number].bytes);
	taken[number].numbers = (int)numbers;
}

static struct tfs_product_call call;

static void layout(unsigned i, uint64_t type, uint64_t rows, uint64_t columns)
{
	memset(&layouts[i], 0, sizeof(layouts[i]));
	layouts[i].values[CUBLASLT_MATRIX_LAYOUT_TYPE] = type;
	layouts[i].values[CUBLASLT_MATRIX_LAYOUT_ORDER] = CUBLASLT_ORDER_COL;
	layouts[i].values[CUBLASLT_MATRIX_LAYOUT_ROWS] = rows;
	layouts[i].values[CUBLASLT_MATRIX_LAYOUT_COLS] = columns;
	layouts[i].values[CUBLASLT_MATRIX_LAYOUT_LD] = rows;
	layouts[i].values[CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT] = 1;
}

/* 16 by 256 times 256 by 32, apart from aligned addresses. */
static void begin(void)
{
	memset(&product, 0, sizeof(product));
	layout(0, CUDA_R_32F, 16, 256);
	layout(1, CUDA_R_32F, 256, 32);
	layout(2, CUDA_R_32F, 16, 32);
	layout(3, CUDA_R_32F, 16, 32);
	call = (struct tfs_product_call){.product = (cublasLtMatmulDesc_t)(void *)&product,
		.matrices = {(void *)0x1000, (void *)0x2010, (void *)0x30ff, (void *)0x4080}};
	for (unsigned i = 0; i < 4; i++)
		call.layouts[i] = (cublasLtMatrixLayout_t)(void *)&layouts[i];
	device.stream = (CUstream)(void *)&own_stream;
	failing = 0;
}

static struct tfs_lt_scratch scratch;

static bool get(uint64_t workspace, uint64_t most)
{
	taken_count = tries = settled = 0;
	return tfs_lt_scratch_get(&device, &call, workspace, most, &scratch);
}

static void check_given_back(void)
{
	for (unsigned i = 0; i < taken_count; i++)
		TEST_TRUE(taken[i].freed);
	TEST_EQ(settled, 1);
}

static void give_back(void)
{
	tfs_lt_scratch_give_back(&device, &scratch);
	check_given_back();
}

/* A matrix's bytes, as they are taken. */
static uint64_t bytes_of(unsigned i)
{
	if (!TEST_TRUE(get(0, UINT64_MAX)))
		return 0;
	give_back();
	return taken[i].bytes - 256;
}

/* Each matrix is as large as the program's, and as far from an aligned address. */
static void check_matrices(void)
{
	static const uint64_t offsets[] = {0, 0x10, 0xff, 0x80};
	static const uint64_t bytes[] = {16 * KIB, 32 * KIB, 2 * KIB, 2 * KIB};

	begin();
	TEST_TRUE(tfs_lt_scratch_possible(&call));
	TEST_TRUE(get(4096, UINT64_MAX));
	for (unsigned i = 0; i < 4; i++) {
		TEST_EQ((uintptr_t)scratch.matrices[i], (uintptr_t)place(i) + offsets[i]);
		TEST_EQ(taken[i].bytes, bytes[i] + 256);
		TEST_EQ(taken[i].numbers, TFS_NUMBERS_FLOAT);
	}
	TEST_EQ(taken_count, 6);
	TEST_TRUE(scratch.scale == place(4) && scratch.workspace == place(5));
	TEST_EQ(taken[4].bytes, 256);
	TEST_EQ(taken[4].numbers, TFS_NUMBERS_FLOAT);
	TEST_EQ(taken[5].bytes, 4096);
	TEST_EQ(taken[5].numbers, -1);
	TEST_EQ(scratch.workspace_bytes, 4096);
	TEST_TRUE(!scratch.bias && !scratch.auxiliary);
	give_back();
	TEST_TRUE(get(0, UINT64_MAX));
	TEST_EQ(taken_count, 5);
	TEST_TRUE(!scratch.workspace);
	give_back();
	/* Where the result takes the place of what is added, so it does here. */
	call.matrices[3] = call.matrices[2];
	TEST_TRUE(tfs_lt_scratch_possible(&call));
	TEST_TRUE(get(0, UINT64_MAX));
	TEST_EQ(taken_count, 4);
	TEST_TRUE(scratch.matrices[3] == scratch.matrices[2]);
	give_back();
	layouts[3].values[CUBLASLT_MATRIX_LAYOUT_LD] = 17;
	TEST_TRUE(!tfs_lt_scratch_possible(&call));
}

static void check_types(void)
{
	static const struct {
		int type, bytes, numbers;
	} types[] = {{CUDA_R_64F, 8, TFS_NUMBERS_DOUBLE}, {CUDA_C_32F, 8, TFS_NUMBERS_FLOAT},
		{CUDA_R_32F, 4, TFS_NUMBERS_FLOAT}, {CUDA_R_32I, 4, TFS_NUMBERS_BITS},
		{CUDA_R_16F, 2, TFS_NUMBERS_HALF}, {CUDA_R_16BF, 2, TFS_NUMBERS_BFLOAT16},
		{CUDA_R_8I, 1, TFS_NUMBERS_BITS}, {CUDA_R_8F_E4M3, 1, TFS_NUMBERS_BITS},
		{CUDA_R_8F_E5M2, 1, TFS_NUMBERS_BITS}};

	begin();
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		layouts[1].values[CUBLASLT_MATRIX_LAYOUT_TYPE] = (uint64_t)types[i].type;
		TEST_TRUE(tfs_lt_scratch_possible(&call));
		TEST_EQ(bytes_of(1), 256 * 32 * types[i].bytes);
		TEST_EQ(taken[1].numbers, types[i].numbers);
	}
	layouts[1].values[CUBLASLT_MATRIX_LAYOUT_TYPE] = CUDA_R_4I;
	TEST_TRUE(!tfs_lt_scratch_possible(&call));
}

/* Up to behind the last element: by the order, the leading dimension and the batch. */
static void check_sizes(void)
{
	uint64_t *values = layouts[1].values;

	begin();
	values[CUBLASLT_MATRIX_LAYOUT_LD] = 300;
	TEST_EQ(bytes_of(1), 300 * 32 * 4);
	values[CUBLASLT_MATRIX_LAYOUT_ORDER] = CUBLASLT_ORDER_ROW;
	TEST_EQ(bytes_of(1), 300 * 256 * 4);
	values[CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT] = 3;
	values[CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET] = 100000;
	TEST_EQ(bytes_of(1), (300 * 256 + 200000) * 4);
	/* One matrix for the whole batch. */
	values[CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET] = 0;
	TEST_EQ(bytes_of(1), 300 * 256 * 4);
}

static void refuses(unsigned attribute, uint64_t value)
{
	for (unsigned i = 0; i < 4; i++) {
		begin();
		layouts[i].values[attribute] = value;
		if (!TEST_TRUE(!tfs_lt_scratch_possible(&call)))
			printf("  for attribute %u of matrix %u\n", attribute, i);
	}
}

static void check_impossible(void)
{
	refuses(CUBLASLT_MATRIX_LAYOUT_ORDER, CUBLASLT_ORDER_COL32);
	refuses(CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, 64);
	refuses(TFS_LAYOUT_BATCH_MODE, 1);
	refuses(CUBLASLT_MATRIX_LAYOUT_ROWS, 0);
	refuses(CUBLASLT_MATRIX_LAYOUT_COLS, 0);
	refuses(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 0);
	/* No sum overflows. */
	refuses(CUBLASLT_MATRIX_LAYOUT_LD, UINT64_MAX / 8);
	refuses(CUBLASLT_MATRIX_LAYOUT_LD, TOO_MUCH);
	begin();
	layouts[2].values[CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT] = 3;
	layouts[2].values[CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET] = UINT64_MAX / 2 - 100;
	TEST_TRUE(!tfs_lt_scratch_possible(&call));
	layouts[2].values[CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET] = UINT64_MAX - 100;
	TEST_TRUE(!tfs_lt_scratch_possible(&call));
}

/* As long as the longer side of the result, in its widest form. */
static void check_epilogue(void)
{
	begin();
	product.values[CUBLASLT_MATMUL_DESC_BIAS_POINTER] = 0x5000;
	TEST_TRUE(get(0, UINT64_MAX));
	TEST_TRUE(scratch.bias == place(5) && !scratch.auxiliary);
	TEST_EQ(taken[5].bytes, 32 * 8);
	TEST_EQ(taken[5].numbers, TFS_NUMBERS_FLOAT);
	give_back();
	layouts[3].values[CUBLASLT_MATRIX_LAYOUT_ROWS] = 50;
	layouts[3].values[CUBLASLT_MATRIX_LAYOUT_TYPE] = CUDA_R_16F;
	layouts[3].values[CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT] = 3;
	product.values[CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE] = 70;
	TEST_TRUE(get(0, UINT64_MAX));
	TEST_EQ(taken[5].bytes, (50 + 2 * 70) * 8);
	TEST_EQ(taken[5].numbers, TFS_NUMBERS_HALF);
	give_back();
	product.values[CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER] = 0x6000;
	product.values[CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD] = 64;
	product.values[CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE] = 5000;
	TEST_TRUE(get(128, UINT64_MAX));
	TEST_TRUE(scratch.auxiliary == place(6) && scratch.workspace == place(7));
	TEST_EQ(taken[6].bytes, (64 * 50 + 2 * 5000) * 4);
	TEST_EQ(taken[6].numbers, TFS_NUMBERS_HALF);
	TEST_EQ(taken_count, 8);
	give_back();
}

/* Not a byte more than may be taken; and where one part is not had, the others are given back. */
static void check_limits(void)
{
	uint64_t all = 0;

	begin();
	product.values[CUBLASLT_MATMUL_DESC_BIAS_POINTER] = 0x5000;
	product.values[CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER] = 0x6000;
	product.values[CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD] = 64;
	TEST_TRUE(get(4096, UINT64_MAX));
	const unsigned parts = taken_count;
	TEST_EQ(parts, 8);
	for (unsigned i = 0; i < parts; i++)
		all += taken[i].bytes;
	give_back();
	TEST_TRUE(get(4096, all));
	give_back();
	TEST_TRUE(!get(4096, all - 1));
	TEST_EQ(taken_count, 0);
	TEST_TRUE(!get(4096, 100));
	for (failing = 1; failing <= parts; failing++) {
		TEST_TRUE(!get(4096, all));
		TEST_TRUE(taken_count >= failing - 1 && taken_count < parts);
		check_given_back();
	}
	failing = 0;
	/* A stride that is no number of bytes that anybody has. */
	product.values[CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD] = UINT64_C(1) << 50;
	TEST_TRUE(!get(4096, all));
	TEST_EQ(taken_count, 0);
}

int main(void)
{
	check_matrices();
	check_types();
	check_sizes();
	check_impossible();
	check_epilogue();
	check_limits();
	return test_result();
}
