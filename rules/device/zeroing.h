/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_DEVICE_ZEROING_H
#define TFS_RULES_DEVICE_ZEROING_H

/*
 * What becomes of memory that was filled with zeros: whether anything needed the zeros.
 */

#include <stdbool.h>
#include <stdint.h>

#include "rules/evidence/steady.h"

enum tfs_zeros {
	TFS_ZEROS_UNKNOWN,     /* the recording ends before it can be told */
	TFS_ZEROS_OVERWRITTEN, /* every byte written before anything read it */
	TFS_ZEROS_ADDED_TO,    /* or added to once, by a call that could have written */
	TFS_ZEROS_NEEDED,      /* read, added to more than once, or written in part */
	TFS_ZEROS_OPAQUE       /* something may have used them that does not say what it uses */
};

/* The memory a call fills with zeros, and how: a memset, a vector's product with 0, or a kernel
 * that looks like a fill, which proves nothing (a decay of zero looks the same). */
struct tfs_zero_fill {
	struct tfs_operand target;
	bool by_kernel;
};

bool tfs_zero_fill_describe(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	struct tfs_zero_fill *out_fill);

/* Whether work may use memory that no operand of it shows: a kernel of the program, whose arguments
 * may hold or lead to other addresses, a graph, a host function, a list of matrices. */
bool tfs_zeros_opaque(const struct tfs_timeline *timeline, const struct tfs_host_call *call);

/* Whether there is any of it in the judged steps. */
bool tfs_zeros_any_opaque(const struct tfs_steady *steady);

/* Whether a call writes every byte of this and reads none: what was there before has no use. */
bool tfs_zeros_replaced(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	const struct tfs_operand *target);

/* Follows the zeros that a call wrote; `out_user` is the call that decided (or TFS_NONE). */
enum tfs_zeros tfs_zeros_follow(const struct tfs_steady *steady, uint32_t call,
	const struct tfs_zero_fill *fill, uint32_t *out_user);

#endif
