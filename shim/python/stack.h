/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_PYTHON_STACK_H
#define TFS_SHIM_PYTHON_STACK_H

/*
 * The calling thread's Python call stack, read from the interpreter's own state.
 */

#include <stdbool.h>
#include <stdint.h>

#include "shim/python/interpreter.h"
#include "shim/python/memory.h"

#define TFS_PYTHON_FRAMES 32u /* the innermost ones; those further out are left out */

struct tfs_python_frame {
	uint64_t code;        /* address of its code object */
	uint64_t instruction; /* as the frame has it: an address, or a number */
	uint64_t stamp;       /* tells the code object from another that had its place */
};

struct tfs_python_stack {
	uint64_t hash; /* the same for the same frames; 0 where there are none */
	uint32_t count;
	struct tfs_python_frame frames[TFS_PYTHON_FRAMES]; /* innermost first */
};

/* No frames: the thread runs no Python code, or the interpreter is about to end, or its state is
 * not what it should be. Calls nothing that locks; no memory but `out` and the thread's `copies`.
 * One or two system calls in threads but the process's first, unless the stack is a new one. */
void tfs_python_stack(
	struct tfs_python *python, struct tfs_python_copies *copies, struct tfs_python_stack *out);

#endif
