/* SPDX-License-Identifier: MIT */
/* TFS203, a trap: large, and read at three places of a step that are each innocent: what they read
 * is the same. On the device the three take 739 us, and one of them, pinned, 82; 1.41 ms of the
 * next step's preparing are not under the update. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT TRAP
#endif

enum { SEEN = OUTPUTS * BATCH };
static const size_t bytes = SEEN * sizeof(float);

static float host[SEEN];

/* Read once, into one of two pinned buffers, and looked at a step later for all three. */
static void look(float *const *seen, const cudaEvent_t *there, unsigned step)
{
	NEED(cudaEventSynchronize(there[step % 2]));
	for (int i = 0; i < 3; i++)
		rule_see(seen[step % 2] + i, 1);
}

static void read_thrice(struct rule *r)
{
	const enum cudaMemcpyKind down = cudaMemcpyDeviceToHost;

	(void)r;
	/* expect: TFS101 x1 64KiB legacy 1.81..2.33ms TFS202 x1 64KiB legacy 1.81..2.33ms */
	/* expect: TFS203 x1 64KiB legacy 1.81..2.33ms */
	NEED(cudaMemcpy(host, r->output, bytes, down));
	rule_see(host, 1);
	/* expect: TFS101 x1 64KiB legacy 1.81..2.33ms TFS202 x1 64KiB legacy 1.81..2.33ms */
	/* expect: TFS203 x1 64KiB legacy 1.81..2.33ms */
	NEED(cudaMemcpy(host, r->output, bytes, down));
	rule_see(host + 1, 1);
	/* expect: TFS101 x1 64KiB legacy 1.81..2.33ms TFS202 x1 64KiB legacy 1.81..2.33ms */
	/* expect: TFS203 x1 64KiB legacy 1.81..2.33ms */
	NEED(cudaMemcpy(host, r->output, bytes, down));
	rule_see(host + 2, 1);
}

int main(void)
{
	cudaEvent_t there[2];
	float *seen[2];
	struct rule r;

	rule_init(&r);
	/* One that the copies wait for, and that waits for them. */
	NEED(cudaStreamCreate(&r.stream));
	NEED(cublasSetStream(r.blas, r.stream));
	for (int i = 0; i < 2; i++) {
		NEED(cudaMallocHost((void **)&seen[i], bytes));
		memset(seen[i], 0, bytes);
		NEED(cudaEventCreateWithFlags(&there[i], cudaEventDisableTiming));
	}
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		if (VARIANT == TRAP) {
			read_thrice(&r);
		} else {
			NEED(cudaMemcpyAsync(
				seen[step % 2], r.output, bytes, cudaMemcpyDeviceToHost, r.stream));
			NEED(cudaEventRecord(there[step % 2], r.stream));
			if (VARIANT == WRONG)
				for (int i = 0; i < 3; i++)
					rule_see(seen[step % 2] + i, 1);
			else if (step > 0)
				look(seen, there, step - 1);
		}
		rule_update(&r);
	}
	if (VARIANT == ADVICE)
		look(seen, there, STEPS - 1);
	rule_finish(&r);
	return 0;
}
