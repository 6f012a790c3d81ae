/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_PYTHON_INTERPRETER_H
#define TFS_SHIM_PYTHON_INTERPRETER_H

/*
 * The CPython interpreter in the process: the program itself, or a libpython that it loaded. None
 * of its functions is called: its lock is not held while a CUDA call is under way.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "shim/python/layout.h"

struct tfs_python {
	struct tfs_python_layout layout; /* .version is 0 where it is not known */
	const char *runtime;             /* _PyRuntime, */
	uint64_t runtime_bytes;
	uint64_t code_type; /* address of PyCode_Type */
	uint64_t start;     /* of the object that it is part of */
	uint64_t end;
	_Atomic uint32_t key; /* offset in _PyRuntime of the key of threads' states; 0 = not yet
			       * known, see stack.c */
};

/* The interpreter as of the latest tfs_python_find(); NULL when there is none. Any thread; what it
 * points to lives for ever. */
struct tfs_python *tfs_python_found(void);

/* Looks for it, if objects were loaded or unloaded since the last time. Takes the loader's list
 * lock. Any thread. */
struct tfs_python *tfs_python_find(void);

#endif
