/* SPDX-License-Identifier: MIT */
/* TFS105: two tables that never change are copied to the same device memory in turn: each time it
 * holds the other one. */
#define VARIANT TRAP
#include "tests/rules/rule_step.h"

enum { TABLE = WEIGHTS / 2 };

int main(void)
{
	const float pull = 1e-4f;
	float *host[2], *device;
	struct rule r;

	rule_init(&r);
	device = rule_alloc(TABLE);
	for (int i = 0; i < 2; i++) {
		NEED(cudaMallocHost((void **)&host[i], TABLE * sizeof(float)));
		rule_fill(host[i], TABLE, 1e-4f * (float)(i + 1));
	}
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		NEED(cudaMemcpyAsync(device, host[step % 2], TABLE * sizeof(float),
			cudaMemcpyHostToDevice, r.stream));
		NEED(cublasSaxpy(r.blas, TABLE, &pull, device, 1, r.weight, 1));
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
