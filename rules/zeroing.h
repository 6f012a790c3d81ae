/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_ZEROING_H
#define TFS_RULES_ZEROING_H

/*
 * What becomes of memory that was filled with zeros: whether anything needed the zeros.
 */

#include <stdbool.h>
#include <stdint.h>

#include "rules/steady.h"

enum tfs_zeros {
	TFS_ZEROS_UNKNOWN,     /* the recording ends before it can be told */
	TFS_ZEROS_OVERWRITTEN, /* every byte written before anything read it */
	TFS_ZEROS_ADDED_TO,    /* or added to once, by a call that could have written */
	TFS_ZEROS_NEEDED,      /* read, added to more than once, or written in part */
	TFS_ZEROS_OPAQUE       /* one of the program's kernels may have used them */
};

/* The memory a call fills with zeros, and how (a memset, or a kernel that looks like a fill). */
struct tfs_zero_fill {
	struct tfs_operand target;
	bool by_kernel;
};

bool tfs_zero_fill_describe(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	struct tfs_zero_fill *out_fill);

/* Follows the zeros that a call wrote; `out_user` is the call that decided (or TFS_NONE). */
enum tfs_zeros tfs_zeros_follow(const struct tfs_steady *steady, uint32_t call,
	const struct tfs_zero_fill *fill, uint32_t *out_user);

#endif
