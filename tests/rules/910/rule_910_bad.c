/* SPDX-License-Identifier: MIT */
/* TFS910: each step has calls that fail, and the program looks at no status of theirs. The clean
 * twin makes the same calls with the right arguments, as advised, and -advice none of them, since
 * nothing needs what they do; who asks for the last error does not fail himself; the trap's return
 * what is no failure: that work is not done yet, and that memory is pinned already. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

static void forget(struct rule *r, unsigned step, float *copy)
{
	const int rows = VARIANT == BAD ? 1 : INPUTS;
	const float one = 1, zero = 0;

	/* expect: TFS910 x1 stream 13 0us */
	(void)cublasSgemm(r->blas, CUBLAS_OP_T, CUBLAS_OP_N, OUTPUTS, BATCH, INPUTS, &one,
		r->weight, rows, r->input[step % SLOTS], INPUTS, &zero, r->output, OUTPUTS);
	/* expect: TFS910 x1 stream 13 0us */
	(void)cudaMemcpyAsync(VARIANT == BAD ? NULL : copy, r->grad,
		OUTPUTS * BATCH * sizeof(float), cudaMemcpyDeviceToDevice, r->stream);
	(void)cudaGetLastError();
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
	float *copy;
	void *pinned;

	rule_init(&r);
	copy = rule_alloc(OUTPUTS * BATCH);
	NEED(posix_memalign(&pinned, bytes, bytes));
	NEED(cudaHostRegister(pinned, bytes, cudaHostRegisterDefault));
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		if (VARIANT == TRAP)
			ask(&r, pinned, bytes);
		else if (VARIANT != ADVICE)
			forget(&r, step, copy);
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
