/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_RULE_LONG_H
#define TFS_TESTS_PROGRAMS_RULE_LONG_H

/* A long training of few and small steps, in which something begins late. */

#include "tests/rules/rule_step.h"

enum { LONG_STEPS = 50400, LONG_LATE = 50000, LONG_SIDE = 4, LONG_FLOATS = LONG_SIDE * LONG_SIDE };

struct rule_long {
	cublasHandle_t blas;
	cudaStream_t stream;
	float *host; /* two batches */
	float *input, *weight, *grad;
	unsigned steps;
};

static inline void rule_long_init(struct rule_long *r)
{
	NEED(cublasCreate(&r->blas));
	NEED(cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking));
	NEED(cublasSetStream(r->blas, r->stream));
	r->steps = 0;
	NEED(cudaMallocHost((void **)&r->host, 2 * LONG_FLOATS * sizeof(float)));
	rule_fill(r->host, 2 * LONG_FLOATS, 1e-3f);
	r->input = rule_alloc(LONG_FLOATS);
	r->weight = rule_alloc(LONG_FLOATS);
	r->grad = rule_alloc(LONG_FLOATS);
}

static inline void rule_long_step(struct rule_long *r)
{
	const float one = 1, zero = 0, rate = -0.01f;
	const float *host = r->host + r->steps++ % 2 * LONG_FLOATS;

	NEED(cudaMemcpyAsync(
		r->input, host, LONG_FLOATS * sizeof(float), cudaMemcpyHostToDevice, r->stream));
	NEED(cublasSgemm(r->blas, CUBLAS_OP_N, CUBLAS_OP_N, LONG_SIDE, LONG_SIDE, LONG_SIDE, &one,
		r->weight, LONG_SIDE, r->input, LONG_SIDE, &zero, r->grad, LONG_SIDE));
	NEED(cublasSaxpy(r->blas, LONG_FLOATS, &rate, r->grad, 1, r->weight, 1));
}

static inline void rule_long_finish(struct rule_long *r)
{
	rule_tell(r->weight, LONG_FLOATS);
	printf("all %016llx\n", (unsigned long long)rule_see(NULL, 0));
	NEED(cublasDestroy(r->blas));
}

#endif
