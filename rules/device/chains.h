/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_DEVICE_CHAINS_H
#define TFS_RULES_DEVICE_CHAINS_H

/*
 * Chains of elementwise operations: calls that follow each other on one stream, each of which reads
 * what the one before it wrote. One pass over memory could do their work; what that would save is
 * the traffic of the values in between, as far as nobody else reads them. A kernel of the program
 * is taken for elementwise only where it takes as long as its memory's traffic does, and writes the
 * values that it reads in the same place: threads that read their neighbours' cannot do so.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules/evidence/steady.h"

#define TFS_CHAIN_CALLS 16u

struct tfs_chain {
	uint32_t calls[TFS_CHAIN_CALLS]; /* indices of the timeline's calls, in order */
	uint32_t count;
	double traffic;   /* bytes that all of them read and write */
	double removable; /* of these, what a single pass would not */
	uint32_t before;  /* the call that wrote what the chain begins with, or TFS_NONE */
	bool kept;        /* something reads a value in between later */
	bool own;         /* one of them is a kernel of the program, told by its shape */
};

struct tfs_chains {
	struct tfs_chain *items;
	size_t count;
	size_t room;
	uint32_t unclear;  /* pairs that share memory, of which one is a kernel of the program: */
	double unclear_ns; /* whether it reads only the element that it writes is not seen */
};

/* Finds all chains in the judged steps; 0 or -ENOMEM. */
int tfs_chains_find(const struct tfs_steady *steady, struct tfs_chains *out_chains);
/* The chain that a call starts, or NULL. */
const struct tfs_chain *tfs_chains_at(const struct tfs_chains *chains, uint32_t call);
/* Time the device spent on its operations. */
double tfs_chain_ns(const struct tfs_steady *steady, const struct tfs_chain *chain);
/* The share of its traffic that one pass would not need. */
double tfs_chain_needless(const struct tfs_chain *chain);
void tfs_chains_finish(struct tfs_chains *chains);

#endif
