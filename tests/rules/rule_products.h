/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_RULE_PRODUCTS_H
#define TFS_TESTS_PROGRAMS_RULE_PRODUCTS_H

/*
 * The trainer of rule_step.h with large products of matrices in each step, which are made before
 * its own. On the profile h100, whose tensor cores are faster than its others; nothing is computed
 * there.
 */

#include "tests/rules/rule_step.h"

enum { SIDE = 2048, PRODUCTS = 16 };

/* Trains; `prepare` may be NULL. The matrices have room for SIDE x SIDE floats. */
static inline void rule_products(void (*prepare)(const struct rule *r),
	void (*multiply)(const struct rule *r, const void *a, const void *b, void *c))
{
	cudaEvent_t done[SLOTS];
	float *matrices[3];
	struct rule r;

	rule_init(&r);
	if (prepare)
		prepare(&r);
	for (unsigned i = 0; i < 3; i++)
		matrices[i] = rule_alloc((size_t)SIDE * SIDE);
	for (int i = 0; i < SLOTS; i++)
		NEED(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaEventSynchronize(done[step % SLOTS]));
		for (unsigned i = 0; i < PRODUCTS; i++)
			multiply(&r, matrices[0], matrices[1], matrices[2]);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		NEED(cudaEventRecord(done[step % SLOTS], r.stream));
	}
	rule_finish(&r);
}

#endif
