/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/lt_search/lt_scratch.h"

#include <string.h>

#include "shim/rewrites/search/search_numbers.h"

#define ALIGNED 256u        /* as much as any algorithm asks for */
#define FACTORS 256u        /* bytes, of one number */
#define WIDEST_AUXILIARY 4u /* bytes of an element */
#define WIDEST_BIAS 8u
#define MOST_BYTES (UINT64_C(1) << 40) /* of a matrix: no sum overflows */

enum { A, B, C, D };

/* 0: not handled. */
static uint64_t size_of(uint64_t type)
{
	switch (type) {
	case CUDA_R_64F:
	case CUDA_C_32F:
		return 8;
	case CUDA_R_32F:
	case CUDA_R_32I:
		return 4;
	case CUDA_R_16F:
	case CUDA_R_16BF:
		return 2;
	case CUDA_R_8I:
	case CUDA_R_8F_E4M3:
	case CUDA_R_8F_E5M2:
		return 1;
	default:
		return 0;
	}
}

static enum tfs_numbers numbers_of(uint64_t type)
{
	switch (type) {
	case CUDA_R_32F:
	case CUDA_C_32F:
		return TFS_NUMBERS_FLOAT;
	case CUDA_R_64F:
		return TFS_NUMBERS_DOUBLE;
	case CUDA_R_16F:
		return TFS_NUMBERS_HALF;
	case CUDA_R_16BF:
		return TFS_NUMBERS_BFLOAT16;
	default:
		return TFS_NUMBERS_BITS;
	}
}

static uint64_t type_of(cublasLtMatrixLayout_t layout)
{
	return tfs_product_of_layout(layout, CUBLASLT_MATRIX_LAYOUT_TYPE, 4);
}

static uint64_t batch_of(cublasLtMatrixLayout_t layout)
{
	return tfs_product_of_layout(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 4);
}

/* Real and imaginary parts apart, or addresses of matrices in the place of a matrix: these must be
 * the program's. */
static bool is_odd(cublasLtMatrixLayout_t layout)
{
	return tfs_product_of_layout(layout, CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, 8) != 0 ||
	       tfs_product_of_layout(layout, TFS_LAYOUT_BATCH_MODE, 4) != 0;
}

/* From the first to behind the last element; 0: not handled. */
static uint64_t bytes_of(cublasLtMatrixLayout_t layout)
{
	const uint64_t order = tfs_product_of_layout(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, 4);
	const uint64_t rows = tfs_product_of_layout(layout, CUBLASLT_MATRIX_LAYOUT_ROWS, 8);
	const uint64_t columns = tfs_product_of_layout(layout, CUBLASLT_MATRIX_LAYOUT_COLS, 8);
	const uint64_t leading = tfs_product_of_layout(layout, CUBLASLT_MATRIX_LAYOUT_LD, 8);
	const uint64_t batch = batch_of(layout);
	const uint64_t stride =
		tfs_product_of_layout(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 8);
	const uint64_t many = order == CUBLASLT_ORDER_ROW ? rows : columns;
	uint64_t elements, all;

	if ((order != CUBLASLT_ORDER_ROW && order != CUBLASLT_ORDER_COL) || is_odd(layout) ||
		rows == 0 || columns == 0 || batch == 0 ||
		__builtin_mul_overflow(leading, many, &elements) ||
		__builtin_mul_overflow(stride, batch - 1, &all) ||
		__builtin_add_overflow(all, elements, &all) || all > MOST_BYTES)
		return 0;
	return all * size_of(type_of(layout));
}

static bool in_place(const struct tfs_product_call *call)
{
	return call->matrices[C] == call->matrices[D];
}

bool tfs_lt_scratch_possible(const struct tfs_product_call *call)
{
	for (int i = A; i <= D; i++)
		if (bytes_of(call->layouts[i]) == 0)
			return false;
	return !in_place(call) || bytes_of(call->layouts[C]) == bytes_of(call->layouts[D]);
}

static void *take(struct tfs_search_device *device, struct tfs_lt_scratch *scratch, uint64_t bytes)
{
	void *memory = tfs_search_allocate(device, bytes, device->stream);

	if (memory)
		scratch->taken[scratch->taken_count++] = memory;
	return memory;
}

/* As far from an aligned address as the program's. */
static void *matrix(struct tfs_search_device *device, struct tfs_lt_scratch *scratch,
	cublasLtMatrixLayout_t layout, const void *like)
{
	const uint64_t bytes = bytes_of(layout) + ALIGNED;
	char *memory = take(device, scratch, bytes);

	if (!memory)
		return NULL;
	tfs_search_numbers(device, memory, bytes, numbers_of(type_of(layout)));
	return memory + (uintptr_t)like % ALIGNED;
}

