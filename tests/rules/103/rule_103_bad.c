/* SPDX-License-Identifier: MIT */
/* TFS103: each batch is copied from pinned memory on the stream that computes, so that the step's
 * kernels wait for it. The clean twin copies the next batch on a stream of its own while one is
 * computed; the trap copies little, for what is computed. With the other trap the host takes
 * longest: what it copies could come sooner, and nothing else would. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

/* What the host does in the middle of the step. */
#ifndef HOST_NS
#define HOST_NS 0
#endif
/* Whether another device works too. */
#ifndef TWO
#define TWO 0
#endif

/* On a slow device the copy takes longer than what is computed. */
enum { BYTES = VARIANT == TRAP ? 256 << 10 : 16 << 20 };

struct own {
	struct rule_busy busy;
	float *host[SLOTS], *input[SLOTS];
	float *there; /* on the other device */
	cudaStream_t copies;
	cudaEvent_t copied[SLOTS], used[SLOTS];
};

static void init(struct rule *r, struct own *own)
{
	rule_init(r);
	own->busy = rule_busy_init();
	if (TWO) {
		NEED(cudaSetDevice(1));
		own->there = rule_alloc(BATCH_FLOATS);
		NEED(cudaSetDevice(0));
	}
	NEED(cudaStreamCreateWithFlags(&own->copies, cudaStreamNonBlocking));
	for (int i = 0; i < SLOTS; i++) {
		NEED(cudaMallocHost((void **)&own->host[i], BYTES));
		memset(own->host[i], 0, BYTES);
		own->input[i] = rule_alloc(BYTES / sizeof(float));
		NEED(cudaEventCreateWithFlags(&own->copied[i], cudaEventDisableTiming));
		NEED(cudaEventCreateWithFlags(&own->used[i], cudaEventDisableTiming));
	}
}

/* The batch of a step, which the host has made in the meantime. */
static void make(struct own *own, unsigned step)
{
	const unsigned slot = step % SLOTS;

	NEED(cudaEventSynchronize(own->copied[slot]));
	rule_fill(own->host[slot], BATCH_FLOATS, 1e-3f / (float)(1 + step % 7));
}

static void work_there(const struct own *own)
{
	NEED(cudaSetDevice(1));
	NEED(cudaMemsetAsync(own->there, 1, BATCH_FLOATS * sizeof(float), cudaStreamPerThread));
	NEED(cudaSetDevice(0));
}

/* Beside the step before, behind what reads the buffer. */
static void prefetch(struct own *own, unsigned step)
{
	const unsigned slot = step % SLOTS;

	make(own, step);
	NEED(cudaStreamWaitEvent(own->copies, own->used[slot], 0));
	NEED(cudaMemcpyAsync(
		own->input[slot], own->host[slot], BYTES, cudaMemcpyHostToDevice, own->copies));
	NEED(cudaEventRecord(own->copied[slot], own->copies));
}

static void upload(struct rule *r, struct own *own, unsigned step)
{
	const unsigned slot = step % SLOTS;

	make(own, step);
	/* The device computes for 8.4 ms, which is less than the copy takes. */
	/* expect: TFS103 x1 16MiB stream 13 7.1..9.1ms */
	NEED(cudaMemcpyAsync(/* trap: TFS103 */ own->input[slot], own->host[slot], BYTES,
		cudaMemcpyHostToDevice, r->stream));
	NEED(cudaEventRecord(own->copied[slot], r->stream));
}

static void compute(struct rule *r, struct own *own, unsigned step)
{
	const struct timespec pause = {.tv_nsec = HOST_NS};
	const float one = 1, zero = 0;

	if (VARIANT == CLEAN)
		NEED(cudaStreamWaitEvent(r->stream, own->copied[step % SLOTS], 0));
	NEED(cublasSgemm(r->blas, CUBLAS_OP_T, CUBLAS_OP_N, OUTPUTS, BATCH, INPUTS, &one, r->weight,
		INPUTS, own->input[step % SLOTS], INPUTS, &zero, r->output, OUTPUTS));
	if (TWO)
		work_there(own);
	if (HOST_NS)
		nanosleep(&pause, NULL);
	rule_keep_busy(r, &own->busy);
	NEED(cublasSgemm(r->blas, CUBLAS_OP_N, CUBLAS_OP_T, INPUTS, OUTPUTS, BATCH, &one,
		own->input[step % SLOTS], INPUTS, r->output, OUTPUTS, &zero, r->grad, INPUTS));
	NEED(cudaEventRecord(own->used[step % SLOTS], r->stream));
	rule_update(r);
}

int main(void)
{
	struct own own;
	struct rule r;

	init(&r, &own);
	if (VARIANT == CLEAN)
		prefetch(&own, 0);
	for (unsigned step = 0; step < STEPS; step++) {
		if (VARIANT != CLEAN)
			upload(&r, &own, step);
		else if (step + 1 < STEPS)
			prefetch(&own, step + 1);
		compute(&r, &own, step);
	}
	rule_finish(&r);
	return 0;
}
