/* SPDX-License-Identifier: MIT */
/* cuBLAS gives the results of BLAS' definition: matrix products, vectors, scalars. */
#include <cublas_v2.h>

#include "tests/libraries/lib_check.h"

static cublasHandle_t blas;

static double at(const float *a, int ld, cublasOperation_t t, int i, int j)
{
	return (double)(t == CUBLAS_OP_N ? a[i + j * ld] : a[j + i * ld]);
}

struct shape {
	int m, n, k, gap;
	cublasOperation_t ta, tb;
	float alpha, beta;
};

static const struct shape shapes[] = {
	{4, 5, 6, 0, CUBLAS_OP_N, CUBLAS_OP_N, 1, 0},
	{7, 3, 5, 2, CUBLAS_OP_T, CUBLAS_OP_N, 1, 0},
	{7, 3, 5, 2, CUBLAS_OP_N, CUBLAS_OP_T, 0.5f, 2},
	{16, 16, 16, 1, CUBLAS_OP_T, CUBLAS_OP_C, -1, 1},
	{1, 64, 128, 0, CUBLAS_OP_T, CUBLAS_OP_N, 1, 0},
	{100, 1, 33, 0, CUBLAS_OP_N, CUBLAS_OP_N, 1, 0},
	{5, 4, 0, 0, CUBLAS_OP_N, CUBLAS_OP_N, 1, 0},
	{5, 4, 3, 0, CUBLAS_OP_N, CUBLAS_OP_N, 0, 0},
};

struct product {
	struct shape s;
	int lda, ldb, ldc;
	size_t na, nb, nc;
	float *a, *b, *c, *da, *db, *dc;
	double *want;
};

static void product_init(struct product *p, const struct shape *s, int batch)
{
	memset(p, 0, sizeof(*p));
	p->s = *s;
	p->lda = (s->ta == CUBLAS_OP_N ? s->m : s->k) + s->gap;
	p->ldb = (s->tb == CUBLAS_OP_N ? s->k : s->n) + s->gap;
	p->lda = p->lda ? p->lda : 1;
	p->ldb = p->ldb ? p->ldb : 1;
	p->ldc = s->m + s->gap;
	p->na = (size_t)p->lda * (size_t)(s->ta == CUBLAS_OP_N ? s->k : s->m);
	p->nb = (size_t)p->ldb * (size_t)(s->tb == CUBLAS_OP_N ? s->n : s->k);
	p->nc = (size_t)p->ldc * (size_t)s->n;
	p->a = lib_values(p->na * (size_t)batch, 1);
	p->b = lib_values(p->nb * (size_t)batch, 2);
	/* With beta 0 a NaN in the output must not survive. */
	p->c = s->beta != 0.0f ? lib_values(p->nc * (size_t)batch, 3)
			       : lib_filled(p->nc * (size_t)batch, NAN);
	p->want = calloc(p->nc * (size_t)batch, sizeof(double));
	for (int q = 0; q < batch; q++) {
		const float *a = p->a + (size_t)q * p->na, *b = p->b + (size_t)q * p->nb;
		float *c = p->c + (size_t)q * p->nc;
		double *want = p->want + (size_t)q * p->nc;

		for (int j = 0; j < s->n; j++)
			for (int i = 0; i < p->ldc; i++) {
				size_t o = (size_t)(i + j * p->ldc);
				double sum = 0;

				if (i >= s->m) {
					c[o] = 5;
					want[o] = 5;
					continue;
				}
				for (int k = 0; k < s->k; k++)
					sum += at(a, p->lda, s->ta, i, k) *
					       at(b, p->ldb, s->tb, k, j);
				want[o] = (double)s->alpha * sum;
				if (s->beta != 0.0f)
					want[o] += (double)s->beta * (double)c[o];
			}
	}
	p->da = lib_upload(p->a, p->na * (size_t)batch);
	p->db = lib_upload(p->b, p->nb * (size_t)batch);
	p->dc = lib_upload(p->c, p->nc * (size_t)batch);
}

static void product_check(struct product *p, const char *what, int batch, double tolerance)
{
	size_t n = p->nc * (size_t)batch;
	float *got = lib_values(n, 9);

	lib_download(got, p->dc, n);
	lib_near(what, got, p->want, n, tolerance);
	cudaMemcpy(p->dc, p->c, n * sizeof(float), cudaMemcpyHostToDevice);
	free(got);
}

static void product_finish(struct product *p)
{
	free(p->a);
	free(p->b);
	free(p->c);
	free(p->want);
	cudaFree(p->da);
	cudaFree(p->db);
	cudaFree(p->dc);
}

