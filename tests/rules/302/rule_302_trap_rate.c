/* SPDX-License-Identifier: MIT */
/* TFS302, what the advice warns of: the learning rate is a number of the host's that changes with
 * each step. As advised, the graph reads it from device memory that each step writes first;
 * captured blindly, it stays what it was. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT TRAP
#endif

enum { LAYERS = 24, SIDE = 16, FLOATS = SIDE * SIDE };

struct own {
	float *weight, *values[2];
	float *inputs; /* of all steps, pinned */
	float *rates;  /* of all steps, pinned */
	float *rate;   /* of this step, on the device */
	cudaGraphExec_t step;
};

/* Stands for what a framework does before a launch. */
static void dispatch(void)
{
	const struct timespec pause = {.tv_nsec = 90000};

	nanosleep(&pause, NULL);
}

static void launch_step(struct rule *r, struct own *own, const float *rate)
{
	const float one = 1, zero = 0;

	for (int i = 0; i < LAYERS; i++) {
		dispatch();
		/* expect: TFS302 x25 stream 13 1.1..1.75ms */
		NEED(cublasSgemm(r->blas, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE, SIDE, &one,
			own->weight, SIDE, own->values[i % 2], SIDE, &zero, own->values[1 - i % 2],
			SIDE));
	}
	dispatch();
	if (VARIANT == ADVICE)
		NEED(cublasSetPointerMode(r->blas, CUBLAS_POINTER_MODE_DEVICE));
	NEED(cublasSaxpy(r->blas, FLOATS, rate, own->values[0], 1, own->weight, 1));
	if (VARIANT == ADVICE)
		NEED(cublasSetPointerMode(r->blas, CUBLAS_POINTER_MODE_HOST));
}

static void capture(struct rule *r, struct own *own, const float *rate)
{
	cudaGraph_t graph;

	NEED(cudaStreamBeginCapture(r->stream, cudaStreamCaptureModeThreadLocal));
	launch_step(r, own, rate);
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
	own->rate = rule_alloc(1);
	NEED(cudaMallocHost((void **)&own->rates, STEPS * sizeof(float)));
	for (unsigned i = 0; i < STEPS; i++)
		own->rates[i] = -1e-4f / (float)(1 + i);
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
	if (VARIANT != TRAP)
		capture(&r, &own, VARIANT == ADVICE ? own.rate : own.rates);
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaEventSynchronize(r.copied[step % SLOTS]));
		NEED(cudaMemcpyAsync(own.values[0], own.inputs + step * FLOATS,
			FLOATS * sizeof(float), cudaMemcpyHostToDevice, r.stream));
		if (VARIANT == ADVICE)
			NEED(cudaMemcpyAsync(own.rate, own.rates + step, sizeof(float),
				cudaMemcpyHostToDevice, r.stream));
		if (VARIANT != TRAP)
			NEED(cudaGraphLaunch(own.step, r.stream));
		else
			launch_step(&r, &own, own.rates + step);
		NEED(cudaEventRecord(r.copied[step % SLOTS], r.stream));
	}
	rule_tell(own.weight, FLOATS);
	rule_finish(&r);
	return 0;
}
