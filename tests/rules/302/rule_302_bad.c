/* SPDX-License-Identifier: MIT */
/* TFS302: 24 small layers, for each of which the host takes longer than the device, as in a
 * framework. The clean twin captures the step once and launches its graph; in the trap the host is
 * faster than the device. Of its two calls the second waits for longest. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

enum { LAYERS = 24, SIDE = 16, FLOATS = SIDE * SIDE };

struct own {
	float *weight, *values[2];
	float *inputs; /* of all steps, pinned */
	cudaGraphExec_t step;
};

/* Stands for what a framework does before a launch. */
static void dispatch(void)
{
	const struct timespec pause = {.tv_nsec = VARIANT == TRAP ? 5000 : 90000};

	nanosleep(&pause, NULL);
}

static void launch_step(struct rule *r, struct own *own)
{
	const float one = 1, zero = 0, rate = -1e-4f;

	dispatch();
	NEED(cublasSaxpy(r->blas, FLOATS, &rate, own->values[0], 1, own->weight, 1));
	for (int i = 0; i < LAYERS; i++) {
		dispatch();
		/* The host takes 25 times 100 us for a step and 30 more, the device 1.11 ms. */
		/* expect: TFS302 x25 stream 13 1.1..1.75ms */
		NEED(cublasSgemm(r->blas, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE, SIDE, &one,
			own->weight, SIDE, own->values[i % 2], SIDE, &zero, own->values[1 - i % 2],
			SIDE));
	}
}

static void capture(struct rule *r, struct own *own)
{
	cudaGraph_t graph;

	NEED(cudaStreamBeginCapture(r->stream, cudaStreamCaptureModeThreadLocal));
	launch_step(r, own);
	NEED(cudaStreamEndCapture(r->stream, &graph));
	NEED(cudaGraphInstantiate(&own->step, graph, 0));
	NEED(cudaGraphDestroy(graph));
}

static void init(struct rule *r, struct own *own)
{
	float start[FLOATS];

	rule_init(r);
	own->weight = rule_alloc(FLOATS);
	for (int i = 0; i < 2; i++)
		own->values[i] = rule_alloc(FLOATS);
	NEED(cudaMallocHost((void **)&own->inputs, STEPS * FLOATS * sizeof(float)));
	rule_fill(own->inputs, STEPS * FLOATS, 6e-4f);
	rule_fill(start, FLOATS, 4e-3f);
	NEED(cudaMemcpy(own->weight, start, sizeof(start), cudaMemcpyHostToDevice));
	NEED(cudaDeviceSynchronize());
}

int main(void)
{
	struct own own;
	struct rule r;

	init(&r, &own);
	if (VARIANT == CLEAN)
		capture(&r, &own);
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaEventSynchronize(r.copied[step % SLOTS]));
		NEED(cudaMemcpyAsync(own.values[0], own.inputs + step * FLOATS,
			FLOATS * sizeof(float), cudaMemcpyHostToDevice, r.stream));
		if (VARIANT == CLEAN)
			NEED(cudaGraphLaunch(own.step, r.stream));
		else
			launch_step(&r, &own);
		NEED(cudaEventRecord(r.copied[step % SLOTS], r.stream));
	}
	rule_tell(own.weight, FLOATS);
	rule_finish(&r);
	return 0;
}
