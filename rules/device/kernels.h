/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_DEVICE_KERNELS_H
#define TFS_RULES_DEVICE_KERNELS_H

/*
 * What the program's own kernels look like from outside: their launch shape and arguments. Names
 * are never asked. A guess here is worth what its shape test is worth; callers say so.
 */

#include <stdbool.h>
#include <stdint.h>

#include "rules/timeline/timeline.h"

#define TFS_KERNEL_POINTERS 8u

/* A launch with one thread for each of `count` elements. */
struct tfs_kernel_shape {
	uint64_t count;
	uint64_t bytes;                               /* of one full-size operand */
	struct tfs_operand full[TFS_KERNEL_POINTERS]; /* pointers to at least `bytes` bytes */
	uint32_t full_count;
	uint32_t small_count; /* pointers to less: a bias, a scalar on the device */
	bool zero;            /* a scalar argument is zero */
	uint32_t others;      /* scalar arguments that are neither the count nor zero */
};

/* Whether a launch looks elementwise: the number of threads matches an element count among its
 * arguments, and its pointers have room for that many. */
bool tfs_kernel_elementwise(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	struct tfs_kernel_shape *out_shape);

/* Whether it is not seen what a launch works on: no argument points to known memory. Its arguments
 * may not be known either, as with older drivers. */
bool tfs_kernel_unseen(const struct tfs_timeline *timeline, const struct tfs_host_call *call);

/* Whether a launch looks like a fill with zero: one pointer, a count, a zero, nothing else. */
bool tfs_kernel_fills_zero(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	struct tfs_operand *out_target);

#endif
