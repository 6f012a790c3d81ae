/* SPDX-License-Identifier: MIT */
#define TFS_HOT_HOOKS
#include <cublasLt.h>

#include "shim/hooks/cublas.h"
#include "shim/resolve/direct.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cublaslt

/* Bits of an epilogue. */
#define WITH_BIAS 4u
#define WITH_AUX 128u

/* Descriptors are opaque: what is in them is asked for. */
static bool find(void)
{
	return TFS_DIRECT(cublasLtMatrixLayoutGetAttribute) &&
	       TFS_DIRECT(cublasLtMatmulDescGetAttribute);
}

/* 0 where it is not known. */
static uint64_t of_layout(
	cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute, size_t bytes)
{
	uint64_t value = 0;
	size_t written = 0;

	return TFS_DIRECT(cublasLtMatrixLayoutGetAttribute)(
		       layout, attribute, &value, bytes, &written) == CUBLAS_STATUS_SUCCESS
		       ? value
		       : 0;
}

static uint64_t of_product(
	cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t attribute, size_t bytes)
{
	uint64_t value = 0;
	size_t written = 0;

	return TFS_DIRECT(cublasLtMatmulDescGetAttribute)(
		       product, attribute, &value, bytes, &written) == CUBLAS_STATUS_SUCCESS
		       ? value
		       : 0;
}

static void put_layout(struct tfs_details *details, const void *address,
	cublasLtMatrixLayout_t layout, uint32_t role)
{
	const uint32_t type = (uint32_t)of_layout(layout, CUBLASLT_MATRIX_LAYOUT_TYPE, 4);
	const uint64_t order = of_layout(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, 4);
	const uint64_t rows = of_layout(layout, CUBLASLT_MATRIX_LAYOUT_ROWS, 8);
	const uint64_t columns = of_layout(layout, CUBLASLT_MATRIX_LAYOUT_COLS, 8);
	const uint64_t leading = of_layout(layout, CUBLASLT_MATRIX_LAYOUT_LD, 8);
	const uint64_t batch = of_layout(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 4);
	const uint64_t stride = of_layout(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 8);
	const uint64_t last = batch > 1 ? stride * (batch - 1) : 0;
	const uint32_t bytes = tfs_cublas_type_bytes((cudaDataType)type);

	if (order == CUBLASLT_ORDER_COL)
		tfs_put_matrix(details, address, leading, last + rows, columns, bytes, role);
	else if (order == CUBLASLT_ORDER_ROW)
		tfs_put_matrix(details, address, leading, last + columns, rows, bytes, role);
	else
		tfs_put_operand(details, address, 0, role | TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE));
}

struct matmul {
	cublasLtMatmulDesc_t product;
	cudaStream_t stream;
	const void *a, *b, *c, *d, *beta, *workspace;
	cublasLtMatrixLayout_t a_layout, b_layout, c_layout, d_layout;
	size_t workspace_bytes;
};

/* A beta that is not known counts as one that reads. */
static bool adds(const struct matmul *call)
{
	const uint64_t mode = of_product(call->product, CUBLASLT_MATMUL_DESC_POINTER_MODE, 4);
	const uint64_t type = of_product(call->product, CUBLASLT_MATMUL_DESC_SCALE_TYPE, 4);

	if (mode != CUBLASLT_POINTER_MODE_HOST || !call->beta)
		return true;
	if (type == CUDA_R_64F)
		return *(const double *)call->beta != 0;
	return type != CUDA_R_32F || *(const float *)call->beta != 0;
}

static void put_epilogue(struct tfs_details *details, const struct matmul *call)
{
	const uint64_t epilogue = of_product(call->product, CUBLASLT_MATMUL_DESC_EPILOGUE, 4);
	const uint32_t device = TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE);

	if ((epilogue & WITH_BIAS) != 0)
		tfs_put_operand(details,
			(const void *)(uintptr_t)of_product(
				call->product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, sizeof(void *)),
			0, TFS_ROLE_READ | device);
	if ((epilogue & WITH_AUX) != 0)
		tfs_put_operand(details,
			(const void *)(uintptr_t)of_product(call->product,
				CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, sizeof(void *)),
			0, TFS_ROLE_READ | TFS_ROLE_WRITE | device);
}

/* What divides a matrix's address and the distance of its columns. */
static uint64_t placed(const void *address, cublasLtMatrixLayout_t layout)
{
	const uint64_t type = of_layout(layout, CUBLASLT_MATRIX_LAYOUT_TYPE, 4);

	return (uintptr_t)address | of_layout(layout, CUBLASLT_MATRIX_LAYOUT_LD, 8) *
					    tfs_cublas_type_bytes((cudaDataType)type);
}

