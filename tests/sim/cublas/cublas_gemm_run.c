/* SPDX-License-Identifier: MIT */
#include "tests/sim/cublas/cublas_op.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

static CBLAS_TRANSPOSE transpose(cublasOperation_t t)
{
	return t == CUBLAS_OP_N ? CblasNoTrans : CblasTrans;
}

/* A packed copy with 10 bits of fraction, or NULL without memory. */
static float *rounded(const float *a, int rows, int columns, int ld)
{
	size_t n = (size_t)rows * (size_t)columns;
	float *out = malloc(n * sizeof(*out));

	for (int j = 0; out && j < columns; j++)
		memcpy(out + (size_t)j * (size_t)rows, a + (size_t)j * (size_t)ld,
			(size_t)rows * sizeof(*out));
	for (size_t i = 0; out && i < n; i++) {
		uint32_t bits;

		memcpy(&bits, &out[i], sizeof(bits));
		if ((bits & 0x7f800000u) != 0x7f800000u)
			bits = (bits + 0x0fffu + (bits >> 13 & 1)) & ~0x1fffu;
		memcpy(&out[i], &bits, sizeof(bits));
	}
	return out;
}

/* As some libraries do that stand in for cuBLAS: NaNs stay. */
static bool reads_output(void)
{
	const char *word = getenv("TFSIM_READS_OUTPUT");

	return word && strcmp(word, "0") != 0;
}

static void scale(float *c, int count, float beta)
{
	for (int i = 0; i < count; i++)
		c[i] *= beta;
}

/* The part of k that is number i. */
static int part_from(const struct tfs_blas_op *o, int i)
{
	return (int)((int64_t)o->k * i / o->parts);
}

/* Each part's product goes to the workspace; then they are added up in order. */
static void narrow_split(const struct tfs_blas_op *o, float alpha, const float *a, int lda,
	const float *b, int ldb, float beta, float *c)
{
	const size_t size = (size_t)o->m * (size_t)o->n;
	float *product = o->workspace;
	const bool read = beta != 0.0f || reads_output();

	for (int i = 0; i < o->parts; i++) {
		const int from = part_from(o, i);
		const float *ai =
			a + (o->ta == CUBLAS_OP_N ? (size_t)from * (size_t)lda : (size_t)from);
		const float *bi =
			b + (o->tb == CUBLAS_OP_N ? (size_t)from : (size_t)from * (size_t)ldb);

		memset(product + size * (size_t)i, 0, size * sizeof(*product));
		cblas_sgemm(CblasColMajor, transpose(o->ta), transpose(o->tb), o->m, o->n,
			part_from(o, i + 1) - from, 1.0f, ai, lda, bi, ldb, 0.0f,
			product + size * (size_t)i, o->m);
	}
	for (size_t e = 0; e < size; e++) {
		float *to = c + e / (size_t)o->m * (size_t)o->ldc + e % (size_t)o->m;
		float sum = product[e];

		for (int i = 1; i < o->parts; i++)
			sum += product[size * (size_t)i + e];
		*to = read ? alpha * sum + beta * *to : alpha * sum;
	}
}

static void wide_split(const struct tfs_blas_op *o, double alpha, const double *a, const double *b,
	double beta, double *c)
{
	const size_t size = (size_t)o->m * (size_t)o->n, lda = (size_t)o->lda, ldb = (size_t)o->ldb;
	double *product = o->workspace;

	for (int i = 0; i < o->parts; i++) {
		const size_t from = (size_t)part_from(o, i);

		memset(product + size * (size_t)i, 0, size * sizeof(*product));
		cblas_dgemm(CblasColMajor, transpose(o->ta), transpose(o->tb), o->m, o->n,
			part_from(o, i + 1) - (int)from, 1.0,
			a + (o->ta == CUBLAS_OP_N ? from * lda : from), o->lda,
			b + (o->tb == CUBLAS_OP_N ? from : from * ldb), o->ldb, 0.0,
			product + size * (size_t)i, o->m);
	}
	for (size_t e = 0; e < size; e++) {
		double *to = c + e / (size_t)o->m * (size_t)o->ldc + e % (size_t)o->m;
		double sum = product[e];

		for (int i = 1; i < o->parts; i++)
			sum += product[size * (size_t)i + e];
		*to = beta != 0.0 ? alpha * sum + beta * *to : alpha * sum;
	}
}