static void check_gemm(const struct shape *s)
{
	struct product p;
	float *scalars;

	product_init(&p, s, 1);
	LIB_EQ(cublasSgemm(blas, s->ta, s->tb, s->m, s->n, s->k, &s->alpha, p.da, p.lda, p.db,
		       p.ldb, &s->beta, p.dc, p.ldc),
		0);
	product_check(&p, "sgemm", 1, 1e-5);
	LIB_EQ(cublasGemmEx(blas, s->ta, s->tb, s->m, s->n, s->k, &s->alpha, p.da, CUDA_R_32F,
		       p.lda, p.db, CUDA_R_32F, p.ldb, &s->beta, p.dc, CUDA_R_32F, p.ldc,
		       CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
		0);
	product_check(&p, "gemmex", 1, 1e-5);
	LIB_EQ(cublasSgemmEx(blas, s->ta, s->tb, s->m, s->n, s->k, &s->alpha, p.da, CUDA_R_32F,
		       p.lda, p.db, CUDA_R_32F, p.ldb, &s->beta, p.dc, CUDA_R_32F, p.ldc),
		0);
	product_check(&p, "sgemmex", 1, 1e-5);
	LIB_EQ(cublasSetMathMode(blas, CUBLAS_TF32_TENSOR_OP_MATH), 0);
	LIB_EQ(cublasSgemm(blas, s->ta, s->tb, s->m, s->n, s->k, &s->alpha, p.da, p.lda, p.db,
		       p.ldb, &s->beta, p.dc, p.ldc),
		0);
	LIB_EQ(cublasSetMathMode(blas, CUBLAS_DEFAULT_MATH), 0);
	product_check(&p, "tf32", 1, 2e-2);
	scalars = lib_upload((float[]){s->alpha, s->beta}, 2);
	LIB_EQ(cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_DEVICE), 0);
	LIB_EQ(cublasSgemm(blas, s->ta, s->tb, s->m, s->n, s->k, scalars, p.da, p.lda, p.db, p.ldb,
		       scalars + 1, p.dc, p.ldc),
		0);
	LIB_EQ(cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_HOST), 0);
	product_check(&p, "device scalars", 1, 1e-5);
	cudaFree(scalars);
	product_finish(&p);
}

static void check_batches(const struct shape *s)
{
	enum { BATCH = 3 };
	struct product p;
	float *host[3][BATCH];
	void *device = NULL;
	float ***lists;

	product_init(&p, s, BATCH);
	LIB_EQ(cublasSgemmStridedBatched(blas, s->ta, s->tb, s->m, s->n, s->k, &s->alpha, p.da,
		       p.lda, (long long)p.na, p.db, p.ldb, (long long)p.nb, &s->beta, p.dc, p.ldc,
		       (long long)p.nc, BATCH),
		0);
	product_check(&p, "strided batch", BATCH, 1e-5);
	for (size_t i = 0; i < BATCH; i++) {
		host[0][i] = p.da + i * p.na;
		host[1][i] = p.db + i * p.nb;
		host[2][i] = p.dc + i * p.nc;
	}
	LIB_EQ(cudaMalloc(&device, sizeof(host)), 0);
	LIB_EQ(cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice), 0);
	lists = device;
	LIB_EQ(cublasSgemmBatched(blas, s->ta, s->tb, s->m, s->n, s->k, &s->alpha,
		       (const float *const *)lists, p.lda, (const float *const *)(lists + BATCH),
		       p.ldb, &s->beta, (float *const *)(lists + 2 * BATCH), p.ldc, BATCH),
		0);
	product_check(&p, "batch", BATCH, 1e-5);
	LIB_EQ(cublasGemmBatchedEx(blas, s->ta, s->tb, s->m, s->n, s->k, &s->alpha,
		       (const void *const *)lists, CUDA_R_32F, p.lda,
		       (const void *const *)(lists + BATCH), CUDA_R_32F, p.ldb, &s->beta,
		       (void *const *)(lists + 2 * BATCH), CUDA_R_32F, p.ldc, BATCH,
		       CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
		0);
	product_check(&p, "batch of types", BATCH, 1e-5);
	LIB_EQ(cublasGemmStridedBatchedEx(blas, s->ta, s->tb, s->m, s->n, s->k, &s->alpha, p.da,
		       CUDA_R_32F, p.lda, (long long)p.na, p.db, CUDA_R_32F, p.ldb, (long long)p.nb,
		       &s->beta, p.dc, CUDA_R_32F, p.ldc, (long long)p.nc, BATCH,
		       CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
		0);
	product_check(&p, "strided batch of types", BATCH, 1e-5);
	cudaFree(device);
	product_finish(&p);
}

static void check_vectors(void)
{
	float x[6] = {1, -2, 3, -8, 5, 0.5f}, y[6] = {1, 1, 1, 1, 1, 1}, got[6];
	float *dx = lib_upload(x, 6), *dy = lib_upload(y, 6), *dr = lib_upload(y, 1);
	float two = 2, r = 0;
	int index = 0;

	LIB_EQ(cublasSaxpy(blas, 6, &two, dx, 1, dy, 1), 0);
	lib_download(got, dy, 6);
	lib_near("axpy", got, (double[]){3, -3, 7, -15, 11, 2}, 6, 1e-6);
	LIB_EQ(cublasSscal(blas, 3, &two, dy, 2), 0);
	lib_download(got, dy, 6);
	lib_near("scal", got, (double[]){6, -3, 14, -15, 22, 2}, 6, 1e-6);
	LIB_EQ(cublasScopy(blas, 6, dx, 1, dy, -1), 0);
	lib_download(got, dy, 6);
	lib_near("copy", got, (double[]){0.5, 5, -8, 3, -2, 1}, 6, 1e-6);
	/* A host result is there when the call returns. */
	LIB_EQ(cublasSdot(blas, 6, dx, 1, dx, 1, &r), 0);
	lib_near("dot", &r, (double[]){103.25}, 1, 1e-6);
	LIB_EQ(cublasSnrm2(blas, 6, dx, 1, &r), 0);
	lib_near("nrm2", &r, (double[]){sqrt(103.25)}, 1, 1e-6);
	LIB_EQ(cublasSasum(blas, 6, dx, 1, &r), 0);
	lib_near("asum", &r, (double[]){19.5}, 1, 1e-6);
	LIB_EQ(cublasIsamax(blas, 6, dx, 1, &index), 0);
	LIB_EQ(index, 4);
	LIB_EQ(cublasIsamin(blas, 6, dx, 1, &index), 0);
	LIB_EQ(index, 6);
	LIB_EQ(cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_DEVICE), 0);
	LIB_EQ(cublasSasum(blas, 6, dx, 1, dr), 0);
	LIB_EQ(cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_HOST), 0);
	lib_download(&r, dr, 1);
	lib_near("asum on the device", &r, (double[]){19.5}, 1, 1e-6);
	cudaFree(dx);
	cudaFree(dy);
	cudaFree(dr);
}

