/* SPDX-License-Identifier: MIT */
/* TFS204: the next batch is copied on the legacy stream, which the stream that computes does not
 * get round: the copy waits for the step before, and the step for the copy. The clean twin copies
 * on a stream of its own, with events for what results need. */
#include <stdbool.h>

#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

/* In other traps the stream that computes is not held by the legacy one's order; */
#ifndef APART
#define APART 0
#endif
/* or the update is on the legacy stream, whose order it needs on either side. */
#ifndef JOIN
#define JOIN 0
#endif

/* Or another product is on the legacy stream, which has no room beside those of the step. */
#ifndef FULL
#define FULL 0
#endif

enum { SIDE = 256 };
enum { WIDE = JOIN || FULL ? BATCH_FLOATS : 1 << 20 };

struct own {
	float *host[SLOTS], *wide[SLOTS]; /* a batch */
	float *squares;
	cudaStream_t copies;
	cudaEvent_t copied[SLOTS], used[SLOTS];
};

static void init(struct rule *r, struct own *own)
{
	if (!APART)
		NEED(cudaStreamCreate(&r->stream));
	NEED(cublasSetStream(r->blas, r->stream));
	own->squares = rule_alloc(2 * SIDE * SIDE);
	own->copies = NULL;
	if (VARIANT == CLEAN || JOIN || FULL)
		NEED(cudaStreamCreateWithFlags(&own->copies, cudaStreamNonBlocking));
	for (int i = 0; i < SLOTS; i++) {
		NEED(cudaMallocHost((void **)&own->host[i], WIDE * sizeof(float)));
		own->wide[i] = rule_alloc(WIDE);
		r->input[i] = own->wide[i];
		NEED(cudaEventCreateWithFlags(&own->copied[i], cudaEventDisableTiming));
		NEED(cudaEventCreateWithFlags(&own->used[i], cudaEventDisableTiming));
	}
}

static void upload(struct rule *r, struct own *own, unsigned step)
{
	const unsigned slot = step % SLOTS;
	const bool events = VARIANT == CLEAN || APART || JOIN || FULL;

	NEED(cudaEventSynchronize(own->copied[slot]));
	rule_fill(own->host[slot], BATCH_FLOATS, 1e-3f / (float)(1 + step % 7));
	if (events)
		NEED(cudaStreamWaitEvent(own->copies, own->used[slot], 0));
	/* 4 MiB in 3.4 ms, under computing twice as long. */
	/* expect: TFS204 x1 4MiB legacy 2..4ms */
	/* expect: TFS103 x1 4MiB legacy 2..4ms */
	NEED(cudaMemcpyAsync(own->wide[slot], own->host[slot], WIDE * sizeof(float),
		cudaMemcpyHostToDevice, own->copies));
	NEED(cudaEventRecord(own->copied[slot], own->copies));
	if (events)
		NEED(cudaStreamWaitEvent(r->stream, own->copied[slot], 0));
}

static void multiply_squares(struct rule *r, struct own *own)
{
	const float one = 1, zero = 0;

	NEED(cublasSetStream(r->blas, NULL));
	NEED(cublasSgemm(r->blas, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE, SIDE, &one, own->squares,
		SIDE, own->squares, SIDE, &zero, own->squares + SIDE * SIDE, SIDE));
	NEED(cublasSetStream(r->blas, r->stream));
}

static void learn(struct rule *r, struct own *own, unsigned step)
{
	rule_forward(r, step);
	if (FULL)
		multiply_squares(r, own);
	rule_backward(r, step, 0);
	if (JOIN)
		NEED(cublasSetStream(r->blas, NULL));
	rule_update(r);
	if (JOIN)
		NEED(cublasSetStream(r->blas, r->stream));
	NEED(cudaEventRecord(own->used[step % SLOTS], r->stream));
}

int main(void)
{
	struct rule r;
	struct own own;

	rule_init(&r);
	init(&r, &own);
	for (unsigned step = 0; step < STEPS; step++) {
		upload(&r, &own, step);
		learn(&r, &own, step);
	}
	rule_finish(&r);
	return 0;
}
