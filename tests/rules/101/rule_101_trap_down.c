/* SPDX-License-Identifier: MIT */
/* TFS101, no trap: a copy from the device to memory that malloc made is as small as those to the
 * device that return early, and holds the host all the same until the device is done. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT TRAP
#endif

enum { SEEN = OUTPUTS * BATCH / 2 };

struct more {
	float *seen[2];
	cudaEvent_t there[2];
};

static void init(struct more *more)
{
	for (int i = 0; i < 2; i++) {
		if (VARIANT == TRAP)
			more->seen[i] = malloc(SEEN * sizeof(float));
		else
			NEED(cudaMallocHost((void **)&more->seen[i], SEEN * sizeof(float)));
		if (!more->seen[i])
			exit(1);
		memset(more->seen[i], 0, SEEN * sizeof(float));
		NEED(cudaEventCreateWithFlags(&more->there[i], cudaEventDisableTiming));
	}
}

/* What a step had is there when its event is; as advised, the host looks a step later. */
static void look(struct more *more, unsigned step)
{
	if (VARIANT == ADVICE)
		NEED(cudaEventSynchronize(more->there[step % 2]));
	rule_see(more->seen[step % 2], SEEN);
}

/* 2 ms of the next step's preparing are not under the device's work, and 138 us are the copy's,
 * which takes 56 to pinned memory. */
static void copy(struct more *more, struct rule *r, unsigned step)
{
	float *seen = more->seen[step % 2];
	const enum cudaMemcpyKind down = cudaMemcpyDeviceToHost;

	if (VARIANT == TRAP) {
		/* expect: TFS101 x1 32KiB legacy 1.82..2.34ms */
		/* expect: TFS202 x1 32KiB legacy 1.82..2.34ms */
		NEED(cudaMemcpy(seen, r->output, SEEN * sizeof(float), down));
		return;
	}
	NEED(cudaMemcpyAsync(seen, r->output, SEEN * sizeof(float), down, r->stream));
	NEED(cudaEventRecord(more->there[step % 2], r->stream));
}

int main(void)
{
	struct more more;
	struct rule r;

	rule_init(&r);
	/* One that a copy waits for. */
	NEED(cudaStreamCreate(&r.stream));
	NEED(cublasSetStream(r.blas, r.stream));
	init(&more);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		copy(&more, &r, step);
		if (VARIANT != ADVICE)
			look(&more, step);
		else if (step > 0)
			look(&more, step - 1);
	}
	if (VARIANT == ADVICE)
		look(&more, STEPS - 1);
	rule_finish(&r);
	return 0;
}
