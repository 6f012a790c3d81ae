/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_REWRITES_PINNED_STAGING_PIECES_H
#define TFS_RULES_REWRITES_PINNED_STAGING_PIECES_H

/*
 * Copies of host memory that several threads share. The owner of a set opens ranges, which are cut
 * into pieces; the copy threads and the owner itself take them in order. The threads call nothing
 * of CUDA's. They are started with the first copy that is worth it, have all signals blocked, and
 * nobody waits for them but an owner whose piece one of them has.
 *
 * A page of the program's that cannot be touched is touched first by the owner, so that the fault
 * is in the thread and in the call where it would be without us.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TFS_PIECE_BYTES ((size_t)256 << 10)
#define TFS_PIECES 64u /* of one set at a time: a ring of 2 MiB chunks */

struct tfs_staging_piece {
	char *target;
	const char *source;
	size_t bytes;
	_Atomic uint64_t done; /* its own number + 1 once copied */
};

struct tfs_staging_pieces {
	struct tfs_staging_piece pieces[TFS_PIECES];
	_Atomic uint64_t opened;  /* numbers only grow */
	_Atomic uint64_t claimed; /* by whoever copies */
	_Atomic uint32_t
		finished; /* futex: changes when a piece is done that the owner waits for */
	_Atomic bool waiting;
	_Atomic bool listed; /* the copy threads know it */
	uint32_t helpers;    /* threads that may join in this time */
};

/* How many copy threads may help now; starts them if need be. Before a set's first range. */
void tfs_staging_pieces_begin(struct tfs_staging_pieces *set, size_t bytes);

/* `program` is the program's end of it, which is touched first, for writing if `writes`. Returns
 * the number that tfs_staging_pieces_finish() takes. There must be room: at most TFS_PIECES that
 * are not finished. */
uint64_t tfs_staging_pieces_open(struct tfs_staging_pieces *set, void *target, const void *source,
	size_t bytes, bool writes);

/* Returns when all ranges up to `number` were copied; joins in. */
void tfs_staging_pieces_finish(struct tfs_staging_pieces *set, uint64_t number);

/* Copy threads that run. */
uint32_t tfs_staging_pieces_threads(void);

#endif
