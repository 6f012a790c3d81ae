/* SPDX-License-Identifier: MIT */
/*
 * Long products are summed up in a workspace: the library's own, or the one that the program lends
 * to a handle until it sets another stream. Nothing that was in it matters, all that is needed of
 * it is written to, and with too little of it a call fails or takes another way.
 */
#include <cublasLt.h>
#include <cublas_v2.h>

#include "tests/libraries/lib_check.h"

enum { M = 32, N = 40, K = 1024, LENT = 1 << 20 };

static cublasHandle_t blas;
static float *a, *b, *c, *values;
static char *work;

static cublasStatus_t multiply(void)
{
	const float one = 1, zero = 0;

	return cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_T, M, N, K, &one, a, M, b, N, &zero, c, M);
}

/* The product by the handle as it is. */
static void result(float *out)
{
	LIB_EQ(cudaMemset(c, 0x7f, M * N * sizeof(float)), 0);
	LIB_EQ(multiply(), 0);
	lib_download(out, c, M * N);
}

/* The bytes of the workspace that still hold the value. */
static size_t kept(int value)
{
	static unsigned char bytes[LENT];
	size_t n = 0;

	LIB_EQ(cudaDeviceSynchronize(), 0);
	LIB_EQ(cudaMemcpy(bytes, work, LENT, cudaMemcpyDeviceToHost), 0);
	for (size_t i = 0; i < LENT; i++)
		n += bytes[i] == value;
	return n;
}

static void lend(int value, void *memory, size_t size)
{
	LIB_EQ(cudaMemset(work, value, LENT), 0);
	LIB_EQ(cublasSetWorkspace(blas, memory, size), 0);
}

static void check_sum(const float *got)
{
	double *want = calloc(M * N, sizeof(*want));
	float *x = lib_values(M * K, 1), *y = lib_values(K * N, 2);

	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			for (int k = 0; k < K; k++)
				want[i + j * M] += (double)x[i + k * M] * (double)y[j + k * N];
	lib_near("product", got, want, M * N, 1e-4);
	free(want);
	free(x);
	free(y);
}

static void check_lent(const float *want)
{
	static float got[M * N];
	const size_t bytes = sizeof(got);
	cudaStream_t stream;

	LIB_EQ(cublasSetWorkspace(blas, work + 128, LENT / 2), CUBLAS_STATUS_INVALID_VALUE);
	for (int value = 0; value < 256; value += 51) {
		lend(value, work, LENT);
		result(got);
		LIB_TRUE(!memcmp(got, want, bytes));
		/* More than one product; in hostile mode, all that was lent. */
		LIB_TRUE(kept(value) <= LENT - 2 * bytes);
	}
	/* Enough to be served, but by a product that is summed in one go. */
	lend(0x33, work, 16 << 10);
	result(got);
	check_sum(got);
	LIB_TRUE(memcmp(got, want, bytes) != 0);
	/* A new stream, even the same one, takes the library's own workspace again. */
	LIB_EQ(cudaStreamCreate(&stream), 0);
	LIB_EQ(cublasSetStream(blas, stream), 0);
	lend(0x33, work, LENT);
	LIB_EQ(cublasSetStream(blas, stream), 0);
	result(got);
	LIB_TRUE(!memcmp(got, want, bytes));
	LIB_EQ(kept(0x33), LENT);
	LIB_EQ(cublasSetStream(blas, 0), 0);
	LIB_EQ(cudaStreamDestroy(stream), 0);
	lend(0x33, NULL, 0);
	LIB_EQ(multiply(), CUBLAS_STATUS_ALLOC_FAILED);
	lend(0x33, work, 4096);
	LIB_EQ(multiply(), CUBLAS_STATUS_ALLOC_FAILED);
	LIB_EQ(kept(0x33), LENT);
	LIB_EQ(cublasSetStream(blas, 0), 0);
}

/* While it is lent it is the library's: hostile mode writes to it in any call of the handle's. */
static void check_any_call(void)
{
	const float one = 1;

	lend(0x33, work, LENT);
	LIB_EQ(cublasSscal(blas, M, &one, c, 1), 0);
	LIB_EQ(kept(0x33), lib_hostile() ? 0 : LENT);
	LIB_EQ(cublasSetStream(blas, 0), 0);
}

/* A workspace that overlaps what is read or written: the result is another one. */
static void check_overlap(const float *want)
{
	static float got[M * N];
	float *operand = a;

	LIB_EQ(cudaMemcpy(work + LENT / 2, a, M * K * sizeof(float), cudaMemcpyDeviceToDevice), 0);
	LIB_EQ(cublasSetWorkspace(blas, work + LENT / 2, LENT / 2), 0);
	a = (float *)(work + LENT / 2);
	result(got);
	a = operand;
	LIB_TRUE(memcmp(got, want, sizeof(got)) != 0);
	LIB_EQ(cublasSetStream(blas, 0), 0);
}

