/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_STATE_MEMORY_H
#define TFS_SHIM_STATE_MEMORY_H

/*
 * The ranges of memory that the program got from CUDA: device, pinned, managed. Any address that
 * is not listed is unknown, not pageable. Erase before the real free, put back when it failed, so
 * that another thread that is given the same address next is never erased. Any thread.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "shim/base/likely.h"
#include "shim/record/address.h"

struct tfs_range {
	uint64_t address;
	uint64_t bytes;
	uint32_t kind;   /* enum tfs_memory_kind */
	uint32_t device; /* of device memory */
	uint32_t flags;  /* TFS_RANGE_* */
	uint32_t site;   /* where it was allocated */
};

#define TFS_RANGE_REGISTERED 1u /* the program's own memory, pinned in place */
#define TFS_RANGE_MAPPED 2u     /* the device may write it directly */
#define TFS_RANGE_ORDERED 4u    /* from a stream-ordered pool */
#define TFS_RANGE_WHOLE 8u      /* by cudaMalloc or cuMemAlloc: of plainly this size */
#define TFS_RANGE_SHARED 16u    /* another process, device or network card was given access */

/* Counts a loss when the table is full. */
void tfs_memory_add(const struct tfs_range *range);

/* Takes out the range that starts at `address`; false when there is none. */
bool tfs_memory_remove(uint64_t address, struct tfs_range *out_range);

/* The range that holds `address`; false when none is listed. */
bool tfs_memory_find(uint64_t address, struct tfs_range *out_range);

/* Odd while a writer is at work; 0 = none was yet. */
extern _Atomic uint32_t tfs_memory_sequence TFS_OWN;
extern const struct tfs_address tfs_memory_nothing TFS_OWN;

/* All ranges lie from `out_lowest` up to `out_end`, which are equal where there is none. */
void tfs_memory_span(uint64_t *out_lowest, uint64_t *out_end);

/* The uncommon half of tfs_memory_ask(). */
const struct tfs_address *tfs_memory_learn(struct tfs_address *known, uint64_t address);

/* What tfs_memory_ask() does where the sequence number is `now`, which is not 0. */
static inline const struct tfs_address *tfs_memory_ask_at(
	struct tfs_address *table, uint64_t address, uint32_t now)
{
	struct tfs_address *known = &table[address * UINT64_C(0x9E3779B97F4A7C15) >> 56];

	return known->address == address && known->sequence == now
		       ? known
		       : tfs_memory_learn(known, address);
}

/* The same as tfs_memory_find(), quicker for an address that the thread asked about before and
 * since when nothing was added or removed. `table` is the thread's own, zeroed at first; so is the
 * result, until the next call. */
static inline const struct tfs_address *tfs_memory_ask(struct tfs_address *table, uint64_t address)
{
	const uint32_t now = atomic_load_explicit(&tfs_memory_sequence, memory_order_acquire);

	return now == 0 ? &tfs_memory_nothing : tfs_memory_ask_at(table, address, now);
}

/* Adds flags to the range that holds `address`, if one does. */
void tfs_memory_mark(uint64_t address, uint32_t flags);

/* Devices were given access to each other's memory: that, and whether it ever happened. */
void tfs_memory_peers_enabled(void);
bool tfs_memory_peers(void);

/* Something outside was given a way to be told by the device: that, and whether it ever was. */
void tfs_memory_signals_made(void);
bool tfs_memory_signals(void);

/* Is there memory, or might there be, that both the host and the device see? That is on another
 * device? */
bool tfs_memory_any_visible(void);
bool tfs_memory_any_elsewhere(uint32_t device);

/* Forgets what was allocated under a device that was reset. */
void tfs_memory_reset(uint32_t device);

/* In a forked child: empty, and free of what other threads held when it was made. */
void tfs_memory_forget(void);

#endif
