/* SPDX-License-Identifier: MIT */
/* TFS201, a trap: the wait alone has a second stream, which averages gradients, come after the one
 * that makes them. As advised, an event does that; the other way round one does so already. 457 us
 * are gained, since the streams' kernels take turns; side by side they would gain 1.3 ms. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT TRAP
#endif

struct mean {
	cublasHandle_t blas;
	cudaStream_t stream;
	cudaEvent_t made, taken;
	float *values;
};

static void init(struct mean *mean)
{
	NEED(cudaStreamCreateWithFlags(&mean->stream, cudaStreamNonBlocking));
	NEED(cublasCreate(&mean->blas));
	NEED(cublasSetStream(mean->blas, mean->stream));
	NEED(cudaEventCreateWithFlags(&mean->made, cudaEventDisableTiming));
	NEED(cudaEventCreateWithFlags(&mean->taken, cudaEventDisableTiming));
	mean->values = rule_alloc(WEIGHTS);
}

static void take(struct mean *mean, struct rule *r)
{
	const float share = 1.0f / STEPS;

	if (VARIANT == TRAP) {
		/* expect: TFS201 x1 425..495us */
		NEED(cudaDeviceSynchronize());
	} else if (VARIANT == ADVICE) {
		NEED(cudaEventRecord(mean->made, r->stream));
		NEED(cudaStreamWaitEvent(mean->stream, mean->made, 0));
	}
	NEED(cublasSaxpy(mean->blas, WEIGHTS, &share, r->grad, 1, mean->values, 1));
	NEED(cudaEventRecord(mean->taken, mean->stream));
}

int main(void)
{
	struct mean mean;
	float *seen;
	struct rule r;

	rule_init(&r);
	init(&mean);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		NEED(cudaStreamWaitEvent(r.stream, mean.taken, 0));
		rule_backward(&r, step, 0);
		take(&mean, &r);
		rule_update(&r);
	}
	NEED(cudaDeviceSynchronize());
	seen = malloc(WEIGHTS * sizeof(float));
	NEED(seen ? cudaSuccess : cudaErrorMemoryAllocation);
	NEED(cudaMemcpy(seen, mean.values, WEIGHTS * sizeof(float), cudaMemcpyDeviceToHost));
	rule_see(seen, WEIGHTS);
	free(seen);
	rule_finish(&r);
	NEED(cublasDestroy(mean.blas));
	return 0;
}
