/* SPDX-License-Identifier: MIT */
/* TFS402, a trap: between the zeroing and the product that adds to it, a graph adds to the gradient
 * too. A launch of a graph does not say which memory it uses. */
#include "tests/rules/rule_step.h"

int main(void)
{
	const size_t bytes = WEIGHTS * sizeof(float);
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	struct rule r;

	rule_init(&r);
	NEED(cudaStreamBeginCapture(r.stream, cudaStreamCaptureModeGlobal));
	rule_backward(&r, 0, 1);
	NEED(cudaStreamEndCapture(r.stream, &graph));
	NEED(cudaGraphInstantiate(&exec, graph, 0));
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		NEED(cudaMemsetAsync(r.grad, 0, bytes, r.stream)); /* unmeasured: TFS402 */
		rule_forward(&r, step);
		NEED(cudaGraphLaunch(exec, r.stream));
		rule_backward(&r, step, 1);
		rule_update(&r);
	}
	rule_finish(&r);
	NEED(cudaGraphExecDestroy(exec));
	NEED(cudaGraphDestroy(graph));
	return 0;
}
