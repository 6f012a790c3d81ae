/* SPDX-License-Identifier: MIT */
/* cuSPARSE: products of a sparse matrix with vectors and dense matrices, against the same matrix
 * written out. */
#include <cusparse.h>

#include "tests/libraries/lib_check.h"

enum { ROWS = 37, COLS = 29, WIDTH = 5, FULL = ROWS * COLS };

static cusparseHandle_t handle;
static float dense[FULL]; /* by rows */
static float values[FULL];
static int64_t offsets[ROWS + 1], indices[FULL], nonzeros;

static void make_matrix(void)
{
	float *v = lib_values(FULL, 5);

	for (int r = 0; r < ROWS; r++) {
		offsets[r] = nonzeros;
		/* One row is empty. */
		for (int c = 0; c < COLS && r != 3; c++) {
			if ((r * 7 + c * 5) % 4)
				continue;
			dense[r * COLS + c] = v[r * COLS + c];
			indices[nonzeros] = c;
			values[nonzeros++] = v[r * COLS + c];
		}
	}
	offsets[ROWS] = nonzeros;
	free(v);
}

static void *upload(const void *host, size_t bytes)
{
	void *p = NULL;

	LIB_EQ(cudaMalloc(&p, bytes), 0);
	LIB_EQ(cudaMemcpy(p, host, bytes, cudaMemcpyHostToDevice), 0);
	return p;
}

/* n integers plus base, of 4 or 8 bytes. */
static void *integers(const int64_t *from, size_t n, bool wide, int base)
{
	int32_t small[FULL];
	int64_t large[FULL];

	for (size_t i = 0; i < n; i++) {
		large[i] = from[i] + base;
		small[i] = (int32_t)large[i];
	}
	return wide ? upload(large, n * 8) : upload(small, n * 4);
}

static cusparseSpMatDescr_t describe(bool wide, cusparseIndexBase_t base)
{
	cusparseIndexType_t type = wide ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
	cusparseSpMatDescr_t matrix = NULL;

	LIB_EQ(cusparseCreateCsr(&matrix, ROWS, COLS, nonzeros,
		       integers(offsets, ROWS + 1, wide, (int)base),
		       integers(indices, (size_t)nonzeros, wide, (int)base),
		       upload(values, (size_t)nonzeros * 4), type, type, base, CUDA_R_32F),
		0);
	return matrix;
}

static double entry(bool transposed, int i, int k)
{
	return (double)(transposed ? dense[k * COLS + i] : dense[i * COLS + k]);
}

static void check_vector(cusparseSpMatDescr_t matrix, bool transposed, float alpha, float beta)
{
	int n = transposed ? ROWS : COLS, m = transposed ? COLS : ROWS;
	float *x = lib_values((size_t)n, 7), *y = lib_values((size_t)m, 8), got[FULL];
	float *dx = lib_upload(x, (size_t)n), *dy = lib_upload(y, (size_t)m);
	cusparseOperation_t op =
		transposed ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
	cusparseDnVecDescr_t vx, vy;
	double want[FULL];
	size_t bytes = 1;

	if (beta == 0) /* must not be read */
		LIB_EQ(cudaMemset(dy, 0xff, (size_t)m * 4), 0);
	LIB_EQ(cusparseCreateDnVec(&vx, n, dx, CUDA_R_32F), 0);
	LIB_EQ(cusparseCreateDnVec(&vy, m, dy, CUDA_R_32F), 0);
	LIB_EQ(cusparseSpMV_bufferSize(handle, op, &alpha, matrix, vx, &beta, vy, CUDA_R_32F,
		       CUSPARSE_SPMV_ALG_DEFAULT, &bytes),
		0);
	LIB_EQ(cusparseSpMV(handle, op, &alpha, matrix, vx, &beta, vy, CUDA_R_32F,
		       CUSPARSE_SPMV_ALG_DEFAULT, NULL),
		0);
	for (int i = 0; i < m; i++) {
		want[i] = (double)beta * (double)y[i];
		for (int k = 0; k < n; k++)
			want[i] += (double)alpha * entry(transposed, i, k) * (double)x[k];
	}
	lib_download(got, dy, (size_t)m);
	lib_near(transposed ? "transposed" : "vector", got, want, (size_t)m, 1e-5);
	/* One side too long. */
	LIB_EQ(cusparseSpMV(handle,
		       transposed ? CUSPARSE_OPERATION_NON_TRANSPOSE : CUSPARSE_OPERATION_TRANSPOSE,
		       &alpha, matrix, vx, &beta, vy, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, NULL),
		CUSPARSE_STATUS_INVALID_VALUE);
	LIB_EQ(cusparseDestroyDnVec(vx), 0);
	LIB_EQ(cusparseDestroyDnVec(vy), 0);
	free(x);
	free(y);
}

static size_t place(cusparseOrder_t order, int rows, int cols, int i, int j)
{
	return (size_t)(order == CUSPARSE_ORDER_ROW ? i * cols + j : i + j * rows);
}

