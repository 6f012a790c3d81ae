/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_CUDNN_SEARCH_SEARCH_KNOWN_H
#define TFS_SHIM_REWRITES_CUDNN_SEARCH_SEARCH_KNOWN_H

/*
 * The convolution problems that the program has met, per machine, and what was decided about each.
 * A problem is decided once, by the thread that meets it first; a thread that needs it before that
 * is done runs as the program asked, and then the problem is left alone for the rest of the run.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "shim/rewrites/cudnn_search/decisions.h"

#define TFS_KNOWN_MOST 512u

struct tfs_known {
	struct tfs_problem problem;
	uint32_t machine;
	_Atomic int state;
	const struct tfs_decision *decision; /* NULL: left alone; read once it is decided */
	struct tfs_decision own;             /* what `decision` is */
	bool in_list; /* the program was given the choice in a list, and chooses itself */
	_Atomic uint64_t executed;
};

/* The problem as it is known, NULL when it was not met. Any thread; takes no lock. */
struct tfs_known *tfs_known_find(uint32_t machine, const struct tfs_problem *problem);

/* Adds a problem: decided, if `decided`, by a copy of `decision` (NULL: as asked), else to be
 * decided by the caller, who must call tfs_known_decide() then. NULL when there are too many, or
 * another thread was first: then tfs_known_find() finds it. */
struct tfs_known *tfs_known_add(uint32_t machine, const struct tfs_problem *problem, bool in_list,
	bool decided, const struct tfs_decision *decision);

/* Decides it, by what is copied; NULL: as asked. False when another thread has run it as asked by
 * then: it is left alone. */
bool tfs_known_decide(struct tfs_known *known, const struct tfs_decision *decision);

/* Has another thread run it as asked, while it is being decided? */
bool tfs_known_overtaken(const struct tfs_known *known);

/* Is the problem decided, and was it before anyone ran it? If not, this call runs as asked, and so
 * do all later ones. */
bool tfs_known_settled(struct tfs_known *known);

/* How many there are, and the one at a number below that. */
uint32_t tfs_known_count(void);
const struct tfs_known *tfs_known_at(uint32_t i);

#endif
