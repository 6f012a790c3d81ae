/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_CHUNKS_H
#define TFS_SHIM_CHUNKS_H

/*
 * A small stock of the recording's chunks, between the hooks that fill them and the helper thread.
 * Mapping, touching and unmapping a chunk takes longer than a call may, and unmapping interrupts
 * every processor that runs the program: rather the helper than a hook. What the stock has no
 * place for is done at once.
 */

#include "shim/trace/writer.h"

/* A chunk of the recording that nobody has taken, the caller's from now on; NULL when there is no
 * room for one. Any thread; errno stays. */
struct tfs_chunk *tfs_chunks_get(void);

/* Gives up a chunk that is full; it is unmapped later. Any thread. */
void tfs_chunks_retire(struct tfs_chunk *full);

/* Unmaps what was retired and prepares chunks until the stock is full. The helper thread. */
void tfs_chunks_refill(void);

#endif
