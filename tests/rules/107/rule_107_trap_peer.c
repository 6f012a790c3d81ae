/* SPDX-License-Identifier: MIT */
/* TFS107: 16 copies in a step go to another device's memory: that is what they are for. */
#define VARIANT TRAP
#include "tests/rules/rule_step.h"

enum { PART = OUTPUTS * BATCH / 16 };

int main(void)
{
	float *kept;
	int devices;
	struct rule r;

	NEED(cudaGetDeviceCount(&devices));
	rule_init(&r);
	NEED(cudaSetDevice(devices - 1));
	kept = rule_alloc(OUTPUTS * BATCH);
	NEED(cudaSetDevice(0));
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		for (int i = 0; i < 16; i++)
			NEED(cudaMemcpyPeerAsync(kept + i * PART, devices - 1, r.output + i * PART,
				0, PART * sizeof(float), r.stream));
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
