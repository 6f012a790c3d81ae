/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_CUDNN_SEARCH_DECISIONS_H
#define TFS_SHIM_REWRITES_CUDNN_SEARCH_DECISIONS_H

/*
 * What cudnn-search decided, in a text file that later runs replay, so that they compute bit for
 * bit what the run computed that wrote it. One line per problem, for one machine: a GPU's name and
 * a cuDNN version; of several lines for one problem the last one counts. A problem that was left
 * as the program asked has a line that says so. Lines for other machines are kept but not used; a
 * line that is cut off, cannot be read, or would leave the rewrite's fences is refused. What is
 * refused is said once.
 *
 * A run that finds lines for its machine decides nothing. Of the runs that do not, the one that
 * gets the file's lock decides, and keeps the lock until it ends.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/state/tensors.h"

struct tfs_decision {
	struct tfs_problem problem;
	uint32_t machine;
	int asked;
	int chosen;
	uint64_t workspace;
	uint64_t asked_workspace; /* not in the file */
	float asked_ms;           /* medians of the search; 0 = not measured */
	float chosen_ms;
	bool in_list;  /* about a list that the program asked for, else about calls */
	bool replayed; /* came from the file */
};

/* Reads the file; the thread that touches files. Then what it says, before any other function.
 * Each once; they call nothing of CUDA's. */
void tfs_decisions_fetch(void);
void tfs_decisions_start(void);

/* The machine's number, from 1; 0 when there are too many. When it is new and the file is only for
 * others, that is said. Any thread. */
uint32_t tfs_decisions_machine(const char *gpu, size_t cudnn_version);

/* Does the file say all about the machine that there is to say? Any thread. */
bool tfs_decisions_complete(uint32_t machine);

/* What the file says about a problem; NULL when that is nothing. Lives for ever. Any thread. */
const struct tfs_decision *tfs_decisions_find(uint32_t machine, const struct tfs_problem *problem);

/* May this run decide: is the file there to be written, and is it the run that does? The first
 * call finds out. Any thread; one that comes during that call gets false. */
bool tfs_decisions_ours(void);

/* Appends a decision to the file, if it is ours: true once it is there. What is not must not be
 * used. Any thread. */
bool tfs_decisions_write(const struct tfs_decision *decision);

#endif
