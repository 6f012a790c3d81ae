/* SPDX-License-Identifier: MIT */
/* TFS406: a temporary that is as large as the step's batch is long, released and allocated anew
 * where a longer batch comes. The clean twin has it for the longest; the trap takes two temporaries
 * of different sizes in each step, by one call. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

enum { LENGTHS = 5, PART = WEIGHTS / LENGTHS };

struct buffer {
	float *memory;
	size_t floats;
};

static size_t length_of(unsigned step)
{
	return (size_t)(1 + step * 2 % LENGTHS) * PART;
}

static void fit(struct buffer *buffer, size_t floats)
{
	if (buffer->memory)
		NEED(cudaFree(buffer->memory));
	/* Releasing waits for the device, so that the host is not ahead any more: the device is
	 * idle for 120 us until it copies, and while 2 ms go by that the next batch takes, but
	 * for 1.1 ms of the copy and the update. */
	/* expect: TFS406 x1 153.6KiB 0.85..1.15ms */
	NEED(cudaMalloc((void **)&buffer->memory, floats * sizeof(float)));
	buffer->floats = floats;
}

/* Of one step: as long as its batch, or as two layers have it. */
static void use(struct rule *r, struct buffer *buffer, size_t floats)
{
	if (VARIANT != CLEAN)
		fit(buffer, floats);
	NEED(cublasScopy(r->blas, (int)floats, r->grad, 1, buffer->memory, 1));
}

int main(void)
{
	struct buffer buffer = {0};
	struct rule r;

	rule_init(&r);
	if (VARIANT == CLEAN)
		fit(&buffer, WEIGHTS);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		for (int i = 0; i < (VARIANT == TRAP ? 2 : 1); i++)
			use(&r, &buffer,
				VARIANT == TRAP ? (size_t)(i + 1) * PART : length_of(step));
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
