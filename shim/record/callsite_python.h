/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_RECORD_CALLSITE_PYTHON_H
#define TFS_SHIM_RECORD_CALLSITE_PYTHON_H

/*
 * Python frames as frames of call sites. They are recorded by their names: code objects come and go
 * while the program runs.
 */

#include <stdint.h>

#include "shim/python/stack.h"

/* The number of C frames from the innermost up to those of a Python interpreter; `count` where
 * there is none, or its version is not known, which is said once. Takes the loader's list lock. */
uint32_t tfs_callsite_until_python(const uint64_t *frames, uint32_t count);

/* The calling thread's Python stack; empty without an interpreter. */
void tfs_callsite_python_stack(struct tfs_python_copies *copies, struct tfs_python_stack *out);

/* Writes a frame of format_program.h for each of the stack's, as far as there is room; returns how
 * many. A frame that was written before takes some 10 ns, another one a few microseconds. */
uint32_t tfs_callsite_python_frames(struct tfs_python_copies *copies,
	const struct tfs_python_stack *stack, uint64_t *out_frames, uint32_t room);

#endif