static bool transposed(const struct matmul *call, cublasLtMatmulDescAttributes_t which)
{
	return of_product(call->product, which, 4) != CUBLAS_OP_N;
}

static uint64_t operations(const struct matmul *call)
{
	const cublasLtMatrixLayout_t layouts[] = {call->a_layout, call->b_layout, call->d_layout};

	for (unsigned i = 0; i < 3; i++)
		if (of_layout(layouts[i], CUBLASLT_MATRIX_LAYOUT_ORDER, 4) != CUBLASLT_ORDER_COL)
			return 0;
	return TFS_PRODUCT_ORDERED |
	       (transposed(call, CUBLASLT_MATMUL_DESC_TRANSA) ? TFS_PRODUCT_FIRST_TRANSPOSED : 0) |
	       (transposed(call, CUBLASLT_MATMUL_DESC_TRANSB) ? TFS_PRODUCT_SECOND_TRANSPOSED : 0);
}

static uint64_t alignment(const struct matmul *call)
{
	const uint64_t type = of_layout(call->a_layout, CUBLASLT_MATRIX_LAYOUT_TYPE, 4);
	const uint64_t bits = placed(call->a, call->a_layout) | placed(call->b, call->b_layout) |
			      placed(call->d, call->d_layout);

	return TFS_ALIGNMENT(tfs_cublas_aligned(bits), tfs_cublas_type_bytes((cudaDataType)type)) |
	       operations(call);
}

static void note(struct tfs_frame *frame, const struct matmul *call)
{
	struct tfs_details details;

	tfs_details_init(&details, tfs_stream_id(call->stream, false));
	if (find()) {
		const uint64_t batch =
			of_layout(call->d_layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 4);

		put_layout(&details, call->a, call->a_layout, TFS_ROLE_READ);
		put_layout(&details, call->b, call->b_layout, TFS_ROLE_READ);
		if (adds(call))
			put_layout(&details, call->c, call->c_layout, TFS_ROLE_READ);
		put_layout(&details, call->d, call->d_layout, TFS_ROLE_WRITE);
		put_epilogue(&details, call);
		tfs_put_attribute(&details, TFS_ATTRIBUTE_shape_m,
			of_layout(call->d_layout, CUBLASLT_MATRIX_LAYOUT_ROWS, 8));
		tfs_put_attribute(&details, TFS_ATTRIBUTE_shape_n,
			of_layout(call->d_layout, CUBLASLT_MATRIX_LAYOUT_COLS, 8));
		tfs_put_attribute(&details, TFS_ATTRIBUTE_shape_k,
			of_layout(call->a_layout,
				transposed(call, CUBLASLT_MATMUL_DESC_TRANSA)
					? CUBLASLT_MATRIX_LAYOUT_ROWS
					: CUBLASLT_MATRIX_LAYOUT_COLS,
				8));
		if (batch > 1)
			tfs_put_attribute(&details, TFS_ATTRIBUTE_count, batch);
		tfs_put_attribute(&details, TFS_ATTRIBUTE_math,
			of_product(call->product, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, 4));
		tfs_put_attribute(&details, TFS_ATTRIBUTE_alignment, alignment(call));
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
	const cublasStatus_t status =
		TFS_REAL(cublasLtMatmul)(handle, product, alpha, a, a_layout, b, b_layout, beta, c,
			c_layout, d, d_layout, algorithm, workspace, workspace_bytes, stream);

	if (TFS_END(&frame, status, 0))
		note(&frame, &(struct matmul){product, stream, a, b, c, d, beta, workspace,
				     a_layout, b_layout, c_layout, d_layout, workspace_bytes});
	return TFS_LEAVE(&frame), status;
}

TFS_PLAIN_HOOK(cublasStatus_t, cublasLtCreate, (cublasLtHandle_t * lightHandle), (lightHandle))
TFS_PLAIN_HOOK(cublasStatus_t, cublasLtDestroy, (cublasLtHandle_t lightHandle), (lightHandle))
#define FUNCTIONS(X)                                                                               \
	X(cublasLtCreate, handle_create)                                                           \
	X(cublasLtDestroy, handle_destroy)                                                         \
	X(cublasLtMatmul, gemm)

FUNCTIONS(TFS_FUNCTION_ROW)
