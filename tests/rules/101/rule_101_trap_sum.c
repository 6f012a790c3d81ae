/* SPDX-License-Identifier: MIT */
/* TFS101, a counterexample: each copy from pageable memory is small enough to return early (and
 * none is tiny), and together they are more than 1 MB in each step. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT TRAP
#endif

enum { PIECE = 64 << 10, PIECES = 20, FLOATS = PIECES * PIECE / 4 };

struct more {
	float *pieces[2], *target;
	cudaStream_t stream;         /* that the pieces are copied on */
	cudaEvent_t copied[2], used; /* a buffer has been read; what was copied has been */
};

static void init(struct more *more, struct rule *r)
{
	for (int i = 0; i < 2; i++) {
		if (VARIANT == TRAP)
			more->pieces[i] = malloc(FLOATS * sizeof(float));
		else
			NEED(cudaMallocHost((void **)&more->pieces[i], FLOATS * sizeof(float)));
		if (!more->pieces[i])
			exit(1);
		NEED(cudaEventCreateWithFlags(&more->copied[i], cudaEventDisableTiming));
	}
	more->target = rule_alloc(FLOATS);
	NEED(cudaEventCreateWithFlags(&more->used, cudaEventDisableTiming));
	more->stream = r->stream;
	if (VARIANT == ADVICE)
		NEED(cudaStreamCreateWithFlags(&more->stream, cudaStreamNonBlocking));
}

/* As advised: two buffers by turns, and a stream of its own. */
static void upload(struct more *more, struct rule *r, unsigned step)
{
	const unsigned slot = VARIANT == ADVICE ? step % 2 : 0;
	float *pieces = more->pieces[slot];

	if (VARIANT == ADVICE)
		NEED(cudaEventSynchronize(more->copied[slot]));
	rule_fill(pieces, FLOATS, 1e-6f / (float)(1 + step % 5));
	if (VARIANT == ADVICE)
		NEED(cudaStreamWaitEvent(more->stream, more->used, 0));
	for (int i = 0; i < PIECES; i++)
		/* Each piece takes 246 us, or pinned 82, which may be beside the computing.
		 * That 30 of them are not for its bytes nothing here can tell. */
		/* expect: TFS101 x20 1280KiB stream 13 3.3..6.3ms */
		NEED(cudaMemcpyAsync((char *)more->target + (size_t)i * PIECE,
			(char *)pieces + (size_t)i * PIECE, PIECE, cudaMemcpyHostToDevice,
			more->stream));
	if (VARIANT != ADVICE)
		return;
	NEED(cudaEventRecord(more->copied[slot], more->stream));
	NEED(cudaStreamWaitEvent(r->stream, more->copied[slot], 0));
}

int main(void)
{
	const float one = 1;
	struct more more;
	struct rule r;

	rule_init(&r);
	init(&more, &r);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		upload(&more, &r, step);
		rule_forward(&r, step);
		NEED(cublasSaxpy(r.blas, OUTPUTS * BATCH, &one, more.target, 1, r.output, 1));
		if (VARIANT == ADVICE)
			NEED(cudaEventRecord(more.used, r.stream));
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_tell(more.target, FLOATS);
	rule_finish(&r);
	return 0;
}
