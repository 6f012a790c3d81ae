/* SPDX-License-Identifier: MIT */
/* TFS903: another profiler has CUPTI, here the program itself. The clean twin leaves it alone; the
 * trap gives the device nothing to do, so that there is nothing to be missed. */
#include <cupti.h>

#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

static void CUPTIAPI ignore(
	void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *info)
{
	(void)data;
	(void)domain;
	(void)id;
	(void)info;
}

static void train(void)
{
	struct rule r;

	rule_init(&r);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_finish(&r);
}

int main(void)
{
	CUpti_SubscriberHandle subscriber;
	size_t free_bytes, all_bytes;

	if (VARIANT == BAD)
		NEED(cuptiSubscribe(&subscriber, ignore, NULL));
	if (VARIANT != TRAP)
		train();
	for (int i = 0; VARIANT == TRAP && i < 100; i++)
		NEED(cudaMemGetInfo(&free_bytes, &all_bytes));
	return 0;
}
