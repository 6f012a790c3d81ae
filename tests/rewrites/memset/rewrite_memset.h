/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_REWRITE_MEMSET_H
#define TFS_TESTS_PROGRAMS_REWRITE_MEMSET_H

/*
 * For the programs that zero memory (rewrite_memset*.c): a product of matrices that is added to
 * zeros. Numbers are small integers, so that sums are exact in any order.
 */

#include <cublas_v2.h>
#include <cudnn.h>

#include "tests/promises/sim_gate.h"
#include "tests/rewrites/rewrite_case.h"

enum { M = 24, N = 16, K = 8, PAD = 8, ROUNDS = 24 };
#define BLAS(call) TEST_EQ(call, CUBLAS_STATUS_SUCCESS)
#define DNN(call) TEST_EQ(call, CUDNN_STATUS_SUCCESS)

/* The sum is M by N, its columns M + PAD apart in memory that is whole as often as not. */
struct bench {
	cublasHandle_t blas;
	cudaStream_t stream;
	float *a, *b, *c, *other;
	float host_a[M * K], host_b[K * N];
};

static const size_t bytes = (size_t)(M + PAD) * N * sizeof(float),
		    whole = (size_t)M * N * sizeof(float);
static const float one = 1, zero = 0;
static struct bench bench;

static inline void make(struct bench *s)
{
	BLAS(cublasCreate(&s->blas));
	OK(cudaMalloc((void **)&s->a, sizeof(s->host_a)));
	OK(cudaMalloc((void **)&s->b, sizeof(s->host_b)));
	OK(cudaMalloc((void **)&s->c, bytes));
	OK(cudaMalloc((void **)&s->other, bytes));
	OK(cudaMemset(s->other, 0, bytes));
}

/* New operands, and rubbish where the sum goes. */
static inline void begin(struct bench *s, int round)
{
	for (int i = 0; i < M * K; i++)
		s->host_a[i] = (float)((i * 7 + round) % 5 + 1);
	for (int i = 0; i < K * N; i++)
		s->host_b[i] = (float)((i * 3 + round) % 7 + 1);
	OK(cudaMemcpy(s->a, s->host_a, sizeof(s->host_a), cudaMemcpyHostToDevice));
	OK(cudaMemcpy(s->b, s->host_b, sizeof(s->host_b), cudaMemcpyHostToDevice));
	OK(cudaMemsetAsync(s->c, 0x7f, bytes, s->stream));
}

static inline void clear(struct bench *s, size_t count)
{
	OK(cudaMemsetAsync(s->c, 0, count, s->stream));
}

static inline void product(struct bench *s, float alpha, float beta, int leading)
{
	BLAS(cublasSgemm(s->blas, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &alpha, s->a, M, s->b, K,
		&beta, s->c, leading));
}

static inline float product_of(const struct bench *s, int row, int column)
{
	float sum = 0;

	for (int i = 0; i < K; i++)
		sum += s->host_a[i * M + row] * s->host_b[column * K + i];
	return sum;
}

/* Is c `times` the product, plus `more`? */
static inline void check(struct bench *s, int leading, float times, float more)
{
	static __thread float back[(M + PAD) * N];
	int wrong = 0;

	OK(cudaMemcpy(back, s->c, (size_t)leading * N * sizeof(float), cudaMemcpyDeviceToHost));
	for (int column = 0; column < N; column++)
		for (int row = 0; row < leading; row++)
			wrong += back[column * leading + row] !=
				 (row < M ? times * product_of(s, row, column) + more : 0);
	TEST_EQ(wrong, 0);
}

static inline void add_rounds(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		product(&bench, 1, 1, M);
		check(&bench, M, 1, 0);
	}
}

#endif
