/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOKS_COPY_H
#define TFS_SHIM_HOOKS_COPY_H

/* How the hooks of the runtime's and of the driver's copies let rewrites take part. All are for the
 * call's own thread; a call that is not recorded (frame without thread) is never rewritten. */

#include "rules/rewrites/rewrite.h"
#include "shim/hook.h"
#include "shim/windows.h"

/* Lets a rewrite carry out a plain copy; false = it is the real function's. What the call is made
 * of is in memory only where one may. */
static inline __attribute__((always_inline)) bool tfs_take_copy(
	const struct tfs_frame *frame, struct tfs_copy_call call, uint32_t *out_status)
{
	const uint32_t taking = __atomic_load_n(&tfs_rewrites_taking, __ATOMIC_RELAXED);
	uint32_t status = 0;

	if (TFS_LIKELY((taking & (TFS_TAKES_COPIES | TFS_ALWAYS_TAKES_COPIES)) == 0) ||
		((taking & TFS_ALWAYS_TAKES_COPIES) == 0 && !tfs_windows_rewrites()) ||
		frame->thread == NULL)
		return false;
	struct tfs_copy_call asked = call;
	asked.site = frame->entry->site;
	const bool taken = tfs_rewrite_copy(&asked, &status);
	if (taken)
		*out_status = status;
	return taken;
}

/* After a copy that no rewrite took: lets those in shadow mode do it aside, and compare. */
static inline __attribute__((always_inline)) void tfs_shadow_copy(
	const struct tfs_frame *frame, struct tfs_copy_call call, uint32_t status)
{
	if (TFS_LIKELY((__atomic_load_n(&tfs_rewrites_taking, __ATOMIC_RELAXED) &
			       TFS_SHADOWS_COPIES) == 0) ||
		frame->thread == NULL || status != 0)
		return;
	struct tfs_copy_call made = call;
	made.site = frame->entry->site;
	tfs_rewrite_copied(&made);
}

#endif
