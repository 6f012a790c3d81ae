/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_PYTHON_MEMORY_H
#define TFS_SHIM_PYTHON_MEMORY_H

/*
 * Reads the interpreter's memory. The interpreter may end in one thread and release what another
 * thread still reads, so that threads but the process's first one have it copied by the kernel,
 * which fails where there is nothing. The first thread's state is its own to the end.
 *
 * A system call costs as much as some 20 blocks. So the blocks that the latest stacks needed are
 * copied together, and what is known to be needed is announced before it is read.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

#include "shim/base/likely.h"

/* No object lies outside; for one address beyond, the kernel refuses a whole list. x86-64 keeps the
 * last page of its half of 48 bits free. */
#define TFS_PYTHON_LOWEST 4096u
#ifdef __x86_64__
#define TFS_PYTHON_END ((UINT64_C(1) << 47) - 4096)
#else
#define TFS_PYTHON_END (UINT64_C(1) << 48)
#endif
#define TFS_PYTHON_BLOCK 256u
#define TFS_PYTHON_BLOCKS 128u
#define TFS_PYTHON_SLOTS 256u

/* One thread's, zeroed at first and in a forked child. What it holds is as of the latest
 * tfs_python_copies_begin(). */
struct tfs_python_copies {
	uint32_t count;
	uint32_t copied;                 /* those from here on are still to be copied */
	int process;                     /* this one's id, 0 = not yet asked for */
	uint8_t slots[TFS_PYTHON_SLOTS]; /* by address: number of a block + 1 */
	struct iovec from[TFS_PYTHON_BLOCKS];
	uint8_t unused_for[TFS_PYTHON_BLOCKS]; /* stacks */
	bool absent[TFS_PYTHON_BLOCKS];        /* no such memory */
	char blocks[TFS_PYTHON_BLOCKS][TFS_PYTHON_BLOCK];
};

/* Forgets what was copied; what was needed lately will be copied anew. */
void tfs_python_copies_begin(struct tfs_python_copies *copies);

/* A system call where not all of it was copied before. Returns where it lies, which may be in
 * `room`; NULL where not all of it is there. Good until the next call. */
const char *tfs_python_copy(
	struct tfs_python_copies *copies, uint64_t address, void *room, size_t bytes);

/* The next system call is to copy this too. */
void tfs_python_copy_ahead(struct tfs_python_copies *copies, uint64_t address, size_t bytes);

/* Is the calling thread the process's first? Found out once, by a system call. */
bool tfs_python_first_thread(void);

static inline bool tfs_python_in_reach(uint64_t address, size_t bytes)
{
	return address >= TFS_PYTHON_LOWEST && address < TFS_PYTHON_END &&
	       bytes <= TFS_PYTHON_END - address;
}

/* Without `copies` the memory is looked at as it is. */
static inline const char *tfs_python_look(
	struct tfs_python_copies *copies, uint64_t address, void *room, size_t bytes)
{
	if (TFS_UNLIKELY(!tfs_python_in_reach(address, bytes)))
		return NULL;
	return copies ? tfs_python_copy(copies, address, room, bytes) : (const char *)address;
}

static inline bool tfs_python_read(
	struct tfs_python_copies *copies, uint64_t address, void *out, size_t bytes)
{
	const char *found = tfs_python_look(copies, address, out, bytes);

	if (!found)
		return false;
	memmove(out, found, bytes); /* it may lie there already */
	return true;
}

static inline bool tfs_python_read_address(
	struct tfs_python_copies *copies, uint64_t address, uint64_t *out)
{
	return tfs_python_read(copies, address, out, sizeof(*out));
}

static inline void tfs_python_read_ahead(
	struct tfs_python_copies *copies, uint64_t address, size_t bytes)
{
	if (copies && tfs_python_in_reach(address, bytes))
		tfs_python_copy_ahead(copies, address, bytes);
}

#endif
