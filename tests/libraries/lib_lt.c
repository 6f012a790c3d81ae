/* SPDX-License-Identifier: MIT */
/* cuBLASLt: products with their epilogues, in float and in 16 bits, with every algorithm. */
#include <cublasLt.h>
#include <cublas_v2.h>

#include "tests/libraries/lib_check.h"

enum { M = 6, N = 5, K = 40 };

static cublasLtHandle_t lt;

/* Bfloat16 and half by hand: the test's values are exact in both. */
static uint16_t shorten(float f, cudaDataType type)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	if (type == CUDA_R_16BF)
		return (uint16_t)(bits >> 16);
	if (f == 0.0f)
		return 0;
	return (uint16_t)((bits >> 16 & 0x8000) | (((bits >> 13) - (112u << 10)) & 0x7fff));
}

static float lengthen(uint16_t h, cudaDataType type)
{
	uint32_t bits = (uint32_t)h << 16;
	float f;

	if (type == CUDA_R_16F)
		bits = (h & 0x7fff) ? (uint32_t)(h & 0x8000) << 16 |
					      (((uint32_t)(h & 0x7fff) << 13) + (112u << 23))
				    : 0;
	memcpy(&f, &bits, sizeof(f));
	return f;
}

/* A matrix on the device, of values with few bits. */
static void *matrix(const float *host, size_t n, cudaDataType type)
{
	uint16_t *narrow = malloc(n * sizeof(*narrow));
	void *p = NULL;

	LIB_EQ(cudaMalloc(&p, n * sizeof(float)), 0);
	for (size_t i = 0; i < n; i++)
		narrow[i] = shorten(host[i], type);
	LIB_EQ(cudaMemcpy(p, type == CUDA_R_32F ? (const void *)host : (const void *)narrow,
		       n * (type == CUDA_R_32F ? 4 : 2), cudaMemcpyHostToDevice),
		0);
	free(narrow);
	return p;
}

static void fetch(float *host, const void *device, size_t n, cudaDataType type)
{
	uint16_t narrow[512];

	LIB_EQ(cudaDeviceSynchronize(), 0);
	if (type == CUDA_R_32F) {
		LIB_EQ(cudaMemcpy(host, device, n * 4, cudaMemcpyDeviceToHost), 0);
		return;
	}
	LIB_EQ(cudaMemcpy(narrow, device, n * 2, cudaMemcpyDeviceToHost), 0);
	for (size_t i = 0; i < n; i++)
		host[i] = lengthen(narrow[i], type);
}

static float *eighths(size_t n, uint32_t seed)
{
	float *v = lib_values(n, seed);

	for (size_t i = 0; i < n; i++)
		v[i] = floorf(v[i] * 8.0f) / 8.0f;
	return v;
}

