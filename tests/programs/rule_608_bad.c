/* SPDX-License-Identifier: MIT */
/* TFS608: a handle, an event and a device's properties anew in each step. The clean twin makes and
 * asks once; the trap asks for what changes, sets what exists, and makes an event only now and
 * then. */
#include "tests/programs/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

static void churn(struct rule *r)
{
	struct cudaDeviceProp prop;
	cublasHandle_t own;
	cudaEvent_t done;

	NEED(cudaGetDeviceProperties(&prop, 0)); /* expect: TFS608 */
	NEED(cudaEventCreate(&done));            /* expect: TFS608 */
	NEED(cudaEventRecord(done, r->stream));
	NEED(cudaEventDestroy(done)); /* expect: TFS608 */
	NEED(cublasCreate(&own));     /* expect: TFS608 */
	NEED(cublasDestroy(own));     /* expect: TFS608 */
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

static void train(struct rule *r)
{
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(r, step);
		rule_forward(r, step);
		rule_backward(r, step, 0);
		rule_update(r);
		if (VARIANT == BAD)
			churn(r);
		if (VARIANT == TRAP)
			use(r, step);
	}
}

int main(void)
{
	struct rule r;

	rule_init(&r);
	if (VARIANT == CLEAN)
		churn(&r);
	train(&r);
	rule_finish(&r);
	return 0;
}