static void check_matrix(cusparseSpMatDescr_t matrix, cusparseOrder_t order, bool transposed)
{
	int rows = transposed ? WIDTH : COLS, cols = transposed ? COLS : WIDTH;
	cusparseOperation_t op =
		transposed ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
	float *b = lib_values(COLS * WIDTH, 9), *c = lib_values(ROWS * WIDTH, 10), got[FULL];
	float *db = lib_upload(b, COLS * WIDTH), *dc = lib_upload(c, ROWS * WIDTH);
	float scalars[2] = {2.0f, -0.5f}, *device = lib_upload(scalars, 2);
	cusparseDnMatDescr_t mb, mc;
	double want[FULL];

	LIB_EQ(cusparseCreateDnMat(&mb, rows, cols, order == CUSPARSE_ORDER_ROW ? cols : rows, db,
		       CUDA_R_32F, order),
		0);
	LIB_EQ(cusparseCreateDnMat(&mc, ROWS, WIDTH, order == CUSPARSE_ORDER_ROW ? WIDTH : ROWS, dc,
		       CUDA_R_32F, order),
		0);
	LIB_EQ(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_DEVICE), 0);
	LIB_EQ(cusparseSpMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, op, device, matrix, mb,
		       device + 1, mc, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, NULL),
		0);
	LIB_EQ(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_HOST), 0);
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < WIDTH; j++) {
			size_t at = place(order, ROWS, WIDTH, i, j);

			want[at] = -0.5 * (double)c[at];
			for (int k = 0; k < COLS; k++)
				want[at] += 2 * entry(false, i, k) *
					    (double)b[transposed ? place(order, rows, cols, j, k)
								 : place(order, rows, cols, k, j)];
		}
	lib_download(got, dc, ROWS * WIDTH);
	lib_near("matrix", got, want, ROWS * WIDTH, 1e-5);
	LIB_EQ(cusparseDestroyDnMat(mb), 0);
	LIB_EQ(cusparseDestroyDnMat(mc), 0);
	free(b);
	free(c);
}

static void check_double(void)
{
	int rows[] = {0, 2, 3}, cols[] = {0, 1, 1};
	double a[] = {1.0 / 3, 2, 1e-12}, x[] = {3, 1}, y[2] = {0}, one = 1, zero = 0;
	cusparseSpMatDescr_t matrix;
	cusparseDnVecDescr_t vx, vy;
	double *dy = upload(y, sizeof(y));

	LIB_EQ(cusparseCreateCsr(&matrix, 2, 2, 3, upload(rows, sizeof(rows)),
		       upload(cols, sizeof(cols)), upload(a, sizeof(a)), CUSPARSE_INDEX_32I,
		       CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
		0);
	LIB_EQ(cusparseCreateDnVec(&vx, 2, upload(x, sizeof(x)), CUDA_R_64F), 0);
	LIB_EQ(cusparseCreateDnVec(&vy, 2, dy, CUDA_R_64F), 0);
	LIB_EQ(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, vx, &zero, vy,
		       CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, NULL),
		0);
	LIB_EQ(cudaDeviceSynchronize(), 0);
	LIB_EQ(cudaMemcpy(y, dy, sizeof(y), cudaMemcpyDeviceToHost), 0);
	LIB_TRUE(y[0] == 3 && y[1] == 1e-12);
	LIB_EQ(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, vx, &zero, vy,
		       CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, NULL),
		CUSPARSE_STATUS_NOT_SUPPORTED);
	LIB_EQ(cusparseDestroyDnVec(vx), 0);
	LIB_EQ(cusparseDestroyDnVec(vy), 0);
	LIB_EQ(cusparseDestroySpMat(matrix), 0);
}

static void check_description(void)
{
	cusparseMatDescr_t d;

	LIB_EQ(cusparseCreateMatDescr(&d), 0);
	LIB_EQ(cusparseGetMatType(d), CUSPARSE_MATRIX_TYPE_GENERAL);
	LIB_EQ(cusparseSetMatType(d, CUSPARSE_MATRIX_TYPE_SYMMETRIC), 0);
	LIB_EQ(cusparseSetMatIndexBase(d, CUSPARSE_INDEX_BASE_ONE), 0);
	LIB_EQ(cusparseSetMatIndexBase(d, (cusparseIndexBase_t)2), CUSPARSE_STATUS_INVALID_VALUE);
	LIB_EQ(cusparseGetMatType(d), CUSPARSE_MATRIX_TYPE_SYMMETRIC);
	LIB_EQ(cusparseGetMatIndexBase(d), CUSPARSE_INDEX_BASE_ONE);
	LIB_EQ(cusparseDestroyMatDescr(d), 0);
	LIB_TRUE(!strcmp(cusparseGetErrorName(CUSPARSE_STATUS_NOT_SUPPORTED),
		"CUSPARSE_STATUS_NOT_SUPPORTED"));
}

int main(void)
{
	cudaStream_t stream, got;

	if (!LIB_EQ(cusparseCreate(&handle), 0))
		return lib_result();
	LIB_EQ(cudaStreamCreate(&stream), 0);
	LIB_EQ(cusparseSetStream(handle, stream), 0);
	LIB_EQ(cusparseGetStream(handle, &got), 0);
	LIB_TRUE(got == stream);
	make_matrix();
	for (int wide = 0; wide < 2; wide++)
		for (int base = 0; base < 2; base++) {
			cusparseSpMatDescr_t matrix = describe(wide, (cusparseIndexBase_t)base);

			check_vector(matrix, false, 1.5f, 0);
			check_vector(matrix, false, 1, -2);
			check_vector(matrix, true, -1, 0.5f);
			check_matrix(matrix, CUSPARSE_ORDER_COL, false);
			check_matrix(matrix, CUSPARSE_ORDER_ROW, false);
			check_matrix(matrix, CUSPARSE_ORDER_ROW, true);
			LIB_EQ(cusparseDestroySpMat(matrix), 0);
		}
	check_double();
	check_description();
	LIB_EQ(cusparseDestroy(handle), 0);
	return lib_result();
}