static double gelu(double x)
{
	return 0.5 * x * (1.0 + tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
}

static double after(cublasLtEpilogue_t e, double v)
{
	if (e == CUBLASLT_EPILOGUE_RELU_BIAS || e == CUBLASLT_EPILOGUE_RELU)
		return v > 0 ? v : 0;
	return e == CUBLASLT_EPILOGUE_GELU_BIAS ? gelu(v) : v;
}

static void check(
	cudaDataType type, cublasOperation_t ta, bool rows, cublasLtEpilogue_t epilogue, float beta)
{
	float *a = eighths(M * K, 3), *b = eighths(K * N, 5), *c = eighths(M * N, 7);
	float *bias = eighths(M, 9), got[M * N], alpha = 0.5f;
	void *da = matrix(a, M * K, type), *db = matrix(b, K * N, type),
	     *dc = matrix(c, M * N, type);
	void *dd = matrix(c, M * N, type), *dbias = matrix(bias, M, type), *work = NULL;
	int32_t order = rows ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
	size_t limit = 1 << 20;
	cublasLtMatmulDesc_t op;
	cublasLtMatrixLayout_t la, lb, lc;
	cublasLtMatmulPreference_t preference;
	cublasLtMatmulHeuristicResult_t found[8];
	double want[M * N];
	bool biased = epilogue & CUBLASLT_EPILOGUE_BIAS;
	int n = 0;

	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			size_t o = (size_t)(rows ? i * N + j : i + j * M);
			double sum = 0;

			for (int k = 0; k < K; k++)
				sum += (double)a[ta != CUBLAS_OP_N ? k + i * K : i + k * M] *
				       (double)b[k + j * K];
			want[o] = after(epilogue, 0.5 * sum + (double)beta * (double)c[o] +
							  (biased ? (double)bias[i] : 0));
		}
	LIB_EQ(cudaMalloc(&work, limit), 0);
	LIB_EQ(cublasLtMatmulDescCreate(&op, CUBLAS_COMPUTE_32F, CUDA_R_32F), 0);
	LIB_EQ(cublasLtMatmulDescSetAttribute(op, CUBLASLT_MATMUL_DESC_TRANSA, &ta, sizeof(ta)), 0);
	LIB_EQ(cublasLtMatmulDescSetAttribute(
		       op, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof(epilogue)),
		0);
	LIB_EQ(cublasLtMatmulDescSetAttribute(
		       op, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &dbias, sizeof(dbias)),
		0);
	LIB_EQ(cublasLtMatrixLayoutCreate(&la, type, ta != CUBLAS_OP_N ? K : M,
		       ta != CUBLAS_OP_N ? M : K, ta != CUBLAS_OP_N ? K : M),
		0);
	LIB_EQ(cublasLtMatrixLayoutCreate(&lb, type, K, N, K), 0);
	LIB_EQ(cublasLtMatrixLayoutCreate(&lc, type, M, N, rows ? N : M), 0);
	LIB_EQ(cublasLtMatrixLayoutSetAttribute(
		       lc, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof(order)),
		0);
	LIB_EQ(cublasLtMatmulPreferenceCreate(&preference), 0);
	LIB_EQ(cublasLtMatmulPreferenceSetAttribute(
		       preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &limit, sizeof(limit)),
		0);
	LIB_EQ(cublasLtMatmulAlgoGetHeuristic(lt, op, la, lb, lc, lc, preference, 8, found, &n), 0);
	LIB_TRUE(n >= 1);
	for (int i = -1; i < n; i++) {
		LIB_EQ(cublasLtMatmul(lt, op, &alpha, da, la, db, lb, &beta, dc, lc, dd, lc,
			       i < 0 ? NULL : &found[i].algo, work, limit, 0),
			0);
		fetch(got, dd, M * N, type);
		lib_near("lt", got, want, M * N, type == CUDA_R_32F ? 1e-5 : 1e-2);
		if (i >= 0 && found[i].workspaceSize)
			LIB_EQ(cublasLtMatmul(lt, op, &alpha, da, la, db, lb, &beta, dc, lc, dd, lc,
				       &found[i].algo, work, found[i].workspaceSize - 1, 0),
				CUBLAS_STATUS_INVALID_VALUE);
	}
	cublasLtMatmulPreferenceDestroy(preference);
	cublasLtMatrixLayoutDestroy(la);
	cublasLtMatrixLayoutDestroy(lb);
	cublasLtMatrixLayoutDestroy(lc);
	cublasLtMatmulDescDestroy(op);
	cudaFree(da);
	cudaFree(db);
	cudaFree(dc);
	cudaFree(dd);
	cudaFree(dbias);
	cudaFree(work);
	free(a);
	free(b);
	free(c);
	free(bias);
}

/* cuBLAS itself takes 16-bit operands as well. */
static void check_gemm_ex(cudaDataType type)
{
	float a[4] = {1, 2, 3, 4}, b[4] = {0.5f, 1, -1, 2}, got[4], one = 1, zero = 0;
	void *da = matrix(a, 4, type), *db = matrix(b, 4, type), *dc = matrix(a, 4, CUDA_R_32F);
	cublasHandle_t blas;

	LIB_EQ(cublasCreate(&blas), 0);
	LIB_EQ(cublasGemmEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, da, type, 2, db, type, 2,
		       &zero, dc, CUDA_R_32F, 2, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
		0);
	fetch(got, dc, 4, CUDA_R_32F);
	lib_near("gemm of 16 bits", got, (double[]){3.5, 5, 5, 6}, 4, 0);
	LIB_EQ(cublasDestroy(blas), 0);
	cudaFree(da);
	cudaFree(db);
	cudaFree(dc);
}

int main(void)
{
	static const cudaDataType types[] = {CUDA_R_32F, CUDA_R_16F, CUDA_R_16BF};

	LIB_TRUE(cublasLtGetVersion() >= 130000);
	if (!LIB_EQ(cublasLtCreate(&lt), 0))
		return lib_result();
	for (size_t i = 0; i < 3; i++) {
		check(types[i], CUBLAS_OP_N, false, CUBLASLT_EPILOGUE_DEFAULT, 0);
		check(types[i], CUBLAS_OP_T, false, CUBLASLT_EPILOGUE_BIAS, 1);
		check(types[i], CUBLAS_OP_T, true, CUBLASLT_EPILOGUE_RELU_BIAS, 0);
		check(types[i], CUBLAS_OP_N, true, CUBLASLT_EPILOGUE_GELU_BIAS, 0.5f);
	}
	check_gemm_ex(CUDA_R_16F);
	check_gemm_ex(CUDA_R_16BF);
	LIB_EQ(cublasLtDestroy(lt), 0);
	return lib_result();
}
