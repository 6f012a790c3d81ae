/* SPDX-License-Identifier: MIT */
#define TFS_HOT_HOOKS
#include <cublasLt.h>

#include "shim/hooks/cublas/cublas.h"
#include "shim/hooks/take.h"
#include "shim/state/product.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cublaslt

/* Bits of an epilogue. */
#define WITH_BIAS 4u
#define WITH_AUX 128u

static void put_layout(struct tfs_details *details, const void *address,
	cublasLtMatrixLayout_t layout, uint32_t role)
{
	const uint32_t type =
		(uint32_t)tfs_product_of_layout(layout, CUBLASLT_MATRIX_LAYOUT_TYPE, 4);
	const uint64_t order = tfs_product_of_layout(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, 4);
	const uint64_t rows = tfs_product_of_layout(layout, CUBLASLT_MATRIX_LAYOUT_ROWS, 8);
	const uint64_t columns = tfs_product_of_layout(layout, CUBLASLT_MATRIX_LAYOUT_COLS, 8);
	const uint64_t leading = tfs_product_of_layout(layout, CUBLASLT_MATRIX_LAYOUT_LD, 8);
	const uint64_t batch = tfs_product_of_layout(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 4);
	const uint64_t stride =
		tfs_product_of_layout(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 8);
	const uint64_t last = batch > 1 ? stride * (batch - 1) : 0;
	const uint32_t bytes = tfs_cublas_type_bytes((cudaDataType)type);

	if (order == CUBLASLT_ORDER_COL)
		tfs_put_matrix(details, address, leading, last + rows, columns, bytes, role);
	else if (order == CUBLASLT_ORDER_ROW)
		tfs_put_matrix(details, address, leading, last + columns, rows, bytes, role);
	else
		tfs_put_operand(details, address, 0, role | TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE));
}

static void put_epilogue(struct tfs_details *details, const struct tfs_product_call *call)
{
	const uint64_t epilogue = tfs_product_of(call->product, CUBLASLT_MATMUL_DESC_EPILOGUE, 4);
	const uint32_t device = TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE);

	if ((epilogue & WITH_BIAS) != 0)
		tfs_put_operand(details,
			(const void *)(uintptr_t)tfs_product_of(
				call->product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, sizeof(void *)),
			0, TFS_ROLE_READ | device);
	if ((epilogue & WITH_AUX) != 0)
		tfs_put_operand(details,
			(const void *)(uintptr_t)tfs_product_of(call->product,
				CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, sizeof(void *)),
			0, TFS_ROLE_READ | TFS_ROLE_WRITE | device);
}

/* What divides a matrix's address and the distance of its columns. */
static uint64_t placed(const void *address, cublasLtMatrixLayout_t layout)
{
	const uint64_t type = tfs_product_of_layout(layout, CUBLASLT_MATRIX_LAYOUT_TYPE, 4);

	return (uintptr_t)address | tfs_product_of_layout(layout, CUBLASLT_MATRIX_LAYOUT_LD, 8) *
					    tfs_cublas_type_bytes((cudaDataType)type);
}

static bool transposed(const struct tfs_product_call *call, cublasLtMatmulDescAttributes_t which)
{
	return tfs_product_of(call->product, which, 4) != CUBLAS_OP_N;
}

static uint64_t operations(const struct tfs_product_call *call)
{
	const cublasLtMatrixLayout_t layouts[] = {
		call->layouts[0], call->layouts[1], call->layouts[3]};

	for (unsigned i = 0; i < 3; i++)
		if (tfs_product_of_layout(layouts[i], CUBLASLT_MATRIX_LAYOUT_ORDER, 4) !=
			CUBLASLT_ORDER_COL)
			return 0;
	return TFS_PRODUCT_ORDERED |
	       (transposed(call, CUBLASLT_MATMUL_DESC_TRANSA) ? TFS_PRODUCT_FIRST_TRANSPOSED : 0) |
	       (transposed(call, CUBLASLT_MATMUL_DESC_TRANSB) ? TFS_PRODUCT_SECOND_TRANSPOSED : 0);
}

static uint64_t alignment(const struct tfs_product_call *call)
{
	const uint64_t type =
		tfs_product_of_layout(call->layouts[0], CUBLASLT_MATRIX_LAYOUT_TYPE, 4);
	const uint64_t bits = placed(call->matrices[0], call->layouts[0]) |
			      placed(call->matrices[1], call->layouts[1]) |
			      placed(call->matrices[3], call->layouts[3]);

	return TFS_ALIGNMENT(tfs_cublas_aligned(bits), tfs_cublas_type_bytes((cudaDataType)type)) |
	       operations(call);
}

