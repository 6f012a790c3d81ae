/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_REWRITES_COPY_SKIP_PLACES_H
#define TFS_RULES_REWRITES_COPY_SKIP_PLACES_H

/*
 * What copy-skip knows of the copies of one size from one call site to one address: whether they
 * are made again and again, how long it is to leave them alone, and what copying and comparing
 * cost. There is room for a fixed number; one may have to go for another. Any thread.
 */

#include <stdbool.h>
#include <stdint.h>

struct tfs_skip_place {
	uint64_t target;
	uint64_t bytes;
	uint32_t site;
	bool seen;         /* before the call that asks */
	uint32_t tries;    /* since the latest difference */
	uint32_t pause;    /* calls that were left alone after that */
	uint32_t rest;     /* and are still to be */
	uint64_t copy_ns;  /* the least seen; 0: none yet */
	uint64_t check_ns; /* the same */
};

/* Fills in what is known of the place that `place` names by its first three members. One call less
 * of its rest is left. */
void tfs_skip_ask(struct tfs_skip_place *place);

/* It was tried out. */
void tfs_skip_tried(const struct tfs_skip_place *place);

/* Source and target differed, or could not be compared: for a while, longer each time, it is not
 * worth while. */
void tfs_skip_differed(const struct tfs_skip_place *place);

void tfs_skip_note_copy(const struct tfs_skip_place *place, uint64_t ns);
void tfs_skip_note_check(const struct tfs_skip_place *place, uint64_t ns);

#endif
