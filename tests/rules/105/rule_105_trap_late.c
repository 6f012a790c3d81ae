/* SPDX-License-Identifier: MIT */
/* TFS105: the host clears a pinned buffer, a host function fills it when the device comes to it,
 * and then it is copied to the device: at the call it holds the same each time. */
#define VARIANT TRAP
#include "tests/rules/rule_step.h"

enum { TABLE = WEIGHTS / 2 };

static float *host;

static void fill(void *scale)
{
	rule_fill(host, TABLE, *(const float *)scale);
}

int main(void)
{
	static float scales[STEPS];
	const float pull = 1e-4f;
	cudaEvent_t copied;
	float *device;
	struct rule r;

	rule_init(&r);
	device = rule_alloc(TABLE);
	NEED(cudaEventCreateWithFlags(&copied, cudaEventDisableTiming));
	NEED(cudaMallocHost((void **)&host, TABLE * sizeof(float)));
	for (unsigned step = 0; step < STEPS; step++) {
		scales[step] = 1e-4f / (float)(1 + step);
		rule_upload(&r, step);
		NEED(cudaEventSynchronize(copied));
		memset(host, 0, TABLE * sizeof(float));
		NEED(cudaLaunchHostFunc(r.stream, fill, &scales[step]));
		/* unmeasured: TFS105 */
		NEED(cudaMemcpyAsync(
			device, host, TABLE * sizeof(float), cudaMemcpyHostToDevice, r.stream));
		NEED(cudaEventRecord(copied, r.stream));
		NEED(cublasSaxpy(r.blas, TABLE, &pull, device, 1, r.weight, 1));
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
