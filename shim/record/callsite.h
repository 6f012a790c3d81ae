/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_RECORD_CALLSITE_H
#define TFS_SHIM_RECORD_CALLSITE_H

/*
 * Names the place a call came from: the whole stack, interned. A per-thread cache is searched by
 * (return address, stack pointer) and a hit is verified against the return addresses further up
 * the stack, so that two callers of one helper stay two call sites. A miss unwinds.
 */

#include <stdbool.h>
#include <stdint.h>

#include "shim/base/likely.h"

#define TFS_CACHE_ENTRIES 2048u
#define TFS_CACHE_WAYS 4u
#define TFS_CHECKED_FRAMES 8u

struct tfs_aggregate;
struct tfs_function;
struct tfs_thread;

/* Why a cached call site needs the slow path. */
#define TFS_SITE_OPENS_STEP 1u
#define TFS_SITE_OUTSIDE 2u /* not part of the step's loop */
#define TFS_SITE_UNKNOWN 8u /* perhaps part of it: see tfs_loops_unknown() */
#define TFS_SITE_SHORT 4u   /* made before the unwinder was there */
#define TFS_SITE_PYTHON 16u /* called by Python code: see tfs_callsite_python() */
#define TFS_SITE_STEP (TFS_SITE_OPENS_STEP | TFS_SITE_OUTSIDE | TFS_SITE_UNKNOWN)

struct tfs_cache_entry {
	uint64_t address; /* return address into the program; 0 = empty */
	uint64_t frame;   /* the caller's stack pointer at the call */
	struct tfs_aggregate *aggregate;
	struct tfs_function *function;
	uint64_t head; /* of its records, as a word, but for their length */
	uint32_t site;
	uint16_t flags; /* TFS_SITE_* */
	uint16_t checks;
	uint32_t offsets[TFS_CHECKED_FRAMES]; /* of return addresses, from `frame` */
	uint64_t values[TFS_CHECKED_FRAMES];
};

struct tfs_cache {
	struct tfs_cache_entry entries[TFS_CACHE_ENTRIES];
	uint32_t turn; /* who makes room next */
};

static inline struct tfs_cache_entry *tfs_callsite_slot(
	struct tfs_cache *cache, uint64_t address, uint64_t frame)
{
	const uint64_t mixed =
		(address ^ (frame * UINT64_C(0x9E3779B97F4A7C15))) * UINT64_C(0xBF58476D1CE4E5B9);

	struct tfs_cache_entry *entry = &cache->entries[mixed >> 53];

	/* Here and once, not at each use. */
	__asm__ volatile("" : "+r"(entry));
	return entry;
}

static inline __attribute__((always_inline)) bool tfs_callsite_returns(
	const struct tfs_cache_entry *entry, uint64_t frame, uint32_t i)
{
	return *(const uint64_t *)(frame + entry->offsets[i]) == entry->values[i];
}

/* Is this the entry of exactly this stack, as far as it was noted? The first few steps are written
 * out: most stacks end there, and a loop takes twice as long. */
static inline bool tfs_callsite_is(const struct tfs_cache_entry *entry, uint64_t address,
	uint64_t frame, const struct tfs_function *function)
{
	const uint32_t checks = entry->checks;

	if (TFS_UNLIKELY(entry->address != address) || TFS_UNLIKELY(entry->frame != frame) ||
		TFS_UNLIKELY(entry->function != function))
		return false;
	if (checks == 0)
		return true;
	if (TFS_UNLIKELY(!tfs_callsite_returns(entry, frame, 0)))
		return false;
	if (checks == 1)
		return true;
	if (TFS_UNLIKELY(!tfs_callsite_returns(entry, frame, 1)))
		return false;
	if (checks == 2)
		return true;
	if (TFS_UNLIKELY(!tfs_callsite_returns(entry, frame, 2)))
		return false;
	for (uint32_t i = 3; i < checks; i++)
		if (TFS_UNLIKELY(!tfs_callsite_returns(entry, frame, i)))
			return false;
	return true;
}

/* Where an entry may be that is not at its first place. Sets out_room to the place for a new one,
 * other than `taken` (may be NULL); returns NULL if there is none of this stack. Some 20 ns. */
struct tfs_cache_entry *tfs_callsite_cached(struct tfs_cache *cache, uint64_t address,
	uint64_t frame, const struct tfs_function *function, const struct tfs_cache_entry *taken,
	struct tfs_cache_entry **out_room);

/* The entry of a call that is not at its first place: from elsewhere, or resolved; NULL when
 * nothing may be recorded. */
struct tfs_cache_entry *tfs_callsite_search(
	struct tfs_thread *thread, uint64_t address, uint64_t frame, struct tfs_function *function);

/* Unwinds the calling thread and fills `entry`; false when nothing may be recorded, since this is a
 * child of the process that recorded. Cold; a few microseconds. */
bool tfs_callsite_resolve(struct tfs_thread *thread, struct tfs_cache_entry *entry,
	uint64_t address, uint64_t frame, struct tfs_function *function);

/* Where Python code made the call, the C stack does not tell which line: `entry`, which has the
 * flag TFS_SITE_PYTHON, stands for that C stack, and the one returned for the Python stack of now.
 * Some 10 ns a Python frame, and in threads but the process's first one a system call, or two. */
struct tfs_cache_entry *tfs_callsite_python(
	struct tfs_thread *thread, const struct tfs_cache_entry *entry);

/* The site that consists of one return address. 0 = no room. Any thread. */
uint32_t tfs_callsite_single(uint64_t address);

/* Loads the unwinder. Only from the helper thread: it may wait for the loader. */
void tfs_callsite_load(void);

/* Is a stack that was cut for want of an unwinder worth another try? */
bool tfs_callsite_can_unwind(void);

/* What the thread's latest call tells: whether the driver is ready. NULL tells nothing. */
void tfs_callsite_look_back(const struct tfs_thread *thread);

/* The frames of a site, innermost first, as far as they are kept for the step search; returns how
 * many (0 = unknown site). The array lives for ever. */
uint32_t tfs_callsite_frames(uint32_t site, const uint64_t **out_frames);

#endif
