/* SPDX-License-Identifier: MIT */
/*
 * Steps behind a loop that looks like them: steps_evaluation BEFORE STEPS AFTER UPDATE. For all
 * that is known of its kernels, an evaluation may carry weights from one round to the next. By
 * `known` cuBLAS updates the weights, by `kernel` a kernel that does not tell so either.
 */
#include "tests/rules/rule_kernels.h"

static cudaKernel_t turn, decay;

static void run(struct rule *r, cudaKernel_t kernel, float *numbers, int n)
{
	float rate = 0.01f;
	void *turned[] = {&numbers, &n}, *decayed[] = {&numbers, &rate, &n};

	rule_launch(r, kernel, n, kernel == turn ? turned : decayed);
}

/* Kernels at both ends use the one buffer as scratch; that nothing is carried in it, they do not
 * tell. */
static void forward(struct rule *r)
{
	run(r, turn, r->input[1], BATCH_FLOATS);
	for (unsigned layer = 0; layer < 2; layer++) {
		rule_forward(r, 0);
		run(r, turn, r->output, OUTPUTS * BATCH);
	}
	run(r, decay, r->input[1], BATCH_FLOATS);
}

static void __attribute__((noinline)) evaluate(struct rule *r, int rounds)
{
	float loss;

	for (int i = 0; i < rounds; i++) {
		forward(r);
		NEED(cudaMemcpy(&loss, r->output, sizeof(loss), cudaMemcpyDeviceToHost));
	}
}

int main(int argc, char **argv)
{
	struct rule r;

	if (argc < 5)
		return 2;
	rule_init(&r);
	turn = rule_kernel("turn");
	decay = rule_kernel("decay");
	evaluate(&r, atoi(argv[1]));
	for (int step = 0; step < atoi(argv[2]); step++) {
		forward(&r);
		for (int i = 0; i < 8; i++)
			rule_backward(&r, 0, 1);
		if (!strcmp(argv[4], "known"))
			rule_update(&r);
		else
			run(&r, decay, r.weight, WEIGHTS);
		NEED(cudaDeviceSynchronize());
	}
	evaluate(&r, atoi(argv[3]));
	rule_finish(&r);
	return 0;
}
