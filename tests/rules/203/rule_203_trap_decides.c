/* SPDX-License-Identifier: MIT */
/* TFS203, a trap: the update is left out where the norm says so. A step later is too late for that
 * decision; it belongs on the device. */
#include "tests/rules/rule_kernels.h"

#ifndef VARIANT
#define VARIANT TRAP
#endif

/* The first of every seven batches has a larger norm, and every fourth step takes none, also where
 * nothing is computed and all norms are 0. */
static float most(unsigned step)
{
	return step % 4 == 3 ? -1 : 3;
}

/* The update is launched in all steps, and adds nothing where the norm says so. */
static void update_on_device(
	struct rule *r, cudaKernel_t decide, float *norm, float *rate, float limit)
{
	float wanted = -0.01f;
	void *args[] = {&norm, &limit, &wanted, &rate};

	rule_launch(r, decide, 1, args);
	NEED(cublasSetPointerMode(r->blas, CUBLAS_POINTER_MODE_DEVICE));
	NEED(cublasSaxpy(r->blas, WEIGHTS, rate, r->grad, 1, r->weight, 1));
	NEED(cublasSetPointerMode(r->blas, CUBLAS_POINTER_MODE_HOST));
}

int main(void)
{
	cudaKernel_t decide;
	float *norm, *rate, *seen;
	struct rule r;

	rule_init(&r);
	decide = rule_kernel("decide");
	norm = rule_alloc(1);
	rate = rule_alloc(1);
	NEED(cudaMallocHost((void **)&seen, sizeof(*seen)));
	*seen = 0;
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		NEED(cublasSetPointerMode(r.blas, CUBLAS_POINTER_MODE_DEVICE));
		NEED(cublasSnrm2(r.blas, WEIGHTS, r.grad, 1, norm));
		NEED(cublasSetPointerMode(r.blas, CUBLAS_POINTER_MODE_HOST));
		if (VARIANT == ADVICE) {
			update_on_device(&r, decide, norm, rate, most(step));
			continue;
		}
		/* needed: TFS203 x1 4B stream 13 */
		NEED(cudaMemcpyAsync(seen, norm, sizeof(*norm), cudaMemcpyDeviceToHost, r.stream));
		if (VARIANT == TRAP)
			/* needed: TFS201 x1 stream 13 */
			NEED(cudaStreamSynchronize(r.stream));
		if (*seen <= most(step))
			rule_update(&r);
	}
	rule_finish(&r);
	NEED(cudaFreeHost(seen));
	NEED(cudaFree(rate));
	NEED(cudaFree(norm));
	return 0;
}
