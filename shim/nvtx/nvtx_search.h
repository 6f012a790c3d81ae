/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_NVTX_NVTX_SEARCH_H
#define TFS_SHIM_NVTX_NVTX_SEARCH_H

/*
 * Finds the ranges that are training steps, in one thread's sequence of ranges and calls: those
 * inside which one call site updates memory in place that another call site reads inside the next
 * range of the same name, and inside which most calls are made. The outermost such name wins; a
 * range around each micro-batch carries weights only now and then, and one around a layer's forward
 * pass carries none. `thread` tells
 * threads apart: what another one did is forgotten. A short spin keeps them apart; no I/O.
 */

#include <stdbool.h>
#include <stdint.h>

#include "shim/steps/loops/loops.h"

#define TFS_NVTX_CONFIRM 6u /* ranges in a row; fewer than a loop needs, since a name says more */

struct tfs_nvtx_search;

/* Bytes of memory that tfs_nvtx_search_init() needs. */
uint64_t tfs_nvtx_search_bytes(void);

/* Makes a search in zeroed memory that the caller owns. */
struct tfs_nvtx_search *tfs_nvtx_search_init(void *memory);

/* A range of this name (not 0) was opened, or the innermost one of it was closed. */
void tfs_nvtx_search_enter(struct tfs_nvtx_search *search, const void *thread, uint32_t name);
void tfs_nvtx_search_leave(struct tfs_nvtx_search *search, const void *thread, uint32_t name);

/* One call. Returns the name of the ranges that are steps once they are known, else 0. */
uint32_t tfs_nvtx_search_feed(struct tfs_nvtx_search *search, const void *thread, uint32_t site,
	const struct tfs_loops_operand *operands, uint32_t count);

#endif
