/* SPDX-License-Identifier: MIT */
/* TFS307: the first steps, until all is warm, are captured anew; then one graph is launched. */
#include "tests/rules/rule_step.h"

enum { FIRST = 6 };

static void step_of(struct rule *r, unsigned step)
{
	rule_forward(r, step);
	rule_backward(r, step, 0);
	rule_update(r);
}

static cudaGraphExec_t capture(struct rule *r, unsigned step)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	NEED(cudaStreamBeginCapture(r->stream, cudaStreamCaptureModeThreadLocal));
	step_of(r, step);
	NEED(cudaStreamEndCapture(r->stream, &graph));
	NEED(cudaGraphInstantiate(/* trap: TFS307 */ &exec, graph, 0));
	NEED(cudaGraphDestroy(graph));
	return exec;
}

int main(void)
{
	cudaGraphExec_t execs[SLOTS] = {NULL};
	struct rule r;

	rule_init(&r);
	for (unsigned step = 0; step < STEPS; step++) {
		cudaGraphExec_t *exec = &execs[step % SLOTS];

		rule_upload(&r, step);
		if (step < FIRST || !*exec)
			*exec = capture(&r, step);
		NEED(cudaGraphLaunch(*exec, r.stream));
	}
	rule_finish(&r);
	return 0;
}
