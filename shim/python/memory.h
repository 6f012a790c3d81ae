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

/* A system call; false where not all of it is there. */
bool tfs_python_copy(uint64_t address, void *out, size_t bytes);

/* Is the calling thread the process's first? Found out once, by a system call. */
bool tfs_python_first_thread(void);

static inline bool tfs_python_read(bool guarded, uint64_t address, void *out, size_t bytes)
{
	if (TFS_UNLIKELY(address < TFS_PYTHON_LOWEST))
		return false;
	if (guarded)
		return tfs_python_copy(address, out, bytes);
	memcpy(out, (const void *)address, bytes);
	return true;
}

static inline bool tfs_python_read_address(bool guarded, uint64_t address, uint64_t *out)
{
	return tfs_python_read(guarded, address, out, sizeof(*out));
}

#endif