static void narrow(const struct tfs_blas_op *o, float alpha, const float *a, int lda,
	const float *b, int ldb, float beta, float *c)
{
	if (o->parts > 1) {
		narrow_split(o, alpha, a, lda, b, ldb, beta, c);
		return;
	}
	/* Not every kernel of OpenBLAS leaves an output alone that beta 0 says not to read. */
	for (int j = 0; j < o->n && beta == 0.0f; j++) {
		float *column = c + (size_t)j * (size_t)o->ldc;

		if (reads_output())
			scale(column, o->m, beta);
		else
			memset(column, 0, (size_t)o->m * sizeof(*c));
	}
	/* NaNs that were to be read are read by any kernel then. */
	cblas_sgemm(CblasColMajor, transpose(o->ta), transpose(o->tb), o->m, o->n, o->k, alpha, a,
		lda, b, ldb, beta == 0.0f && reads_output() ? 1.0f : beta, c, o->ldc);
}

static void narrow_tf32(const struct tfs_blas_op *o, float alpha, const float *a, const float *b,
	float beta, float *c)
{
	int ar = o->ta == CUBLAS_OP_N ? o->m : o->k, ac = o->ta == CUBLAS_OP_N ? o->k : o->m;
	int br = o->tb == CUBLAS_OP_N ? o->k : o->n, bc = o->tb == CUBLAS_OP_N ? o->n : o->k;
	float *ra = rounded(a, ar, ac, o->lda);
	float *rb = rounded(b, br, bc, o->ldb);

	if (ra && rb)
		narrow(o, alpha, ra, ar, rb, br, beta, c);
	free(ra);
	free(rb);
}

static void wide(const struct tfs_blas_op *o, double alpha, const double *a, const double *b,
	double beta, double *c)
{
	if (o->parts > 1) {
		wide_split(o, alpha, a, b, beta, c);
		return;
	}
	for (int j = 0; j < o->n && beta == 0.0; j++)
		memset(c + (size_t)j * (size_t)o->ldc, 0, (size_t)o->m * sizeof(*c));
	cblas_dgemm(CblasColMajor, transpose(o->ta), transpose(o->tb), o->m, o->n, o->k, alpha, a,
		o->lda, b, o->ldb, beta, c, o->ldc);
}

static void mixed(
	const struct tfs_blas_op *o, float alpha, const void *a, const void *b, float beta, void *c)
{
	struct tfs_typed_gemm g = {.m = o->m, .n = o->n, .k = o->k, .pieces = 1, .tf32 = o->tf32};

	if (o->parts > 1) {
		g.pieces = o->parts;
		g.products = o->workspace;
	}
	g.alpha = alpha;
	g.beta = beta;
	g.a = (struct tfs_typed_matrix){a, o->in_type, o->lda, o->ta != CUBLAS_OP_N};
	g.b = (struct tfs_typed_matrix){b, o->in_type, o->ldb, o->tb != CUBLAS_OP_N};
	g.c = (struct tfs_typed_matrix){c, o->out_type, o->ldc, false};
	g.d = g.c;
	g.out = c;
	tfs_typed_gemm(&g);
}

static void one(const struct tfs_blas_op *o, const void *a, const void *b, void *c)
{
	double alpha = tfs_blas_value(&o->alpha, o->wide);
	double beta = tfs_blas_value(&o->beta, o->wide);

	if (o->mixed)
		mixed(o, (float)alpha, a, b, (float)beta, c);
	else if (o->wide)
		wide(o, alpha, a, b, beta, c);
	else if (o->tf32 && o->k > 0)
		narrow_tf32(o, (float)alpha, a, b, (float)beta, c);
	else
		narrow(o, (float)alpha, a, o->lda, b, o->ldb, (float)beta, c);
}

void tfs_blas_gemm_run(void *op)
{
	const struct tfs_blas_op *o = op;
	int64_t size = o->wide ? 8 : 4, out_size = size;

	if (o->mixed) {
		size = (int64_t)tfs_typed_size(o->in_type);
		out_size = (int64_t)tfs_typed_size(o->out_type);
	}
	for (int i = 0; i < o->batch; i++) {
		if (o->pointers)
			one(o, ((const void *const *)o->a)[i], ((const void *const *)o->b)[i],
				((void *const *)o->c)[i]);
		else
			one(o, (const char *)o->a + i * o->stride_a * size,
				(const char *)o->b + i * o->stride_b * size,
				(char *)o->c + i * o->stride_c * out_size);
	}
}