static void check_matrix_vector(void)
{
	/* Columns (1,2), (3,4), (5,6). */
	float a[6] = {1, 2, 3, 4, 5, 6}, x[3] = {1, 0, -1}, y[3] = {NAN, NAN, NAN}, got[6];
	float *da = lib_upload(a, 6), *dx = lib_upload(x, 3), *dy = lib_upload(y, 3);
	float *dc = lib_upload(NULL, 6);
	float one = 1, zero = 0, two = 2;

	LIB_EQ(cublasSgemv(blas, CUBLAS_OP_N, 2, 3, &one, da, 2, dx, 1, &zero, dy, 1), 0);
	lib_download(got, dy, 2);
	lib_near("gemv", got, (double[]){-4, -4}, 2, 1e-6);
	LIB_EQ(cublasSgemv(blas, CUBLAS_OP_T, 2, 3, &two, da, 2, dx, 1, &zero, dy, 1), 0);
	lib_download(got, dy, 3);
	lib_near("transposed gemv", got, (double[]){2, 6, 10}, 3, 1e-6);
	LIB_EQ(cublasSgeam(
		       blas, CUBLAS_OP_T, CUBLAS_OP_N, 3, 2, &one, da, 2, &zero, NULL, 3, dc, 3),
		0);
	lib_download(got, dc, 6);
	lib_near("geam", got, (double[]){1, 3, 5, 2, 4, 6}, 6, 1e-6);
	/* In place only what is not transposed, and as it lies. */
	LIB_EQ(cublasSgeam(blas, CUBLAS_OP_T, CUBLAS_OP_N, 2, 2, &one, dc, 2, &two, da, 2, dc, 2),
		CUBLAS_STATUS_INVALID_VALUE);
	LIB_EQ(cublasSgeam(blas, CUBLAS_OP_N, CUBLAS_OP_T, 2, 2, &one, da, 2, &two, dc, 2, dc, 2),
		CUBLAS_STATUS_INVALID_VALUE);
	LIB_EQ(cublasSgeam(blas, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, &one, da, 2, &two, dc, 3, dc, 2),
		CUBLAS_STATUS_INVALID_VALUE);
	lib_download(got, dc, 6);
	lib_near("geam in place", got, (double[]){1, 3, 5, 2, 4, 6}, 6, 1e-6);
	LIB_EQ(cublasSger(blas, 2, 3, &one, dx, 1, dy, 1, da, 2), 0);
	lib_download(got, da, 6);
	lib_near("ger", got, (double[]){3, 2, 9, 4, 15, 6}, 6, 1e-6);
	cudaFree(da);
	cudaFree(dx);
	cudaFree(dy);
	cudaFree(dc);
}