static bool get_matrices(struct tfs_search_device *device, const struct tfs_product_call *call,
	struct tfs_lt_scratch *scratch)
{
	for (int i = A; i <= D; i++) {
		const bool shared = i == D && in_place(call);

		scratch->matrices[i] =
			shared ? scratch->matrices[C]
			       : matrix(device, scratch, call->layouts[i], call->matrices[i]);
		if (!scratch->matrices[i])
			return false;
	}
	return true;
}

static uint64_t more_of(const struct tfs_product_call *call, cublasLtMatmulDescAttributes_t stride,
	uint64_t elements, uint64_t widest)
{
	return (elements + tfs_product_of(call->product, stride, 8) *
				   (batch_of(call->layouts[D]) - 1)) *
	       widest;
}

/* What an epilogue may read or write, whichever it is. */
static uint64_t bias_bytes(const struct tfs_product_call *call)
{
	const cublasLtMatrixLayout_t d = call->layouts[D];
	const uint64_t rows = tfs_product_of_layout(d, CUBLASLT_MATRIX_LAYOUT_ROWS, 8);
	const uint64_t columns = tfs_product_of_layout(d, CUBLASLT_MATRIX_LAYOUT_COLS, 8);

	return more_of(call, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE,
		rows > columns ? rows : columns, WIDEST_BIAS);
}

static uint64_t auxiliary_bytes(const struct tfs_product_call *call)
{
	const uint64_t leading =
		tfs_product_of(call->product, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, 8);
	const cublasLtMatrixLayout_t d = call->layouts[D];
	const uint64_t rows = tfs_product_of_layout(d, CUBLASLT_MATRIX_LAYOUT_ROWS, 8);
	const uint64_t columns = tfs_product_of_layout(d, CUBLASLT_MATRIX_LAYOUT_COLS, 8);

	/* Of a result in rows, the auxiliary matrix may lie either way. */
	return more_of(call, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE,
		leading * (rows > columns ? rows : columns), WIDEST_AUXILIARY);
}

static bool has(const struct tfs_product_call *call, cublasLtMatmulDescAttributes_t pointer)
{
	return tfs_product_of(call->product, pointer, sizeof(void *)) != 0;
}

static bool get_rest(struct tfs_search_device *device, const struct tfs_product_call *call,
	uint64_t bias, uint64_t auxiliary, struct tfs_lt_scratch *scratch)
{
	scratch->scale = take(device, scratch, FACTORS);
	scratch->bias = bias > 0 ? take(device, scratch, bias) : NULL;
	scratch->auxiliary = auxiliary > 0 ? take(device, scratch, auxiliary) : NULL;
	scratch->workspace = scratch->workspace_bytes > 0
				     ? take(device, scratch, scratch->workspace_bytes)
				     : NULL;
	if (!scratch->scale || (bias > 0 && !scratch->bias) ||
		(auxiliary > 0 && !scratch->auxiliary) ||
		(scratch->workspace_bytes > 0 && !scratch->workspace))
		return false;
	tfs_search_numbers(device, scratch->scale, FACTORS, TFS_NUMBERS_FLOAT);
	if (scratch->bias)
		tfs_search_numbers(
			device, scratch->bias, bias, numbers_of(type_of(call->layouts[D])));
	if (scratch->auxiliary)
		tfs_search_numbers(device, scratch->auxiliary, auxiliary,
			numbers_of(type_of(call->layouts[D])));
	return true;
}

bool tfs_lt_scratch_get(struct tfs_search_device *device, const struct tfs_product_call *call,
	uint64_t workspace_bytes, uint64_t most, struct tfs_lt_scratch *out_scratch)
{
	const uint64_t bias = has(call, CUBLASLT_MATMUL_DESC_BIAS_POINTER) ? bias_bytes(call) : 0;
	const uint64_t auxiliary =
		has(call, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER) ? auxiliary_bytes(call) : 0;
	uint64_t all = workspace_bytes + FACTORS;

	for (int i = A; i <= D; i++)
		all += bytes_of(call->layouts[i]) + ALIGNED;
	if (all > most || bias > most - all || auxiliary > most - all - bias)
		return false;
	memset(out_scratch, 0, sizeof(*out_scratch));
	out_scratch->workspace_bytes = workspace_bytes;
	if (get_matrices(device, call, out_scratch) &&
		get_rest(device, call, bias, auxiliary, out_scratch))
		return true;
	tfs_lt_scratch_give_back(device, out_scratch);
	return false;
}

void tfs_lt_scratch_give_back(
	struct tfs_search_device *device, const struct tfs_lt_scratch *scratch)
{
	for (uint32_t i = 0; i < scratch->taken_count; i++)
		tfs_search_free(scratch->taken[i], device->stream);
	tfs_search_device_settle(device);
}
