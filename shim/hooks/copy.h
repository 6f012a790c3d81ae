/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOKS_COPY_H
#define TFS_SHIM_HOOKS_COPY_H

/* How the hooks of the runtime's and of the driver's copies let rewrites take part. All are for the
 * call's own thread; a call that is not recorded (frame without thread) is never rewritten. */

#include "shim/hooks/note_copy.h"
#include "shim/record/hook.h"
#include "shim/rewrites/rewrite.h"
#include "shim/state/streams.h"

/* Lets a rewrite carry out a plain copy; false = it is the real function's. What the call is made
 * of is in memory only where one may. */
static inline __attribute__((always_inline)) bool tfs_take_copy(
	struct tfs_frame *frame, struct tfs_copy_call call, uint32_t *out_status)
{
	const uint32_t taking = __atomic_load_n(&tfs_rewrites_taking, __ATOMIC_RELAXED);
	const bool offered = (frame->wanted & TFS_WANT_COPIES) != 0;
	uint32_t status = 0;

	frame->wanted &= ~TFS_WANT_COPIES;
	/* The run may have ended meanwhile. */
	if (!offered || (taking & (TFS_TAKES_COPIES | TFS_ALWAYS_TAKES_COPIES)) == 0)
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
	if ((frame->wanted & TFS_WANT_SHADOWS) == 0 || status != 0 ||
		(__atomic_load_n(&tfs_rewrites_taking, __ATOMIC_RELAXED) & TFS_SHADOWS_COPIES) == 0)
		return;
	struct tfs_copy_call made = call;
	made.site = frame->entry->site;
	tfs_rewrite_copied(&made);
}

/* Ends and leaves the call. Hooks of copies are laid out for one that is only recorded. */
static inline __attribute__((always_inline)) void tfs_end_copy(
	struct tfs_frame *frame, struct tfs_copy_call call, uint32_t status)
{
	if (TFS_UNLIKELY(!tfs_hook_count_here(frame, status, call.bytes)))
		return;
	if (TFS_LIKELY(frame->wanted == TFS_WANT_RECORD)) {
		tfs_note_plain_copy(frame, call.target, call.source, call.bytes, call.kind,
			tfs_stream_id(call.stream, call.per_thread));
	} else if (frame->wanted != 0) {
		/* Only the copy has to be in memory. */
		struct tfs_frame other = *frame;

		other.wanted &= ~TFS_WANT_SHADOWS;
		if (other.wanted != 0)
			tfs_note_copy(&other, call.target, call.source, call.bytes, call.kind,
				tfs_stream_id(call.stream, call.per_thread));
		tfs_shadow_copy(frame, call, status);
	}
	TFS_LEAVE(frame);
}

#endif
