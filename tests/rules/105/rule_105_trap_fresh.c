/* SPDX-License-Identifier: MIT */
/* TFS105: the table's memory is released and allocated anew in each step, mostly at the same
 * address: what it held is lost. */
#define VARIANT TRAP
#include "tests/rules/rule_step.h"

enum { PART = 6 * 1024, TABLE = 4 * PART };

static __attribute__((noinline)) void upload(const struct rule *r, float *device, const float *host)
{
	NEED(cudaMemcpyAsync(
		device, host, PART * sizeof(float), cudaMemcpyHostToDevice, r->stream));
}

int main(void)
{
	float *host = malloc(TABLE * sizeof(*host)), *device;
	const float pull = 1e-4f;
	struct rule r;

	if (!host)
		return 1;
	rule_init(&r);
	rule_fill(host, TABLE, 1e-4f);
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaMallocAsync((void **)&device, TABLE * sizeof(float), r.stream));
		rule_upload(&r, step);
		for (int i = 0; i < TABLE; i += PART)
			upload(&r, device + i, host + i);
		NEED(cublasSaxpy(r.blas, TABLE, &pull, device, 1, r.weight, 1));
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		NEED(cudaFreeAsync(device, r.stream));
	}
	rule_finish(&r);
	free(host);
	return 0;
}
