/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_DEVICE_CORES_H
#define TFS_RULES_DEVICE_CORES_H

/*
 * Which cores a library's kernel computes with. Calls do not tell, since libraries choose: it is in
 * the kernel's name alone, as cuBLAS 11 to 13 and cuDNN 8 and 9 name theirs.
 */

#include <stdbool.h>

#include "rules/evidence/steady.h"

enum tfs_cores {
	TFS_CORES_PLAIN,  /* floats, one by one */
	TFS_CORES_TENSOR, /* any type, on tensor cores */
	TFS_CORES_OTHER,  /* neither would be faster, or it is no matter of floats */
	TFS_CORES_UNKNOWN,
	TFS_CORES_COUNT
};

/* Of a kernel by its name, mangled or not. Any thread. */
enum tfs_cores tfs_cores_of(const char *name);
/* How much longer an operation takes than the shortest kernel, in nanoseconds: no core is faster at
 * that. 0 where it takes less than twice as long, and for what is no kernel. Any thread. */
double tfs_cores_ns(const struct tfs_steady *steady, const struct tfs_device_op *op);
/* Whether an operation of a call may be a library's product: own kernels may have any name, and no
 * switch of a library changes them. Where another tool made the recording, libraries' calls are not
 * in it, and names have to do. Any thread. */
bool tfs_cores_library(const struct tfs_steady *steady, const struct tfs_host_call *call);
/* Whether a kernel of plain or of tensor cores is part of a convolution, not of a product. */
bool tfs_cores_convolve(const char *name);

/* Whether a kernel of cuDNN's only turns a tensor from one layout into another. */
bool tfs_cores_turn(const char *name);

#endif
