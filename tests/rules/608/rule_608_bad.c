/* SPDX-License-Identifier: MIT */
/* TFS608: a handle, an event and a device's properties anew in each step. The clean twin makes and
 * asks once; the trap asks for what changes, sets what exists, and makes an event only now and
 * then. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

struct own {
	cublasHandle_t blas;
	cudaEvent_t done;
};

static void make(struct own *own)
{
	struct cudaDeviceProp prop;

	/* expect: TFS608 x1 0us */
	NEED(cudaGetDeviceProperties(&prop, 0));
	/* expect: TFS608 x1 0us */
	NEED(cudaEventCreate(&own->done));
	/* expect: TFS608 x1 1.86..2.4ms */
	NEED(cublasCreate(&own->blas));
}

static void end(struct own *own)
{
	/* expect: TFS608 x1 0us */
	NEED(cudaEventDestroy(own->done));
	/* expect: TFS608 x1 1.86..2.4ms */
	NEED(cublasDestroy(own->blas));
}

static void use(struct rule *r, unsigned step)
{
	size_t free_bytes, all;
	cudaEvent_t done;

	NEED(cublasSetStream(r->blas, r->stream));
	NEED(cudaMemGetInfo(&free_bytes, &all));
	if (step % 20 != 0)
		return;
	NEED(cudaEventCreate(&done));
	NEED(cudaEventDestroy(done));
}

static void train(struct rule *r, struct own *own)
{
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(r, step);
		rule_forward(r, step);
		rule_backward(r, step, 0);
		rule_update(r);
		if (VARIANT == BAD)
			make(own);
		if (VARIANT != TRAP)
			NEED(cudaEventRecord(own->done, r->stream));
		if (VARIANT == BAD)
			end(own);
		if (VARIANT == TRAP)
			use(r, step);
	}
}

int main(void)
{
	struct own own;
	struct rule r;

	rule_init(&r);
	if (VARIANT == CLEAN)
		make(&own);
	train(&r, &own);
	if (VARIANT == CLEAN)
		end(&own);
	rule_finish(&r);
	return 0;
}
