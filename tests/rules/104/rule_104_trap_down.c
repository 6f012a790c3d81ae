/* SPDX-License-Identifier: MIT */
/* TFS104, the other way: the norm of each of 16 groups of outputs has memory of its own, and is
 * copied to the host by itself, where it is read a step later. As advised, the norms lie side by
 * side and are copied with one call; it is wrong to do so before the last of them is there. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT TRAP
#endif

enum { NORMS = 16, GROUP = OUTPUTS * BATCH / NORMS, APART = 1024 };

struct own {
	float *norms;       /* on the device, APART floats from each other */
	float *seen[SLOTS]; /* pinned */
	cudaEvent_t there[SLOTS];
};

static void copy(struct rule *r, struct own *own, unsigned slot, int first, int count)
{
	const size_t apart = VARIANT == TRAP ? APART : 1;

	/* Each takes 30 us, and so does one of all. */
	/* expect: TFS104 x16 64B stream 13 400..500us */
	NEED(cudaMemcpyAsync(own->seen[slot] + first, own->norms + (size_t)first * apart,
		(size_t)count * sizeof(float), cudaMemcpyDeviceToHost, r->stream));
}

static void look(struct rule *r, struct own *own, unsigned step)
{
	const unsigned slot = step % SLOTS;

	NEED(cublasSetPointerMode(r->blas, CUBLAS_POINTER_MODE_DEVICE));
	for (int i = 0; i < NORMS; i++) {
		if (VARIANT == WRONG && i == NORMS - 1)
			copy(r, own, slot, 0, NORMS);
		NEED(cublasSnrm2(r->blas, GROUP, r->output + i * GROUP, 1,
			own->norms + i * (VARIANT == TRAP ? APART : 1)));
	}
	NEED(cublasSetPointerMode(r->blas, CUBLAS_POINTER_MODE_HOST));
	if (VARIANT == ADVICE)
		copy(r, own, slot, 0, NORMS);
	for (int i = 0; VARIANT == TRAP && i < NORMS; i++)
		copy(r, own, slot, i, 1);
	NEED(cudaEventRecord(own->there[slot], r->stream));
	if (step > 0) {
		NEED(cudaEventSynchronize(own->there[!slot]));
		rule_see(own->seen[!slot], NORMS);
	}
}

int main(void)
{
	struct own own;
	struct rule r;

	rule_init(&r);
	own.norms = rule_alloc((size_t)NORMS * APART);
	for (int i = 0; i < SLOTS; i++) {
		NEED(cudaMallocHost((void **)&own.seen[i], NORMS * sizeof(float)));
		NEED(cudaEventCreateWithFlags(&own.there[i], cudaEventDisableTiming));
	}
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		look(&r, &own, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
