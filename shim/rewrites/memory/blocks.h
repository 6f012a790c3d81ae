/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_MEMORY_BLOCKS_H
#define TFS_SHIM_REWRITES_MEMORY_BLOCKS_H

/*
 * Blocks of device memory that the program has freed and a rewrite holds for its next call that
 * asks for as many bytes. Each is a whole allocation of CUDA's, never a part of one. To the
 * program they are free memory: the hooks count them as such, give them back before an
 * out-of-memory is reported, and let no query find them. Any thread, inside a hook; no CUDA call is
 * made while the table is locked.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/base/likely.h"

struct tfs_memory_functions;
struct tfs_op;

extern _Atomic uint32_t tfs_blocks_count TFS_OWN;

static inline bool tfs_blocks_any(void)
{
	return atomic_load_explicit(&tfs_blocks_count, memory_order_relaxed) != 0;
}

/* Fills the block with `value` and holds it from then on: aside, the device having been drained, or
 * in order behind all work of blocking streams. False: it could not be done, and the block is the
 * caller's as before. */
bool tfs_blocks_put(
	const struct tfs_memory_functions *use, const struct tfs_op *op, int value, bool in_order);

/* A block of exactly this size, device and context; NULL: none. Its filling is over, unless it was
 * in order and all streams keep that. */
void *tfs_blocks_take(const struct tfs_memory_functions *use, const struct tfs_op *op);

/* What is held of a device takes so many bytes. */
uint64_t tfs_blocks_bytes(uint32_t device);

#define TFS_ALL_DEVICES UINT32_MAX

/* Gives the device's blocks back to CUDA, also while a stream is captured; true if there was one.
 * And those that nobody has asked for in a while. */
bool tfs_blocks_flush(bool driver, uint32_t device);
void tfs_blocks_flush_old(bool driver, uint32_t device);

/* Around a call that may end a context, NULL: the device's primary one. Nobody is handed its blocks
 * meanwhile; CUDA takes them along, and what was made there is not used again. Had it not `ended`,
 * all is as before. */
struct tfs_blocks_end {
	uint32_t device;
	void *context;
	bool any; /* something is, or was, held */
};
struct tfs_blocks_end tfs_blocks_ending(uint32_t device, void *context);
void tfs_blocks_ended(const struct tfs_blocks_end *end, bool ended);

/* Before a call that is given these addresses, NULL: none. A block that one of them lies in is no
 * longer held: CUDA does not know such an address any more, and the call fails as it would. */
void tfs_blocks_part(const void *first, const void *other);

static inline void tfs_blocks_given(const void *first, const void *other)
{
	if (__builtin_expect(tfs_blocks_any(), 0))
		tfs_blocks_part(first, other);
}

/* In a forked child. */
void tfs_blocks_forget(void);

#endif
