/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOKS_TAKE_H
#define TFS_SHIM_HOOKS_TAKE_H

/*
 * How hooks let rewrites take part in a call:
 *
 *	struct tfs_op op = {.kind = TFS_OP_..., ...};
 *
 *	if (!tfs_take(&frame, &op))
 *		do
 *			op.status = TFS_REAL(name)(... as op says ...);
 *		while (tfs_again(&op));
 *
 * All are for the call's own thread; a call that is not recorded (frame without thread) is never
 * rewritten.
 */

#include "shim/record/hook.h"
#include "shim/record/op.h"
#include "shim/rewrites/rewrite.h"

/* Is a hook of this file one of the driver's? */
#define TFS_BY_DRIVER (TFS_THIS_LIBRARY == TFS_LIBRARY_cuda)

/* One load while no rewrite wants this kind. */
static inline __attribute__((always_inline)) bool tfs_is_wanted(
	const struct tfs_frame *frame, enum tfs_op_kind kind)
{
	return TFS_UNLIKELY((__atomic_load_n(&tfs_rewrites_wanting, __ATOMIC_RELAXED) >> kind &
				    1) != 0) &&
	       frame->thread;
}

/* Lets a rewrite carry out the call; false: it is the real function's. */
static inline __attribute__((always_inline)) bool tfs_take(
	const struct tfs_frame *frame, struct tfs_op *op)
{
	if (!tfs_is_wanted(frame, op->kind))
		return false;
	op->site = frame->entry->site;
	op->function = frame->entry->function;
	return tfs_rewrite_before(op);
}

/* After the real function: is it to be called once more, as `op` says now? */
static inline __attribute__((always_inline)) bool tfs_again(struct tfs_op *op)
{
	return TFS_UNLIKELY(op->minded != 0) && tfs_rewrite_after(op);
}

/* Says that this has happened. */
static inline __attribute__((always_inline)) void tfs_tell(
	const struct tfs_frame *frame, enum tfs_op_kind kind)
{
	if (tfs_is_wanted(frame, kind))
		tfs_rewrite_tell(&(struct tfs_op){.kind = kind, .site = frame->entry->site});
}

#endif
