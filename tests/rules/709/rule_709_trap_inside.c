/* SPDX-License-Identifier: MIT */
/* TFS709, no trap: the program says where its steps begin, and each twelfth one ends with a
 * checkpoint, which is therefore a part of it. */
#include "shim/tfshim.h"
#include "tests/rules/rule_step.h"

enum { EACH = 12, BLOCKS = 4, FLOATS = 512 * 512, TOUCHED = 4096 };

static void stall(struct rule *r, float *host, float **state, FILE *file)
{
	NEED(cudaStreamSynchronize(r->stream)); /* trap: TFS201 */
	rewind(file);
	for (size_t i = 0; i < BLOCKS; i++) {
		/* expect: TFS709 x0.31112 318.578KiB 0us */
		NEED(cudaMemcpyAsync(
			host, state[i], FLOATS * sizeof(float), cudaMemcpyDeviceToHost, r->stream));
		NEED(cudaStreamSynchronize(r->stream)); /* trap: TFS201 */
		if (fwrite(host, sizeof(float), FLOATS, file) != FLOATS || fflush(file))
			exit(1);
	}
}

int main(void)
{
	const float rate = -0.01f;
	FILE *file = tmpfile();
	float *state[BLOCKS], *host;
	struct rule r;

	rule_init(&r);
	NEED(cudaMallocHost((void **)&host, FLOATS * sizeof(float)));
	for (size_t i = 0; i < BLOCKS; i++)
		state[i] = rule_alloc(FLOATS);
	for (unsigned step = 0; step < STEPS; step++) {
		TFSHIM_STEP();
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		NEED(cublasSaxpy(r.blas, TOUCHED, &rate, r.grad, 1, state[step % BLOCKS], 1));
		if (step % EACH == EACH - 1)
			stall(&r, host, state, file);
	}
	rule_tell(state[BLOCKS - 1], FLOATS);
	rule_finish(&r);
	return 0;
}