static void note(struct tfs_frame *frame, struct tfs_product_call *call)
{
	struct tfs_details details;

	tfs_details_init(&details, tfs_stream_id(call->stream, false));
	if (tfs_product_readable()) {
		const uint64_t batch = tfs_product_of_layout(
			call->layouts[3], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 4);

		put_layout(&details, call->matrices[0], call->layouts[0], TFS_ROLE_READ);
		put_layout(&details, call->matrices[1], call->layouts[1], TFS_ROLE_READ);
		if (tfs_product_adds(call))
			put_layout(&details, call->matrices[2], call->layouts[2], TFS_ROLE_READ);
		put_layout(&details, call->matrices[3], call->layouts[3], TFS_ROLE_WRITE);
		put_epilogue(&details, call);
		tfs_put_attribute(&details, TFS_ATTRIBUTE_shape_m,
			tfs_product_of_layout(call->layouts[3], CUBLASLT_MATRIX_LAYOUT_ROWS, 8));
		tfs_put_attribute(&details, TFS_ATTRIBUTE_shape_n,
			tfs_product_of_layout(call->layouts[3], CUBLASLT_MATRIX_LAYOUT_COLS, 8));
		tfs_put_attribute(&details, TFS_ATTRIBUTE_shape_k,
			tfs_product_of_layout(call->layouts[0],
				transposed(call, CUBLASLT_MATMUL_DESC_TRANSA)
					? CUBLASLT_MATRIX_LAYOUT_ROWS
					: CUBLASLT_MATRIX_LAYOUT_COLS,
				8));
		if (batch > 1)
			tfs_put_attribute(&details, TFS_ATTRIBUTE_count, batch);
		tfs_put_attribute(&details, TFS_ATTRIBUTE_math,
			tfs_product_of(call->product, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, 4));
		tfs_put_attribute(&details, TFS_ATTRIBUTE_alignment, alignment(call));
		tfs_put_attribute(&details, TFS_ATTRIBUTE_question, tfs_product_question(call));
	}
	if (call->workspace_bytes != 0)
		tfs_put_operand(&details, call->workspace, call->workspace_bytes,
			TFS_ROLE_SCRATCH | TFS_ROLE_WRITE | TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE));
	tfs_hook_details(frame, &details);
}

TFS_HOOK(cublasStatus_t, cublasLtMatmul,
	(cublasLtHandle_t handle, cublasLtMatmulDesc_t product, const void *alpha, const void *a,
		cublasLtMatrixLayout_t a_layout, const void *b, cublasLtMatrixLayout_t b_layout,
		const void *beta, const void *c, cublasLtMatrixLayout_t c_layout, void *d,
		cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t *algorithm,
		void *workspace, size_t workspace_bytes, cudaStream_t stream))
{
	struct tfs_frame frame = TFS_ENTER(cublasLtMatmul);
	struct tfs_product_call call = {handle, product, {a_layout, b_layout, c_layout, d_layout},
		{a, b, c, d}, alpha, beta, algorithm, workspace, workspace_bytes, stream, 0};
	struct tfs_op op;

	op.kind = TFS_OP_PRODUCT;
	op.minded = 0;
	op.product = &call;
	if (!tfs_take(&frame, &op))
		do
			op.status = TFS_REAL(cublasLtMatmul)(handle, product, alpha, a, a_layout, b,
				b_layout, beta, c, c_layout, d, d_layout, algorithm, workspace,
				workspace_bytes, stream);
		while (tfs_again(&op));
	if (TFS_END(&frame, op.status, 0))
		note(&frame, &call);
	return TFS_LEAVE(&frame), (cublasStatus_t)op.status;
}

TFS_PLAIN_HOOK(cublasStatus_t, cublasLtCreate, (cublasLtHandle_t * lightHandle), (lightHandle))
TFS_PLAIN_HOOK(cublasStatus_t, cublasLtDestroy, (cublasLtHandle_t lightHandle), (lightHandle))
#define FUNCTIONS(X)                                                                               \
	X(cublasLtCreate, handle_create)                                                           \
	X(cublasLtDestroy, handle_destroy)                                                         \
	X(cublasLtMatmul, gemm)

FUNCTIONS(TFS_FUNCTION_ROW)
