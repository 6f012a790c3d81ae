/* SPDX-License-Identifier: MIT */
/* TFS105: the values that weights are pulled towards are copied to the device in each step, and
 * never change. The clean twin copies them once; the trap's differ from step to step, if only in
 * one number in the middle. */
#include "tests/rules/rule_step.h"

enum { TABLE = WEIGHTS / 2 };

#ifndef VARIANT
#define VARIANT BAD
#endif
/* Another trap's do so behind this step. */
#ifndef SINCE
#define SINCE 0
#endif

struct own {
	float *host; /* pinned */
	float *device;
	cudaEvent_t copied;
};

static void change(struct own *own, unsigned step)
{
	NEED(cudaEventSynchronize(own->copied));
	if (VARIANT == TRAP && step > SINCE)
		own->host[TABLE / 2 + 7] = 1e-3f * (float)step;
}

static void upload(struct rule *r, struct own *own)
{
	/* On the device 30 us and 0.8 ns for a byte, and 10 us of the host. */
	/* expect: TFS105 x1 128KiB stream 13 120..150us */
	NEED(cudaMemcpyAsync(
		own->device, own->host, TABLE * sizeof(float), cudaMemcpyHostToDevice, r->stream));
	NEED(cudaEventRecord(own->copied, r->stream));
}

int main(void)
{
	const float pull = 1e-4f;
	struct own own;
	struct rule r;

	rule_init(&r);
	own.device = rule_alloc(TABLE);
	NEED(cudaMallocHost((void **)&own.host, TABLE * sizeof(float)));
	NEED(cudaEventCreateWithFlags(&own.copied, cudaEventDisableTiming));
	rule_fill(own.host, TABLE, 1e-4f);
	upload(&r, &own);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		change(&own, step);
		if (VARIANT != CLEAN)
			upload(&r, &own);
		NEED(cublasSaxpy(r.blas, TABLE, &pull, own.device, 1, r.weight, 1));
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
