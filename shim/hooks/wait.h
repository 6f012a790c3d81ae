/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOKS_WAIT_H
#define TFS_SHIM_HOOKS_WAIT_H

/* How the runtime's and the driver's waits are described, for the call's own thread. */

#include "shim/hooks/notes.h"
#include "shim/hooks/take.h"

static inline __attribute__((always_inline)) struct tfs_op tfs_wait_op(
	enum tfs_sync what, const void *handle, bool per_thread, bool driver)
{
	return (struct tfs_op){.kind = TFS_OP_WAIT,
		.per_thread = per_thread,
		.driver = driver,
		.wait = {.what = what, .handle = (void *)(uintptr_t)handle}};
}

/* Before a call that tells what is finished, or that ends a stream. */
static inline __attribute__((always_inline)) void tfs_before_wait(
	const struct tfs_frame *frame, enum tfs_sync what, bool driver)
{
	struct tfs_op op = tfs_wait_op(what, NULL, false, driver);

	tfs_take(frame, &op);
}

/* A wait for a stream and its twin. */
#define TFS_STREAM_WAIT_HOOKS(type, name, stream_type)                                             \
	TFS_TWIN_HOOKS(type, name, _ptsz, (stream_type stream), (stream))                          \
	{                                                                                          \
		struct tfs_op op =                                                                 \
			tfs_wait_op(TFS_SYNC_STREAM, stream, per_thread, TFS_BY_DRIVER);           \
                                                                                                   \
		if (!tfs_take(&frame, &op))                                                        \
			do                                                                         \
				op.status = TFS_TWIN_REAL(name)(stream);                           \
			while (tfs_again(&op));                                                    \
		tfs_note_stream(&frame, op.status, stream, per_thread);                            \
		return (type)op.status;                                                            \
	}

/* A question how far a stream is, and its twin. */
#define TFS_STREAM_QUERY_HOOKS(type, name, stream_type)                                            \
	TFS_TWIN_HOOKS(type, name, _ptsz, (stream_type stream), (stream))                          \
	{                                                                                          \
		tfs_before_wait(&frame, TFS_SYNC_ASKS, TFS_BY_DRIVER);                             \
		const type status = TFS_TWIN_REAL(name)(stream);                                   \
                                                                                                   \
		tfs_note_stream(&frame, status, stream, per_thread);                               \
		return status;                                                                     \
	}

/* A wait for a device, by its context `of`; NULL: the current one. */
#define TFS_DEVICE_WAIT_HOOK(type, name, parameters, arguments, of)                                \
	TFS_HOOK(type, name, parameters)                                                           \
	{                                                                                          \
		struct tfs_frame frame = TFS_ENTER(name);                                          \
		struct tfs_op op = tfs_wait_op(TFS_SYNC_DEVICE, of, false, TFS_BY_DRIVER);         \
                                                                                                   \
		if (!tfs_take(&frame, &op))                                                        \
			do                                                                         \
				op.status = TFS_REAL(name) arguments;                              \
			while (tfs_again(&op));                                                    \
		tfs_hook_plain(&frame, op.status);                                                 \
		return (type)op.status;                                                            \
	}

#define TFS_EVENT_WAIT_HOOK(type, name, event_type)                                                \
	TFS_HOOK(type, name, (event_type event))                                                   \
	{                                                                                          \
		struct tfs_frame frame = TFS_ENTER(name);                                          \
		struct tfs_op op = tfs_wait_op(TFS_SYNC_EVENT, event, false, TFS_BY_DRIVER);       \
                                                                                                   \
		if (!tfs_take(&frame, &op))                                                        \
			do                                                                         \
				op.status = TFS_REAL(name)(event);                                 \
			while (tfs_again(&op));                                                    \
		tfs_note_event(&frame, op.status, event, TFS_NO_STREAM);                           \
		return (type)op.status;                                                            \
	}

#define TFS_EVENT_QUERY_HOOK(type, name, event_type)                                               \
	TFS_HOOK(type, name, (event_type event))                                                   \
	{                                                                                          \
		struct tfs_frame frame = TFS_ENTER(name);                                          \
                                                                                                   \
		tfs_before_wait(&frame, TFS_SYNC_ASKS, TFS_BY_DRIVER);                             \
		const type status = TFS_REAL(name)(event);                                         \
		tfs_note_event(&frame, status, event, TFS_NO_STREAM);                              \
		return status;                                                                     \
	}

#endif