/* 1.5, -2 and 4 with 2, 0.5 and 3 in each type: 14. */
static void check_typed_dot(void)
{
	static const uint16_t half[] = {0x3e00, 0xc000, 0x4400, 0x4000, 0x3800, 0x4200};
	static const uint16_t bfloat[] = {0x3fc0, 0xc000, 0x4080, 0x4000, 0x3f00, 0x4040};
	static const double wide[] = {1.5, -2, 4, 2, 0.5, 3};
	uint16_t small = 0;
	double large = 0;
	char *x = (char *)lib_upload(NULL, 12);

	LIB_EQ(cudaMemcpy(x, half, sizeof(half), cudaMemcpyHostToDevice), 0);
	LIB_EQ(cublasDotEx(blas, 3, x, CUDA_R_16F, 1, x + 6, CUDA_R_16F, 1, &small, CUDA_R_16F,
		       CUDA_R_32F),
		0);
	LIB_EQ(small, 0x4b00);
	/* The second backwards: 1.5 * 3 - 2 * 0.5 + 4 * 2. */
	LIB_EQ(cublasDotEx(blas, 3, x, CUDA_R_16F, 1, x + 6, CUDA_R_16F, -1, &small, CUDA_R_16F,
		       CUDA_R_32F),
		0);
	LIB_EQ(small, 0x49c0);
	LIB_EQ(cudaMemcpy(x, bfloat, sizeof(bfloat), cudaMemcpyHostToDevice), 0);
	LIB_EQ(cublasDotEx(blas, 3, x, CUDA_R_16BF, 1, x + 6, CUDA_R_16BF, 1, &small, CUDA_R_16BF,
		       CUDA_R_32F),
		0);
	LIB_EQ(small, 0x4160);
	LIB_EQ(cudaMemcpy(x, wide, sizeof(wide), cudaMemcpyHostToDevice), 0);
	LIB_EQ(cublasDotEx(blas, 3, x, CUDA_R_64F, 1, x + 24, CUDA_R_64F, 1, &large, CUDA_R_64F,
		       CUDA_R_64F),
		0);
	LIB_TRUE(large == 14);
	LIB_EQ(cublasDotEx(
		       blas, 3, x, CUDA_R_16F, 1, x, CUDA_R_32F, 1, &small, CUDA_R_16F, CUDA_R_32F),
		CUBLAS_STATUS_NOT_SUPPORTED);
	LIB_EQ(cudaFree(x), 0);
}

/* What is no number stays none when it is rounded to TF32, whatever its bits. */
static void check_nan(void)
{
	const uint32_t bits[2] = {0x7fffffff, 0x3f800000};
	float *a = lib_upload(NULL, 2), one = 1, zero = 0, got = 0;

	LIB_EQ(cudaMemcpy(a, bits, sizeof(bits), cudaMemcpyHostToDevice), 0);
	LIB_EQ(cublasSetMathMode(blas, CUBLAS_TF32_TENSOR_OP_MATH), 0);
	LIB_EQ(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, a, 1, a + 1, 1, &zero,
		       a + 1, 1),
		0);
	LIB_EQ(cublasSetMathMode(blas, CUBLAS_DEFAULT_MATH), 0);
	lib_download(&got, a + 1, 1);
	LIB_TRUE(isnan(got));
	LIB_EQ(cudaFree(a), 0);
}

static void check_errors(void)
{
	float one = 1;

	LIB_EQ(cublasSgemm(NULL, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, &one, 1, &one, 1, &one,
		       &one, 1),
		CUBLAS_STATUS_NOT_INITIALIZED);
	LIB_EQ(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, 4, 1, 1, &one, &one, 1, &one, 1, &one,
		       &one, 1),
		CUBLAS_STATUS_INVALID_VALUE);
	LIB_TRUE(strlen(cublasGetStatusString(CUBLAS_STATUS_NOT_SUPPORTED)) > 0);
	LIB_TRUE(!strcmp(cublasGetStatusName(CUBLAS_STATUS_SUCCESS), "CUBLAS_STATUS_SUCCESS"));
}

int main(void)
{
	if (!LIB_EQ(cublasCreate(&blas), 0))
		return lib_result();
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		check_gemm(&shapes[i]);
	for (size_t i = 0; i < 5; i++)
		check_batches(&shapes[i]);
	check_vectors();
	check_matrix_vector();
	check_typed_dot();
	check_nan();
	check_errors();
	LIB_EQ(cublasDestroy(blas), 0);
	return lib_result();
}
