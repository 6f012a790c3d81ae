/* SPDX-License-Identifier: MIT */
/* Each vector call of cuBLAS in its four forms, and that it takes the time of what it moves. */
#include <cublas_v2.h>

#include "tests/libraries/lib_check.h"

enum { N = 4, SIDE = 1024 };

static cublasHandle_t blas;

static void compare(const char *what, bool wide, const void *device, const double *want)
{
	float single[2 * N];
	double both[2 * N];

	LIB_EQ(cudaMemcpy(wide ? (void *)both : single, device,
		       wide ? sizeof(both) : sizeof(single), cudaMemcpyDeviceToHost),
		0);
	for (int i = 0; i < 2 * N; i++)
		single[i] = wide ? (float)both[i] : single[i];
	lib_near(what, single, want, 2 * N, 0);
}

/* x is at the first N places of v, y at the others. */
#define FORM(name, T, I, S, is_wide)                                                               \
	static void name(void)                                                                     \
	{                                                                                          \
		const T values[2 * N] = {1, -2, 3, -8, 5, 6, 7, 9}, two = 2, one = 1;              \
		const I n = N;                                                                     \
		T *v = (T *)lib_upload(NULL, 4 * N);                                               \
                                                                                                   \
		LIB_EQ(cudaMemcpy(v, values, sizeof(values), cudaMemcpyHostToDevice), 0);          \
		LIB_EQ(S(axpy)(blas, n, &two, v, 1, v + N, 1), 0);                                 \
		compare("axpy", is_wide, v, (double[]){1, -2, 3, -8, 7, 2, 13, -7});               \
		LIB_EQ(S(scal)(blas, n, &two, v, 1), 0);                                           \
		compare("scal", is_wide, v, (double[]){2, -4, 6, -16, 7, 2, 13, -7});              \
		LIB_EQ(S(swap)(blas, n, v, 1, v + N, -1), 0);                                      \
		compare("swap", is_wide, v, (double[]){-7, 13, 2, 7, -16, 6, -4, 2});              \
		LIB_EQ(S(copy)(blas, n, v + N, 1, v, 1), 0);                                       \
		compare("copy", is_wide, v, (double[]){-16, 6, -4, 2, -16, 6, -4, 2});             \
		LIB_EQ(S(geam)(blas, CUBLAS_OP_T, CUBLAS_OP_N, 2, 2, &one, v, 2, &two, v + N, 2,   \
			       v + N, 2),                                                          \
			0);                                                                        \
		compare("geam", is_wide, v, (double[]){-16, 6, -4, 2, -48, 8, -2, 6});             \
		LIB_EQ(S(ger)(blas, 2, 2, &one, v, 1, v + 2, 1, v + N, 2), 0);                     \
		compare("ger", is_wide, v, (double[]){-16, 6, -4, 2, 16, -16, -34, 18});           \
		LIB_EQ(S(gemv)(blas, CUBLAS_OP_T, 2, 2, &one, v + N, 2, v, 1, &two, v + 2, 1), 0); \
		compare("gemv", is_wide, v, (double[]){-16, 6, -360, 656, 16, -16, -34, 18});      \
		LIB_EQ(cudaFree(v), 0);                                                            \
	}

#define SINGLE(call) cublasS##call
#define SINGLE_64(call) cublasS##call##_64
#define DOUBLE(call) cublasD##call
#define DOUBLE_64(call) cublasD##call##_64

FORM(check_single, float, int, SINGLE, false)
FORM(check_single_64, float, int64_t, SINGLE_64, false)
FORM(check_double, double, int, DOUBLE, true)
FORM(check_double_64, double, int64_t, DOUBLE_64, true)

/* Sums of as many elements read two and write one of each, whether of vectors or of matrices. */
static void check_times(void)
{
	float *x = lib_upload(NULL, SIDE * SIDE), *y = lib_upload(NULL, SIDE * SIDE);
	float one = 1, matrices = 0, vectors = 0, copies = 0;
	cudaEvent_t event[4];

	LIB_EQ(cudaMemset(x, 0, SIDE * SIDE * sizeof(float)), 0);
	LIB_EQ(cudaMemset(y, 0, SIDE * SIDE * sizeof(float)), 0);
	for (int i = 0; i < 4; i++)
		LIB_EQ(cudaEventCreate(&event[i]), 0);
	/* The device is busy until everything has been submitted. */
	for (int i = 0; i < 8; i++)
		LIB_EQ(cublasSaxpy(blas, SIDE * SIDE, &one, x, 1, y, 1), 0);
	LIB_EQ(cudaEventRecord(event[0], 0), 0);
	LIB_EQ(cublasSgeam(blas, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE, &one, x, SIDE, &one, y, SIDE,
		       y, SIDE),
		0);
	LIB_EQ(cudaEventRecord(event[1], 0), 0);
	LIB_EQ(cublasSaxpy(blas, SIDE * SIDE, &one, x, 1, y, 1), 0);
	LIB_EQ(cudaEventRecord(event[2], 0), 0);
	LIB_EQ(cublasScopy(blas, SIDE * SIDE, x, 1, y, 1), 0);
	LIB_EQ(cudaEventRecord(event[3], 0), 0);
	LIB_EQ(cudaDeviceSynchronize(), 0);
	LIB_EQ(cudaEventElapsedTime(&matrices, event[0], event[1]), 0);
	LIB_EQ(cudaEventElapsedTime(&vectors, event[1], event[2]), 0);
	LIB_EQ(cudaEventElapsedTime(&copies, event[2], event[3]), 0);
	if (!LIB_TRUE(fabs((double)(matrices / vectors) - 1) < 0.2) ||
		!LIB_TRUE(copies < 0.9f * vectors))
		printf("%g ms, %g ms and %g ms\n", (double)matrices, (double)vectors,
			(double)copies);
	for (int i = 0; i < 4; i++)
		LIB_EQ(cudaEventDestroy(event[i]), 0);
	LIB_EQ(cudaFree(x), 0);
	LIB_EQ(cudaFree(y), 0);
}

int main(void)
{
	if (!LIB_EQ(cublasCreate(&blas), 0))
		return lib_result();
	check_single();
	check_single_64();
	check_double();
	check_double_64();
	check_times();
	LIB_EQ(cublasDestroy(blas), 0);
	return lib_result();
}
