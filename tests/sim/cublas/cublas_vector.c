/* SPDX-License-Identifier: MIT */
#include "tests/sim/cublas/cublas_op.h"

/* The copy helpers: a vector is a matrix of one row. They block unless they are Async. */
static cublasStatus_t copy(int64_t rows, int64_t columns, int element, const void *from,
	int64_t from_ld, void *to, int64_t to_ld, enum cudaMemcpyKind kind, cudaStream_t stream,
	bool async)
{
	size_t size = (size_t)element;
	cudaError_t error;

	if (rows == 0 || columns == 0)
		return CUBLAS_STATUS_SUCCESS;
	if (rows < 0 || columns < 0 || element <= 0 || from_ld <= 0 || to_ld <= 0 || !from || !to)
		return CUBLAS_STATUS_INVALID_VALUE;
	error = tfsim_memcpy_2d(to, (size_t)to_ld * size, from, (size_t)from_ld * size,
		(size_t)rows * size, (size_t)columns, kind, stream, async);
	return error ? CUBLAS_STATUS_MAPPING_ERROR : CUBLAS_STATUS_SUCCESS;
}

TFS_BLAS_API cublasStatus_t cublasSetVector(
	int n, int elemSize, const void *x, int incx, void *devicePtr, int incy)
{
	return copy(1, n, elemSize, x, incx, devicePtr, incy, cudaMemcpyHostToDevice, 0, false);
}

TFS_BLAS_API cublasStatus_t cublasGetVector(
	int n, int elemSize, const void *x, int incx, void *y, int incy)
{
	return copy(1, n, elemSize, x, incx, y, incy, cudaMemcpyDeviceToHost, 0, false);
}

TFS_BLAS_API cublasStatus_t cublasSetMatrix(
	int rows, int cols, int elemSize, const void *A, int lda, void *B, int ldb)
{
	return copy(rows, cols, elemSize, A, lda, B, ldb, cudaMemcpyHostToDevice, 0, false);
}

TFS_BLAS_API cublasStatus_t cublasGetMatrix(
	int rows, int cols, int elemSize, const void *A, int lda, void *B, int ldb)
{
	return copy(rows, cols, elemSize, A, lda, B, ldb, cudaMemcpyDeviceToHost, 0, false);
}

TFS_BLAS_API cublasStatus_t cublasSetVectorAsync(int n, int elemSize, const void *hostPtr, int incx,
	void *devicePtr, int incy, cudaStream_t stream)
{
	return copy(1, n, elemSize, hostPtr, incx, devicePtr, incy, cudaMemcpyHostToDevice, stream,
		true);
}

TFS_BLAS_API cublasStatus_t cublasGetVectorAsync(int n, int elemSize, const void *devicePtr,
	int incx, void *hostPtr, int incy, cudaStream_t stream)
{
	return copy(1, n, elemSize, devicePtr, incx, hostPtr, incy, cudaMemcpyDeviceToHost, stream,
		true);
}

TFS_BLAS_API cublasStatus_t cublasSetMatrixAsync(int rows, int cols, int elemSize, const void *A,
	int lda, void *B, int ldb, cudaStream_t stream)
{
	return copy(rows, cols, elemSize, A, lda, B, ldb, cudaMemcpyHostToDevice, stream, true);
}

TFS_BLAS_API cublasStatus_t cublasGetMatrixAsync(int rows, int cols, int elemSize, const void *A,
	int lda, void *B, int ldb, cudaStream_t stream)
{
	return copy(rows, cols, elemSize, A, lda, B, ldb, cudaMemcpyDeviceToHost, stream, true);
}
