/* SPDX-License-Identifier: MIT */
/* TFS104: what each sample adds to the outputs is copied to the device a sample's piece at a time.
 * The clean twin copies all pieces at once; the trap makes fewer small copies, and many of them
 * only now and then. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

enum { PIECES = 32, PIECE = OUTPUTS * BATCH / PIECES };

struct own {
	float *host[SLOTS]; /* pinned */
	float *device;
	cudaEvent_t copied[SLOTS];
};

static void copy(const struct rule *r, float *device, const float *host, size_t floats)
{
	/* Each takes 31.6 us on the device; one of all of them 82.4. */
	/* expect: TFS104 x32 64KiB stream 13 800..1060us */
	NEED(cudaMemcpyAsync(
		device, host, floats * sizeof(float), cudaMemcpyHostToDevice, r->stream));
}

static unsigned pieces_of(unsigned step)
{
	if (VARIANT == TRAP)
		return step % 15 == 14 ? PIECES : 8;
	return VARIANT == CLEAN ? 1 : PIECES;
}

static void upload(struct rule *r, struct own *own, unsigned step)
{
	const unsigned slot = step % SLOTS, pieces = pieces_of(step);
	const size_t floats = OUTPUTS * BATCH / pieces;

	NEED(cudaEventSynchronize(own->copied[slot]));
	rule_fill(own->host[slot], OUTPUTS * BATCH, 1e-6f / (float)(1 + step % 5));
	for (unsigned i = 0; i < pieces; i++)
		copy(r, own->device + i * floats, own->host[slot] + i * floats, floats);
	NEED(cudaEventRecord(own->copied[slot], r->stream));
}

int main(void)
{
	const float one = 1;
	struct own own;
	struct rule r;

	rule_init(&r);
	own.device = rule_alloc(OUTPUTS * BATCH);
	for (int i = 0; i < SLOTS; i++) {
		NEED(cudaMallocHost((void **)&own.host[i], OUTPUTS * BATCH * sizeof(float)));
		NEED(cudaEventCreateWithFlags(&own.copied[i], cudaEventDisableTiming));
	}
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		upload(&r, &own, step);
		NEED(cublasSaxpy(r.blas, OUTPUTS * BATCH, &one, own.device, 1, r.output, 1));
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_tell(own.device, OUTPUTS * BATCH);
	rule_finish(&r);
	return 0;
}
