/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_TIMELINE_PAIRS_H
#define TFS_RULES_TIMELINE_PAIRS_H

/*
 * The program's CUDA calls as the hooks saw them against the same calls as CUPTI saw them, in the
 * windows where both looked. A runtime call and the driver calls inside it are one call, counted
 * under the name of the function that has the hook, else of the outermost one. What a wrapped call
 * of a library does with a runtime of its own is that library's; what no wrapped call made was
 * hidden from the hooks.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules/support/arena.h"
#include "rules/timeline/timeline.h"

struct tfs_pair {
	const char *name;
	uint64_t hooks;
	uint64_t cupti;
	uint64_t hidden; /* those that CUPTI alone saw, in threads that make wrapped calls */
	uint32_t about;  /* TFS_ABOUT_*; all bits: not known */
};

enum tfs_work_kind {
	TFS_WORK_LAUNCH,
	TFS_WORK_COPY,
	TFS_WORK_SET,
	TFS_WORK_OTHER,
	TFS_WORK_UNKNOWN, /* an older recording does not say */
	TFS_WORK_COUNT
};

struct tfs_pairs {
	const char *lost;       /* why records may be missing on one side; NULL = none are */
	const char *why;        /* they cannot be compared; NULL = they can */
	struct tfs_pair *pairs; /* functions that CUPTI watches and either saw, largest gap first */
	size_t count;
	uint64_t hooks, cupti; /* sums */
	/* CUDA calls by enum tfs_library of the wrapped call they were made in; 0 = in none. */
	uint64_t within[16][TFS_WORK_COUNT];
	uint64_t allocations[16], allocated[16]; /* of device memory, and bytes; likewise */
	uint32_t strange_threads; /* that made calls of the last kind and no wrapped ones */
	uint64_t launches;        /* wrapped launches that worked, ... */
	uint64_t launched;        /* and those of them that have a kernel record */
	uint64_t queued; /* not counted there: another tool's recording ended before they ran */
};

/* Compares them; NULL without memory. The result is the arena's. */
const struct tfs_pairs *tfs_pairs_find(
	const struct tfs_timeline *timeline, struct tfs_arena *arena);

/* Do the two numbers differ by more than 2 %? */
bool tfs_pair_differs(const struct tfs_pair *pair);

/* A function of these kinds, of which too many calls were hidden from the hooks to say anything of
 * it; NULL = none. */
const struct tfs_pair *tfs_pairs_hidden(const struct tfs_pairs *pairs, uint32_t about);

/* "3 launches, 2 copies"; "" for none. The text is the arena's. */
const char *tfs_pairs_work(struct tfs_arena *arena, const uint64_t counts[TFS_WORK_COUNT]);

#endif
