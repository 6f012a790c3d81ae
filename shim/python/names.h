/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_PYTHON_NAMES_H
#define TFS_SHIM_PYTHON_NAMES_H

/*
 * What a Python frame is called in reports. Its code object may be gone soon.
 */

#include <stdbool.h>

#include "shim/python/stack.h"

struct tfs_python_names {
	char function[256]; /* UTF-8; "" = not known; with the class from 3.11 on */
	char place[1024];   /* "FILE:LINE"; "" where the instruction has no line */
};

/* False when it cannot be read. The calling thread is in that frame; `copies` are its own, as
 * tfs_python_stack() left them. */
bool tfs_python_names(const struct tfs_python *python, struct tfs_python_copies *copies,
	const struct tfs_python_frame *frame, struct tfs_python_names *out);

#endif
