/* SPDX-License-Identifier: MIT */
/*
 * How fast the device multiplies: by type, by math mode, with dimensions that are a multiple of
 * eight and with others, in large products and in such as fit a small layer. "fact rates NAME
 * TFLOP/S", the median; "fact rates copy-... GB/S". See fact.h.
 */
#include <cublas_v2.h>

#include "tests/gpu/facts/fact.h"

#define OK(call) TEST_EQ(call, 0)

enum { REPEATS = 7, CALLS = 5 };

static cublasHandle_t blas;
static cudaEvent_t begin, end;
static char *memory;

static const struct {
	const char *name;
	cudaDataType_t type;
	cublasComputeType_t compute;
	size_t size;
} types[] = {
	{"float", CUDA_R_32F, CUBLAS_COMPUTE_32F, 4},
	{"float-pedantic", CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC, 4},
	{"tf32", CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 4},
	{"half", CUDA_R_16F, CUBLAS_COMPUTE_32F, 2},
	{"bf16", CUDA_R_16BF, CUBLAS_COMPUTE_32F, 2},
};

struct shape {
	int m, n, k;
};

static const struct shape large[] = {{4096, 4096, 4096}, {4095, 4096, 4096}, {4096, 4095, 4096},
	{4096, 4096, 4095}, {4095, 4095, 4095}};
static const struct shape small[] = {{64, 64, 64}, {512, 512, 512}, {512, 512, 256},
	{1000, 256, 512}, {1001, 256, 512}, {1001, 257, 513}, {1008, 264, 520}};

/* Milliseconds of one product; the matrices lie at offset bytes from an aligned place. */
static double product_ms(size_t type, struct shape s, size_t offset)
{
	const size_t size = types[type].size;
	const float one = 1, zero = 0;
	char *a = memory + offset, *b = a + (size_t)s.m * (size_t)s.k * size;
	char *c = b + (size_t)s.k * (size_t)s.n * size;
	double ms[REPEATS];

	for (unsigned round = 0; round < REPEATS; round++) {
		float passed = 0;

		OK(cudaEventRecord(begin, NULL));
		for (unsigned i = 0; i < CALLS; i++)
			OK(cublasGemmEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, s.m, s.n, s.k, &one, a,
				types[type].type, s.m, b, types[type].type, s.k, &zero, c,
				types[type].type, s.m, types[type].compute, CUBLAS_GEMM_DEFAULT));
		OK(cudaEventRecord(end, NULL));
		OK(cudaEventSynchronize(end));
		OK(cudaEventElapsedTime(&passed, begin, end));
		ms[round] = (double)passed / CALLS;
	}
	return fact_median(ms, REPEATS);
}

static void ask(size_t type, struct shape s, size_t offset)
{
	const double ms = product_ms(type, s, offset);
	char name[96];

	snprintf(name, sizeof(name), "%s-%dx%dx%d%s", types[type].name, s.m, s.n, s.k,
		offset ? "-off-by-one" : "");
	fact("rates", name, "%.1f TFLOP/s, %.2f us", 2e-9 * s.m * s.n * s.k / ms, ms * 1e3);
}

static void ask_copy(const char *name, size_t bytes)
{
	double ms[REPEATS];

	for (unsigned round = 0; round < REPEATS; round++) {
		float passed = 0;

		OK(cudaEventRecord(begin, NULL));
		OK(cudaMemcpyAsync(memory, memory + bytes, bytes, cudaMemcpyDeviceToDevice, NULL));
		OK(cudaEventRecord(end, NULL));
		OK(cudaEventSynchronize(end));
		OK(cudaEventElapsedTime(&passed, begin, end));
		ms[round] = (double)passed;
	}
	fact("rates", name, "%.0f GB/s", 1e-6 * (double)bytes / fact_median(ms, REPEATS));
}

int main(void)
{
	const bool simulated = fact_device() && fact_simulated();

	if (!fact_device())
		return test_skip("no CUDA device");
	OK(cudaMalloc((void **)&memory, (size_t)512 << 20));
	OK(cudaMemset(memory, 0x3c, (size_t)512 << 20));
	OK(cudaEventCreate(&begin));
	OK(cudaEventCreate(&end));
	OK(cublasCreate(&blas));
	ask(0, small[0], 0);
	for (size_t type = 0; !simulated && type < sizeof(types) / sizeof(types[0]); type++) {
		for (size_t i = 0; i < sizeof(small) / sizeof(small[0]); i++)
			ask(type, small[i], 0);
		for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++)
			ask(type, large[i], 0);
		ask(type, large[0], types[type].size);
	}
	ask_copy("copy-64-MiB", (size_t)64 << 20);
	ask_copy("copy-256-MiB", (size_t)256 << 20);
	return test_result();
}
