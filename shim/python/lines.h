/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_PYTHON_LINES_H
#define TFS_SHIM_PYTHON_LINES_H

/*
 * The line of an instruction, from its code object's table. Pure.
 */

#include <stddef.h>
#include <stdint.h>

#include "shim/python/layout.h"

/* `offset` is the instruction's, in bytes from the code's first. 0 = the instruction has no line,
 * or the table ends before it. */
int tfs_python_line(enum tfs_python_lines kind, const unsigned char *table, size_t bytes,
	int first_line, int64_t offset);

#endif
