/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_MEASURE_RANKED_H
#define TFS_SHIM_REWRITES_MEASURE_RANKED_H

/*
 * Proof where several ranks train together. They wait for each other in every step, so all have to
 * switch at the same steps, and one verdict has to hold for all: which steps run with which
 * rewrites follows from the step's index alone, and the verdict is found over the slowest rank's
 * steps when the recordings of all are at hand. It goes into the file that the next run goes by.
 * Used in the traced process and after the run; pure. No allocation.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/rewrites/measure/trial.h"
#include "shim/rewrites/measure/verdict.h"

struct tfs_ranked {
	uint64_t first;  /* index of the first step that is measured */
	uint32_t steps;  /* of each question, at most */
	uint32_t period; /* of the steps, as an earlier run found it */
	uint32_t count;  /* rewrites: one question for each */
	char names[TFS_VERDICTS_MOST][TFS_VERDICT_NAME];
};

/* Where a step lies. */
struct tfs_ranked_place {
	uint32_t question;
	uint32_t pair;
	uint32_t step; /* of its block, with those left out */
	bool on;       /* the question's rewrite */
};

/* Adds a rewrite; false when there are too many, or its name is too long. */
bool tfs_ranked_add(struct tfs_ranked *plan, const char *name);

/* False when it is none of the steps that are measured. All questions get the pairs up to the first
 * look, then all those up to the second, and so on: a short run tells something about each. */
bool tfs_ranked_at(
	const struct tfs_ranked *plan, uint64_t index, struct tfs_ranked_place *out_place);

/* Pairs of each question, and steps of all. */
uint32_t tfs_ranked_pairs(const struct tfs_ranked *plan);
uint64_t tfs_ranked_steps(const struct tfs_ranked *plan);

/* The plan as one line, as a recording states it, and back. */
void tfs_ranked_write(const struct tfs_ranked *plan, char *out, size_t bytes);
bool tfs_ranked_read(struct tfs_ranked *out_plan, const char *text);

#endif
