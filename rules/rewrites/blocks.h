/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_REWRITES_BLOCKS_H
#define TFS_RULES_REWRITES_BLOCKS_H

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

struct tfs_memory_functions;

/* Device memory that the program asks for, or gives back. */
struct tfs_memory_call {
	void *address; /* given back; or, set by the rewrite, what is handed out */
	uint64_t bytes;
	uint32_t kind;   /* given back: enum tfs_memory_kind, 0 = not known */
	uint32_t flags;  /* and TFS_RANGE_* */
	uint32_t owner;  /* and the device it is on */
	uint32_t device; /* the current one */
	bool driver;     /* by a function of the driver */
	bool noted;      /* pool.h has counted it */
	uint32_t site;
};

extern _Atomic uint32_t tfs_blocks_count;

static inline bool tfs_blocks_any(void)
{
	return atomic_load_explicit(&tfs_blocks_count, memory_order_relaxed) != 0;
}

/* Fills the block with `value` and holds it from then on: aside, the device having been drained, or
 * in order behind all work of blocking streams. False: it could not be done, and the block is the
 * caller's as before. */
bool tfs_blocks_put(const struct tfs_memory_functions *use, const struct tfs_memory_call *call,
	int value, bool in_order);

/* A block of exactly this size, device and context; NULL: none. Its filling is over, unless it was
 * in order and all streams keep that. */
void *tfs_blocks_take(const struct tfs_memory_functions *use, const struct tfs_memory_call *call);

/* Bytes held of a device. */
uint64_t tfs_blocks_bytes(uint32_t device);

/* Gives the device's blocks back to CUDA, also while a stream is captured; true if there was
 * one. */
bool tfs_blocks_flush(bool driver, uint32_t device);

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

/* After an allocation that returned `status`: true when blocks were given back and it is worth
 * another try. */
bool tfs_blocks_make_room(bool driver, uint32_t status, uint32_t device);

/* Before an allocation: an error that waits for the program must not be lost in a second try. */
void tfs_blocks_before(bool driver, uint32_t device);

/* An address that CUDA does not know either if this one lies in a block, else the same. */
void *tfs_blocks_outside(const void *address);

/* In a forked child. */
void tfs_blocks_forget(void);

#endif
