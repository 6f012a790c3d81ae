/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PAIRS_HABITS_H
#define TFS_TESTS_PAIRS_HABITS_H

/*
 * What a trainer should not do in each step. Each is done at one place of the step, and there is a
 * repaired way of doing it (layout.fixed), which is what the report advises and nothing else.
 */

#include "tests/pairs/trainer.h"

struct habit {
	const char *name; /* the rule's number, and which of the ways to break it */
	void (*begin)(struct trainer *trainer);
	void (*act)(struct trainer *trainer);
	void (*settle)(struct trainer *trainer); /* before the update */
	bool pageable; /* batches are copied from pageable memory, unless repaired */
	bool blocking; /* batches are copied by a call that waits, unless repaired */
	bool exposed;  /* and so that what is computed waits for it, unless a step ahead */
	bool starved; /* they take longer to make than the device's work, unless others make them */
	bool updated; /* layers are updated one by one, unless in one piece */
	bool instantiated; /* a graph of the step is made for each, unless an old one is updated */
	bool launched;     /* all of the step is launched each time, unless a graph of it is */
};

/* NULL where there is none of that name. */
const struct habit *habit_find(const char *name);

/* All names, a line each. */
void habits_print(void);

#endif
