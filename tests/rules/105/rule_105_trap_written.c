/* SPDX-License-Identifier: MIT */
/* TFS105: a table is changed on the device in each step, and copied there anew: the upload is
 * needed for that, but the bytes need not come from the host. */
#ifndef VARIANT
#define VARIANT TRAP
#endif
#include "tests/rules/rule_step.h"

enum { PART = 6 * 1024, TABLE = 4 * PART };

static __attribute__((noinline)) void restore(
	const struct rule *r, float *device, const float *host, const float *kept)
{
	if (VARIANT == ADVICE)
		NEED(cudaMemcpyAsync(
			device, kept, PART * sizeof(float), cudaMemcpyDeviceToDevice, r->stream));
	else
		/* From pageable memory 111.1 us each on the device, within its own 79.2. */
		/* expect: TFS105 x4 96KiB stream 13 0..256us */
		NEED(cudaMemcpyAsync(
			device, host, PART * sizeof(float), cudaMemcpyHostToDevice, r->stream));
}

int main(void)
{
	const float pull = 1e-2f, less = 0.5f;
	float *host, *device, *kept;
	struct rule r;

	rule_init(&r);
	device = rule_alloc(TABLE);
	kept = rule_alloc(TABLE);
	host = malloc(TABLE * sizeof(*host));
	if (!host)
		return 1;
	rule_fill(host, TABLE, 1e-4f);
	NEED(cudaMemcpyAsync(kept, host, TABLE * sizeof(float), cudaMemcpyHostToDevice, r.stream));
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		for (int i = 0; i < TABLE && (VARIANT != WRONG || !step); i += PART)
			restore(&r, device + i, host + i, kept + i);
		NEED(cublasSaxpy(r.blas, TABLE, &pull, device, 1, r.weight, 1));
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		NEED(cublasSscal(r.blas, TABLE, &less, device, 1));
		rule_update(&r);
	}
	free(host);
	rule_finish(&r);
	return 0;
}
