/* SPDX-License-Identifier: MIT */
/* Where nothing is computed: what a library hands to the host is zeros, and is waited for. */
#include "profile_case.h"

#include <cublas_v2.h>

#define BLAS(call) TEST_EQ(call, CUBLAS_STATUS_SUCCESS)
#define N 1000
#define BUSY_NS 5000000

static cublasHandle_t blas;
static char *memory;
static double began;

/* The device is busy for 5 ms from here. */
static void *begin(void *result, size_t bytes)
{
	memset(result, 0x5a, bytes);
	OK(cudaDeviceSynchronize());
	began = host_ns();
	launch(0, BUSY_NS, 4000);
	return result;
}

static void expect_zeros(const void *result, size_t bytes)
{
	static const char zeros[8];

	TEST_TRUE(memcmp(result, zeros, bytes) == 0);
	TEST_TRUE(host_ns() >= began + BUSY_NS);
}

#define CHECK(T, name, ...)                                                                        \
	do {                                                                                       \
		T result;                                                                          \
                                                                                                   \
		BLAS(name(blas, N, __VA_ARGS__, begin(&result, sizeof(result))));                  \
		expect_zeros(&result, sizeof(result));                                             \
	} while (0)

static void check_host(void)
{
	const float *x = (float *)(void *)memory;
	const double *wide = (double *)(void *)memory;

	CHECK(float, cublasSdot, x, 1, x, 1);
	CHECK(double, cublasDdot, wide, 1, wide, 1);
	CHECK(float, cublasSnrm2, x, 1);
	CHECK(double, cublasDnrm2, wide, 1);
	CHECK(float, cublasSasum, x, 1);
	CHECK(double, cublasDasum, wide, 1);
	CHECK(int, cublasIsamax, x, 1);
	CHECK(int64_t, cublasIdamin_64, wide, 1);
}

static void check_typed(void)
{
	unsigned short half;
	float single;

	BLAS(cublasDotEx(blas, N, memory, CUDA_R_16F, 1, memory, CUDA_R_16F, 1,
		begin(&half, sizeof(half)), CUDA_R_16F, CUDA_R_32F));
	expect_zeros(&half, sizeof(half));
	BLAS(cublasDotcEx(blas, N, memory, CUDA_R_32F, 1, memory, CUDA_R_32F, 1,
		begin(&single, sizeof(single)), CUDA_R_32F, CUDA_R_32F));
	expect_zeros(&single, sizeof(single));
}

/* A result in device memory is left alone, and nobody waits for it. */
static void check_device(void)
{
	float *x = (float *)(void *)memory, *result = x + N;

	BLAS(cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_DEVICE));
	BLAS(cublasSdot(blas, N, x, 1, x, 1, begin(result, sizeof(*result))));
	TEST_EQ(*(char *)result, 0x5a);
	TEST_TRUE(host_ns() < began + BUSY_NS);
	BLAS(cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_HOST));
}

int main(void)
{
	OK(cudaMalloc((void **)&memory, N * 16));
	BLAS(cublasCreate(&blas));
	check_host();
	check_typed();
	check_device();
	BLAS(cublasDestroy(blas));
	OK(cudaFree(memory));
	return test_result();
}
