/* SPDX-License-Identifier: MIT */
/* TFS201, a trap: each step is timed by two events, and the second one waited for. That wait can
 * go, but it is the program's way to measure: a note. */
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT TRAP
#endif

enum { EVERY = 10 }; /* steps of which one is timed, as advised */

struct watch {
	cudaEvent_t begin, end;
	float total;
	unsigned count;
};

static void look(struct watch *watch)
{
	float ms;

	NEED(cudaEventElapsedTime(&ms, watch->begin, watch->end));
	watch->total += ms;
	watch->count++;
}

/* The step before was timed; that its events have passed is asked for. */
static void look_later(struct watch *watch, unsigned step)
{
	if (step % EVERY == 0 && step > 0 && cudaEventQuery(watch->end) == cudaSuccess)
		look(watch);
}

int main(void)
{
	struct watch watch = {0};
	struct rule r;

	rule_init(&r);
	NEED(cudaEventCreate(&watch.begin));
	NEED(cudaEventCreate(&watch.end));
	for (unsigned step = 0; step < STEPS; step++) {
		const int timed = VARIANT != ADVICE || step % EVERY == 0;

		rule_upload(&r, step);
		if (VARIANT == ADVICE)
			look_later(&watch, step);
		if (timed)
			NEED(cudaEventRecord(watch.begin, r.stream));
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		if (timed)
			NEED(cudaEventRecord(watch.end, r.stream));
		if (VARIANT == TRAP)
			/* note: TFS201 x1 1.82..2.34ms */
			NEED(cudaEventSynchronize(watch.end));
		if (VARIANT != ADVICE)
			look(&watch);
	}
	rule_finish(&r);
	fprintf(stderr, "%g ms on the device in %u steps\n", (double)watch.total, watch.count);
	return 0;
}
