/* SPDX-License-Identifier: MIT */
/* TFS203, a trap: the wait for the loss is also what keeps the host from filling the only pinned
 * buffer while it is still being copied: read later, it would no longer do so. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT TRAP
#endif

static void look(const float *seen, const cudaEvent_t *there, unsigned step)
{
	NEED(cudaEventSynchronize(there[step % 2]));
	rule_see(seen + step % 2, 1);
}

int main(void)
{
	cudaEvent_t there[2];
	float *loss, *seen;
	struct rule r;

	rule_init(&r);
	loss = rule_alloc(1);
	NEED(cudaMallocHost((void **)&seen, 2 * sizeof(*seen)));
	for (int i = 0; i < 2; i++)
		NEED(cudaEventCreateWithFlags(&there[i], cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		const unsigned slot = VARIANT == ADVICE ? step % SLOTS : 0;

		if (VARIANT == ADVICE)
			NEED(cudaEventSynchronize(r.copied[slot]));
		rule_prepare(r.host[slot]);
		NEED(cudaMemcpyAsync(r.input[step % SLOTS], r.host[slot],
			BATCH_FLOATS * sizeof(float), cudaMemcpyHostToDevice, r.stream));
		if (VARIANT == ADVICE)
			NEED(cudaEventRecord(r.copied[slot], r.stream));
		rule_forward(&r, step);
		NEED(cublasSetPointerMode(r.blas, CUBLAS_POINTER_MODE_DEVICE));
		NEED(cublasSnrm2(r.blas, OUTPUTS * BATCH, r.output, 1, loss));
		NEED(cublasSetPointerMode(r.blas, CUBLAS_POINTER_MODE_HOST));
		rule_backward(&r, step, 0);
		rule_update(&r);
		if (VARIANT != TRAP) {
			NEED(cudaMemcpyAsync(seen + step % 2, loss, sizeof(*loss),
				cudaMemcpyDeviceToHost, r.stream));
			NEED(cudaEventRecord(there[step % 2], r.stream));
			if (step > 0)
				look(seen, there, step - 1);
			continue;
		}
		/* needed: TFS203 x1 4B stream 13 */
		NEED(cudaMemcpyAsync(seen, loss, sizeof(*loss), cudaMemcpyDeviceToHost, r.stream));
		/* needed: TFS201 x1 stream 13 */
		NEED(cudaStreamSynchronize(r.stream));
		rule_see(seen, 1);
	}
	if (VARIANT != TRAP)
		look(seen, there, STEPS - 1);
	rule_finish(&r);
	NEED(cudaFreeHost(seen));
	NEED(cudaFree(loss));
	return 0;
}
