/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_PINNED_STAGING_PINNED_STAGING_PIECES_H
#define TFS_SHIM_REWRITES_PINNED_STAGING_PINNED_STAGING_PIECES_H

/*
 * Copies between a chunk and the program's memory that several threads share. The owner of a set
 * opens ranges, which are cut into pieces; the copy threads and the owner itself take them in
 * order. The threads call nothing of CUDA's. They are started with the first copy that is worth it,
 * have all signals blocked, and nobody waits for them but an owner whose piece one of them has.
 *
 * Another thread of the program may bar, unmap or cut off its pages at any time, and its handler
 * may leave the call by a long jump. So nobody here touches its memory but by system calls that
 * answer EFAULT; what failed is left to the program's own call, when nobody copies any more.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TFS_PIECE_BYTES ((size_t)256 << 10)
#define TFS_PIECES 64u /* of one set at a time: a ring of 2 MiB chunks */

struct tfs_staging_piece {
	char *chunk;
	char *program;
	size_t bytes;
	bool writes;           /* to the program's memory */
	_Atomic uint64_t done; /* its own number + 1 once copied */
};

struct tfs_staging_pieces {
	struct tfs_staging_piece pieces[TFS_PIECES];
	_Atomic uint64_t opened;  /* numbers only grow */
	_Atomic uint64_t claimed; /* by whoever copies */
	_Atomic uint32_t
		finished; /* futex: changes when a piece is done that the owner waits for */
	_Atomic bool waiting;
	_Atomic bool failed; /* some piece since the beginning; those behind it are not copied */
	_Atomic bool listed; /* the copy threads know it */
	uint32_t helpers;    /* threads that may join in this time */
};

/* Can the program's memory be copied without touching it? Asked once. */
bool tfs_staging_pieces_can(void);

/* How many copy threads may help now; starts them if need be. Before a set's first range. */
void tfs_staging_pieces_begin(struct tfs_staging_pieces *set, size_t bytes);

/* From the program's memory to the chunk; the other way if `writes`. Returns the number that
 * tfs_staging_pieces_finish() takes. There must be room: at most TFS_PIECES that are not finished.
 */
uint64_t tfs_staging_pieces_open(
	struct tfs_staging_pieces *set, void *chunk, void *program, size_t bytes, bool writes);

/* Returns when nobody copies any of the ranges up to `number` any more; joins in. False when the
 * program's memory could not be copied, in these ranges or in later ones. */
bool tfs_staging_pieces_finish(struct tfs_staging_pieces *set, uint64_t number);

/* For tests: copy threads that run. */
uint32_t tfs_staging_pieces_threads(void);

#endif
