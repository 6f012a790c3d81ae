/* SPDX-License-Identifier: MIT */
/* TFS709: every 12 steps, training waits until the blocks of a checkpoint are copied out and
 * written. The clean twin copies them on the device, from there to pinned memory on another stream,
 * and writes in another thread; the trap has given the device enough to do meanwhile. */
#include <pthread.h>
#include <stdbool.h>

#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif
#define LAST 5    /* a checkpoint behind the last step only */
#define SAMPLES 6 /* of what was computed in the pause: a checkpoint, or none */
#define SOON 7    /* a little is copied out, and then the next batch is made as ever */
#define ONCE 8    /* when no step is recorded any more */
#define RESTART                                                                                    \
	9         /* a checkpoint as it should be, and then the host opens the next epoch's files  \
		   */
#define WRITES 10 /* a little is copied out, and the host does something long with it */

enum { EACH = 12, BLOCKS = 4, SIDE = 512, FLOATS = SIDE * SIDE, TOUCHED = 4096 };

struct checkpoint {
	FILE *file;
	float *state[BLOCKS]; /* changed by each step */
	float *second;        /* of all blocks */
	float *host;          /* likewise; pinned */
	cudaStream_t aside;
	cudaEvent_t copied, arrived;
	pthread_t writer;
	bool writing;
};

static void write_out(struct checkpoint *c)
{
	rewind(c->file);
	if (fwrite(c->host, sizeof(float) * FLOATS, BLOCKS, c->file) != BLOCKS || fflush(c->file))
		exit(1);
}

static void *write_later(void *checkpoint)
{
	struct checkpoint *c = checkpoint;

	NEED(cudaEventSynchronize(c->arrived));
	write_out(c);
	return NULL;
}

static void await(struct checkpoint *c)
{
	if (c->writing)
		pthread_join(c->writer, NULL);
	c->writing = false;
}

static void keep(struct rule *r, struct checkpoint *c, const struct rule_busy *busy)
{
	await(c);
	for (size_t i = 0; i < BLOCKS; i++)
		NEED(cudaMemcpyAsync(/* trap: TFS107 */ c->second + i * FLOATS, c->state[i],
			FLOATS * sizeof(float), cudaMemcpyDeviceToDevice, r->stream));
	NEED(cudaEventRecord(c->copied, r->stream));
	for (int i = 0; VARIANT == TRAP && i < 16; i++)
		rule_keep_busy(r, busy);
	NEED(cudaStreamWaitEvent(c->aside, c->copied, 0));
	NEED(cudaMemcpyAsync(/* trap: TFS709 */ c->host, c->second, sizeof(float) * FLOATS * BLOCKS,
		cudaMemcpyDeviceToHost, c->aside));
	NEED(cudaEventRecord(c->arrived, c->aside));
	if (VARIANT == TRAP) {
		write_later(c);
		return;
	}
	c->writing = !pthread_create(&c->writer, NULL, write_later, c);
	if (!c->writing)
		exit(1);
}

static void stall(struct rule *r, struct checkpoint *c)
{
	NEED(cudaStreamSynchronize(r->stream));
	for (size_t i = 0; i < BLOCKS; i++)
		/* expect: TFS709 x0.31112 318.578KiB 0us */
		NEED(cudaMemcpy(/* trap: TFS202 */ c->host + i * FLOATS, c->state[i],
			FLOATS * sizeof(float), cudaMemcpyDeviceToHost));
	write_out(c);
}

/* Samples of the model, which is what it is asked for. */
static void sample(struct rule *r, struct checkpoint *c)
{
	const float one = 1, zero = 0;

	for (size_t i = 0; i < BLOCKS; i++) {
		NEED(cublasSgemm(r->blas, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE, 1, &one,
			c->state[i], SIDE, c->state[i], 1, &zero, c->second + i * FLOATS, SIDE));
		NEED(cudaStreamSynchronize(r->stream));
		NEED(cudaMemcpy(/* trap: TFS709 */ c->host + i * FLOATS, c->second + i * FLOATS,
			FLOATS * sizeof(float), cudaMemcpyDeviceToHost));
	}
	write_out(c);
}

static void glance(struct rule *r, struct checkpoint *c)
{
	NEED(cudaStreamSynchronize(r->stream));
	NEED(cudaMemcpy(c->host, c->state[0], sizeof(float) * FLOATS / 8, cudaMemcpyDeviceToHost));
}

static void __attribute__((noinline))
save(struct rule *r, struct checkpoint *c, const struct rule_busy *busy)
{
	const struct timespec pause = {.tv_nsec = 20000000};

	for (int i = 0; VARIANT == ONCE && i < 4; i++)
		stall(r, c);
	if (VARIANT == BAD || VARIANT == LAST)
		stall(r, c);
	else if (VARIANT == SAMPLES)
		sample(r, c);
	else if (VARIANT == SOON || VARIANT == WRITES)
		glance(r, c);
	else if (VARIANT != ONCE)
		keep(r, c, busy);
	if (VARIANT == RESTART || VARIANT == WRITES)
		nanosleep(&pause, NULL);
}

enum { ALL = VARIANT == LAST ? STEPS / 2 : STEPS };

static bool is_due(unsigned step)
{
	if (VARIANT == LAST || VARIANT == ONCE)
		return step == ALL - (VARIANT == LAST ? 1 : 8);
	return step % EACH == EACH - 1;
}

static void init(struct checkpoint *c)
{
	c->file = tmpfile();
	if (!c->file)
		exit(1);
	for (size_t i = 0; i < BLOCKS; i++)
		c->state[i] = rule_alloc(FLOATS);
	c->second = rule_alloc((size_t)BLOCKS * FLOATS);
	NEED(cudaMallocHost((void **)&c->host, sizeof(float) * FLOATS * BLOCKS));
	NEED(cudaStreamCreateWithFlags(&c->aside, cudaStreamNonBlocking));
	NEED(cudaEventCreateWithFlags(&c->copied, cudaEventDisableTiming));
	NEED(cudaEventCreateWithFlags(&c->arrived, cudaEventDisableTiming));
}

int main(void)
{
	const float rate = -0.01f;
	struct checkpoint c = {0};
	struct rule_busy busy;
	struct rule r;

	rule_init(&r);
	init(&c);
	busy = rule_busy_init();
	for (unsigned step = 0; step < ALL; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		NEED(cublasSaxpy(r.blas, TOUCHED, &rate, r.grad, 1, c.state[step % BLOCKS], 1));
		if (is_due(step))
			save(&r, &c, &busy);
	}
	await(&c);
	for (unsigned i = 0; VARIANT == LAST && i < SLOTS; i++)
		rule_forward(&r, i);
	rule_tell(c.state[BLOCKS - 1], FLOATS);
	rule_finish(&r);
	return 0;
}
