/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_PYTHON_MEMORY_H
#define TFS_SHIM_PYTHON_MEMORY_H

/*
 * Reads the interpreter's memory. The interpreter may end in one thread and release what another
 * thread still reads, so that threads but the process's first one have it copied by the kernel,
 * which fails where there is nothing. The first thread's state is its own to the end.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "shim/base/likely.h"

#define TFS_PYTHON_LOWEST 4096u /* no object lies below */
#define TFS_PYTHON_BLOCK 1024u
#define TFS_PYTHON_BLOCKS 12u

/* What was copied so far: what is asked for next is near. Lives in one call's stack frame. */
struct tfs_python_copies {
	uint32_t used;
	uint64_t starts[TFS_PYTHON_BLOCKS]; /* addresses; UINT64_MAX = none */
	char blocks[TFS_PYTHON_BLOCKS][TFS_PYTHON_BLOCK];
};

void tfs_python_copies_init(struct tfs_python_copies *copies);

/* A system call for each block that was not copied before; false where not all of it is there. */
bool tfs_python_copy(struct tfs_python_copies *copies, uint64_t address, void *out, size_t bytes);

/* Is the calling thread the process's first? Found out once, by a system call. */
bool tfs_python_first_thread(void);

/* Without `copies` the memory is read as it is. */
static inline bool tfs_python_read(
	struct tfs_python_copies *copies, uint64_t address, void *out, size_t bytes)
{
	if (TFS_UNLIKELY(address < TFS_PYTHON_LOWEST))
		return false;
	if (copies)
		return tfs_python_copy(copies, address, out, bytes);
	memcpy(out, (const void *)address, bytes);
	return true;
}

static inline bool tfs_python_read_address(
	struct tfs_python_copies *copies, uint64_t address, uint64_t *out)
{
	return tfs_python_read(copies, address, out, sizeof(*out));
}

#endif