struct matmul {
	cublasLtHandle_t lt;
	cublasLtMatmulDesc_t op;
	cublasLtMatrixLayout_t la, lb, lc;
};

static cublasStatus_t run(
	const struct matmul *m, const cublasLtMatmulHeuristicResult_t *r, void *memory, size_t size)
{
	const float one = 1, zero = 0;

	return cublasLtMatmul(m->lt, m->op, &one, a, m->la, b, m->lb, &zero, c, m->lc, c, m->lc,
		&r->algo, memory, size, 0);
}

/* What the heuristics give within a limit: the one with the largest workspace. */
static cublasLtMatmulHeuristicResult_t most(const struct matmul *m, uint64_t limit)
{
	cublasLtMatmulHeuristicResult_t r[8], best = {.workspaceSize = 0};
	cublasLtMatmulPreference_t preference;
	int n = 0;

	LIB_EQ(cublasLtMatmulPreferenceCreate(&preference), 0);
	LIB_EQ(cublasLtMatmulPreferenceSetAttribute(
		       preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &limit, sizeof(limit)),
		0);
	LIB_EQ(cublasLtMatmulAlgoGetHeuristic(
		       m->lt, m->op, m->la, m->lb, m->lc, m->lc, preference, 8, r, &n),
		0);
	for (int i = 0; i < n; i++) {
		LIB_TRUE(r[i].workspaceSize <= limit);
		if (i == 0 || r[i].workspaceSize > best.workspaceSize)
			best = r[i];
	}
	LIB_EQ(cublasLtMatmulPreferenceDestroy(preference), 0);
	return best;
}

static void check_light(void)
{
	static float want[M * N], got[M * N];
	const int32_t transposed = CUBLAS_OP_T;
	cublasLtMatmulHeuristicResult_t r;
	struct matmul m;

	LIB_EQ(cublasLtCreate(&m.lt), 0);
	LIB_EQ(cublasLtMatmulDescCreate(&m.op, CUBLAS_COMPUTE_32F, CUDA_R_32F), 0);
	LIB_EQ(cublasLtMatmulDescSetAttribute(
		       m.op, CUBLASLT_MATMUL_DESC_TRANSB, &transposed, sizeof(transposed)),
		0);
	LIB_EQ(cublasLtMatrixLayoutCreate(&m.la, CUDA_R_32F, M, K, M), 0);
	LIB_EQ(cublasLtMatrixLayoutCreate(&m.lb, CUDA_R_32F, N, K, N), 0);
	LIB_EQ(cublasLtMatrixLayoutCreate(&m.lc, CUDA_R_32F, M, N, M), 0);
	LIB_EQ(most(&m, 0).workspaceSize, 0);
	r = most(&m, LENT);
	LIB_TRUE(r.workspaceSize >= 2 * sizeof(want));
	LIB_TRUE(most(&m, r.workspaceSize - 1).workspaceSize < r.workspaceSize);
	LIB_EQ(run(&m, &r, work, LENT), 0);
	lib_download(want, c, M * N);
	check_sum(want);
	for (int value = 0; value < 256; value += 51) {
		LIB_EQ(cudaMemset(work, value, LENT), 0);
		LIB_EQ(run(&m, &r, work, r.workspaceSize), 0);
		lib_download(got, c, M * N);
		LIB_TRUE(!memcmp(got, want, sizeof(want)));
		LIB_EQ(kept(value), LENT - r.workspaceSize);
	}
	LIB_EQ(cudaMemset(work, 0x33, LENT), 0);
	LIB_EQ(run(&m, &r, work, r.workspaceSize - 1), CUBLAS_STATUS_INVALID_VALUE);
	LIB_EQ(run(&m, &r, NULL, LENT), CUBLAS_STATUS_INVALID_VALUE);
	LIB_EQ(run(&m, &r, work + 128, LENT - 128), CUBLAS_STATUS_INVALID_VALUE);
	LIB_EQ(kept(0x33), LENT);
	cublasLtMatrixLayoutDestroy(m.la);
	cublasLtMatrixLayoutDestroy(m.lb);
	cublasLtMatrixLayoutDestroy(m.lc);
	cublasLtMatmulDescDestroy(m.op);
	LIB_EQ(cublasLtDestroy(m.lt), 0);
}

int main(void)
{
	static float want[M * N];

	if (!LIB_EQ(cublasCreate(&blas), 0))
		return lib_result();
	values = lib_values(M * K, 1);
	a = lib_upload(values, M * K);
	free(values);
	values = lib_values(K * N, 2);
	b = lib_upload(values, K * N);
	free(values);
	c = lib_upload(NULL, M * N);
	LIB_EQ(cudaMalloc((void **)&work, LENT), 0);
	result(want);
	check_sum(want);
	check_lent(want);
	check_any_call();
	check_overlap(want);
	check_light();
	LIB_EQ(cublasDestroy(blas), 0);
	return lib_result();
}
