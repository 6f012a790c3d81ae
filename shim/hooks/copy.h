/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOKS_COPY_H
#define TFS_SHIM_HOOKS_COPY_H

/* How the hooks of the runtime's and of the driver's copies let rewrites take part. All are for the
 * call's own thread; a call that is not recorded (frame without thread) is never rewritten. */

#include "rules/rewrites/rewrite.h"
#include "shim/hook.h"

/* Lets a rewrite carry out a plain copy; false = it is the real function's. */
static inline __attribute__((always_inline)) bool tfs_take_copy(
	const struct tfs_frame *frame, struct tfs_copy_call *call, uint32_t *out_status)
{
	if (TFS_LIKELY(__atomic_load_n(&tfs_rewrites_taking, __ATOMIC_RELAXED) == 0) ||
		frame->thread == NULL)
		return false;
	call->site = frame->entry->site;
	return tfs_rewrite_copy(call, out_status);
}

/* After a copy that no rewrite took: lets those in shadow mode do it aside, and compare. */
static inline __attribute__((always_inline)) void tfs_shadow_copy(
	const struct tfs_frame *frame, const struct tfs_copy_call *call, uint32_t status)
{
	if (TFS_UNLIKELY((__atomic_load_n(&tfs_rewrites_taking, __ATOMIC_RELAXED) &
				 TFS_SHADOWS_COPIES) != 0) &&
		frame->thread != NULL && status == 0)
		tfs_rewrite_copied(call);
}

#endif
