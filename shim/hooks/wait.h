/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOKS_WAIT_H
#define TFS_SHIM_HOOKS_WAIT_H

/* How the hooks of the runtime's and of the driver's waits let rewrites take part. All are for the
 * call's own thread; a call that is not recorded (frame without thread) is never rewritten. */

#include "shim/record/hook.h"
#include "shim/rewrites/rewrite.h"
#include "shim/rewrites/wait.h"

/* Lets a rewrite wait in the program's place; false = it is the real function's to do. */
static inline __attribute__((always_inline)) bool tfs_take_wait(
	const struct tfs_frame *frame, struct tfs_wait_call *call, uint32_t *out_status)
{
	if (TFS_LIKELY((__atomic_load_n(&tfs_rewrites_taking, __ATOMIC_RELAXED) &
			       TFS_TAKES_WAITS) == 0) ||
		frame->thread == NULL)
		return false;
	call->site = frame->entry->site;
	return tfs_rewrite_wait(call, out_status);
}

/* After a wait that no rewrite took. */
static inline __attribute__((always_inline)) void tfs_after_wait(
	const struct tfs_frame *frame, struct tfs_wait_call *call, uint32_t status)
{
	if (TFS_UNLIKELY((__atomic_load_n(&tfs_rewrites_taking, __ATOMIC_RELAXED) &
				 TFS_TAKES_WAITS) != 0) &&
		frame->thread != NULL)
		tfs_rewrite_waited(call, status);
}

/* Before a call that tells what is finished, or that ends a stream. */
static inline __attribute__((always_inline)) void tfs_before_wait(
	const struct tfs_frame *frame, enum tfs_wait_kind kind, bool driver)
{
	struct tfs_wait_call call = {.kind = kind, .driver = driver};
	uint32_t status;

	tfs_take_wait(frame, &call, &status);
}

#endif
