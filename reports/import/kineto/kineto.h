/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_IMPORT_KINETO_H
#define TFS_REPORTS_IMPORT_KINETO_H

/*
 * The traces of PyTorch's profiler (Kineto): JSON for chrome://tracing, packed or not. In 2021 its
 * categories were called Runtime, Kernel and Operator, and its times were whole microseconds.
 */

#include <stddef.h>

struct tfs_choice;
struct tfs_collected;

/* Reads one process of one; -ENOTSUP where it is none, else a negative errno, with a reason in
 * `why`. */
int tfs_kineto_read(const struct tfs_choice *choice, struct tfs_collected *collected, char *out_why,
	size_t why_bytes);

#endif
