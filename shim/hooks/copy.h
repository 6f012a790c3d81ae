/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOKS_COPY_H
#define TFS_SHIM_HOOKS_COPY_H

/*
 * The hooks of plain copies, the runtime's and the driver's: they differ in what they are called
 * with. They are laid out for a copy that is only recorded: what the call is made of is in memory
 * only where a rewrite is asked about it, which is on another path.
 */

#include "shim/hooks/note_copy.h"
#include "shim/hooks/take.h"
#include "shim/rewrites/memory/blocks.h"
#include "shim/state/streams.h"

/* Lets a rewrite carry out the copy, with the status in `op`; false: it is the real function's. */
static inline __attribute__((always_inline)) bool tfs_take_copy(struct tfs_frame *frame,
	struct tfs_op *op, struct tfs_op_copy copy, void *stream, bool per_thread, bool driver)
{
	frame->wanted &= ~(TFS_WANT_FILLS | TFS_WANT_COPIES);
	/* The run may have ended meanwhile. */
	if (!tfs_is_wanted(frame, TFS_OP_COPY))
		return false;
	op->kind = TFS_OP_COPY;
	op->site = frame->entry->site;
	op->driver = driver;
	op->per_thread = per_thread;
	op->stream = stream;
	op->function = frame->entry->function;
	op->copy = copy;
	const enum tfs_answer answer = tfs_rewrite_ask(op);
	if (TFS_UNLIKELY(answer == TFS_MINDS))
		frame->wanted |= TFS_WANT_COPIES;
	return answer == TFS_DONE;
}

/* Ends and leaves the call. */
static inline __attribute__((always_inline)) void tfs_end_copy(struct tfs_frame *frame,
	struct tfs_op *op, struct tfs_op_copy copy, void *stream, bool per_thread, uint32_t status)
{
	if (TFS_UNLIKELY(!tfs_hook_count_here(frame, status, copy.bytes)))
		return;
	if (TFS_LIKELY(frame->wanted == TFS_WANT_RECORD)) {
		tfs_note_plain_copy(frame, copy.target, copy.source, copy.bytes, copy.kind,
			tfs_stream_id(stream, per_thread));
	} else if (frame->wanted != 0) {
		/* Only the copy has to be in memory. */
		struct tfs_frame other = *frame;

		other.wanted &= ~TFS_WANT_COPIES;
		if (other.wanted != 0)
			tfs_note_copy(&other, copy.target, copy.source, copy.bytes, copy.kind,
				tfs_stream_id(stream, per_thread));
		if (other.wanted != frame->wanted) {
			op->status = status;
			tfs_rewrite_after(op);
		}
	}
	TFS_LEAVE(frame);
}

/* A copy and its twin, on the stream `queue`; what follows are all fields of the operation's `copy`
 * but the last. */
#define TFS_COPY_HOOKS(type, name, suffix, parameters, arguments, queue, ...)                      \
	TFS_COPYING_TWIN_HOOKS(type, name, suffix, parameters, arguments)                          \
	{                                                                                          \
		const struct tfs_op_copy copy = {__VA_ARGS__, real};                               \
		bool taken = false;                                                                \
		struct tfs_op op; /* set where it is asked about */                                \
		uint32_t status;                                                                   \
                                                                                                   \
		tfs_blocks_given(copy.target, copy.source);                                        \
		if (TFS_UNLIKELY((frame.wanted & (TFS_WANT_FILLS | TFS_WANT_COPIES)) != 0))        \
			taken = tfs_take_copy(                                                     \
				&frame, &op, copy, queue, per_thread, TFS_BY_DRIVER);              \
		if (taken)                                                                         \
			status = op.status;                                                        \
		else                                                                               \
			status = (uint32_t)TFS_TWIN_REAL(name) arguments;                          \
		tfs_end_copy(&frame, &op, copy, queue, per_thread, status);                        \
		return (type)status;                                                               \
	}

#endif
