/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_REWRITES_DECISIONS_H
#define TFS_RULES_REWRITES_DECISIONS_H

/*
 * What cudnn-search decided, in memory and in a text file that later runs replay, so that they
 * compute bit for bit what this run computes. One line per problem, for one machine: a GPU's name
 * and a cuDNN version. Lines for other machines are kept but not used; a line that is cut off,
 * cannot be read, or would leave the rewrite's fences is refused. What is refused is said once.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/tensors.h"

#define TFS_MOST_DECISIONS 512u

struct tfs_decision {
	struct tfs_problem problem;
	uint32_t machine;
	int asked;
	int chosen;
	uint64_t workspace;
	float asked_ms; /* medians of the search; 0 = not measured */
	float chosen_ms;
	bool replayed; /* came from the file */
};

/* Reads the file; once, before any other function. Calls nothing of CUDA's. */
void tfs_decisions_load(void);

/* The machine's number, from 1; 0 when there are too many. When it is new and the file is only for
 * others, that is said. Any thread. */
uint32_t tfs_decisions_machine(const char *gpu, size_t cudnn_version);

#define TFS_ASKED_ANY (-1)

/* The decision on a problem for which the program asked for algorithm `asked`; NULL when there is
 * none. Lives for ever. Any thread. */
const struct tfs_decision *tfs_decisions_find(
	uint32_t machine, const struct tfs_problem *problem, int asked);

/* Adds a decision, and appends it to the file if it is to `last`. NULL when there are too many. Any
 * thread. */
const struct tfs_decision *tfs_decisions_add(const struct tfs_decision *decision, bool last);

/* Reads lines that end in a newline, changing `text`, which ends in a null byte; `bytes` without
 * it. For tfs_decisions_load() and the fuzz target. */
void tfs_decisions_read(char *text, size_t bytes);

#endif
