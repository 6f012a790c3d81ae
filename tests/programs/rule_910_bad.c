/* SPDX-License-Identifier: MIT */
/* TFS910: each step has calls that fail, and the program looks at no status of theirs. The clean
 * twin makes the same calls with the right arguments; the trap's return what is no failure: that
 * work is not done yet, and that memory is pinned already. */
#include "tests/programs/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

static void forget(struct rule *r, unsigned step)
{
	const int rows = VARIANT == BAD ? 1 : INPUTS;
	const float one = 1, zero = 0;

	/* expect: TFS910 x1 stream 13 0us */
	(void)cublasSgemm(r->blas, CUBLAS_OP_T, CUBLAS_OP_N, OUTPUTS, BATCH, INPUTS, &one,
		r->weight, rows, r->input[step % SLOTS], INPUTS, &zero, r->output, OUTPUTS);
	/* expect: TFS910 x1 stream 13 0us */
	(void)cudaMemcpyAsync(VARIANT == BAD ? NULL : r->output, r->grad,
		OUTPUTS * BATCH * sizeof(float), cudaMemcpyDeviceToDevice, r->stream);
}

static void ask(struct rule *r, void *pinned, size_t bytes)
{
	(void)cudaStreamQuery(r->stream);
	(void)cudaHostRegister(pinned, bytes, cudaHostRegisterDefault);
}

int main(void)
{
	const size_t bytes = 4096;
	struct rule r;
	void *pinned;

	rule_init(&r);
	NEED(posix_memalign(&pinned, bytes, bytes));
	NEED(cudaHostRegister(pinned, bytes, cudaHostRegisterDefault));
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		if (VARIANT == TRAP)
			ask(&r, pinned, bytes);
		else
			forget(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
