/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_REWRITES_DECISIONS_H
#define TFS_RULES_REWRITES_DECISIONS_H

/*
 * What cudnn-search decided, in memory and in a text file that later runs replay, so that they
 * compute bit for bit what this run computes. One line per problem; a line that belongs to another
 * GPU or cuDNN is kept but not used, one that cannot be read is passed over.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/tensors.h"

struct tfs_decision {
	struct tfs_problem problem;
	int asked;
	int chosen;
	uint64_t workspace;
	float asked_ms; /* medians of the search; 0 = not measured */
	float chosen_ms;
	bool replayed; /* came from the file */
};

/* Names the GPU and the cuDNN that decisions are for, and reads the file. */
void tfs_decisions_open(const char *gpu, size_t cudnn_version);

/* The decision on a problem, whatever was asked; NULL when there is none. Lives for ever. */
const struct tfs_decision *tfs_decisions_find(const struct tfs_problem *problem);

/* Adds a decision, and appends it to the file if it is to `last`. NULL when there are too many. */
const struct tfs_decision *tfs_decisions_add(const struct tfs_decision *decision, bool last);

#endif
