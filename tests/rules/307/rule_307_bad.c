/* SPDX-License-Identifier: MIT */
/* TFS307: each step is captured and instantiated, launched once, and thrown away. The clean twin
 * captures it too, since its input moves, and updates the executable graph that it has; the trap
 * instantiates one for each of four shapes, when it is there for the first time. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

enum { SHAPES = 4 };

static cudaGraph_t capture(struct rule *r, unsigned step)
{
	cudaGraph_t graph;

	NEED(cudaStreamBeginCapture(r->stream, cudaStreamCaptureModeThreadLocal));
	rule_forward(r, step);
	rule_backward(r, step, 0);
	rule_update(r);
	NEED(cudaStreamEndCapture(r->stream, &graph));
	return graph;
}

/* An executable graph of the step, in `*exec` if it stays. */
static void make(cudaGraphExec_t *exec, cudaGraph_t graph)
{
	cudaGraphExecUpdateResultInfo info;

	if (*exec)
		NEED(cudaGraphExecUpdate(*exec, graph, &info));
	else
		/* expect: TFS307 x1 0us */
		NEED(cudaGraphInstantiate(exec, graph, 0));
}

static void train_step(struct rule *r, cudaGraphExec_t *exec, unsigned step)
{
	cudaGraph_t graph = capture(r, step);

	make(exec, graph);
	NEED(cudaGraphLaunch(*exec, r->stream));
	NEED(cudaGraphDestroy(graph));
	if (VARIANT != BAD)
		return;
	NEED(cudaGraphExecDestroy(*exec));
	*exec = NULL;
}

int main(void)
{
	cudaGraphExec_t execs[SHAPES] = {NULL};
	struct rule r;

	rule_init(&r);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		train_step(&r, &execs[VARIANT == TRAP ? step / 20 % SHAPES : 0], step);
	}
	rule_finish(&r);
	return 0;
}
