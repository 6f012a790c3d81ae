/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOKS_NOTES_H
#define TFS_SHIM_HOOKS_NOTES_H

/*
 * What the hooks of the runtime and those of the driver write down alike, so that a program looks
 * the same on either. All are for the call's own thread, after the real call; all but those on
 * allocation and capture end the frame's time themselves and leave it.
 */

#include "shim/record/hook.h"
#include "shim/record/op.h"
#include "shim/state/kernels.h"
#include "shim/state/memory.h"

/* Sizes of a launch: x, y, z. */
struct tfs_extent {
	uint32_t x, y, z;
};

struct tfs_launch {
	const struct tfs_kernel *kernel;
	struct tfs_extent grid;
	struct tfs_extent block;
	void **arguments; /* NULL: not known, or in `extra` */
	void **extra;     /* as cuLaunchKernel takes it; NULL: none */
	size_t shared;
	uint16_t stream;
};

/* One copy, of several perhaps, in a call's details; NULL for what has no address. */
void tfs_put_copy(struct tfs_details *details, const void *target, const void *source, size_t bytes,
	int kind);

/* What one side of a copy reaches over, with the room between its rows. */
struct tfs_reach {
	const void *first;
	size_t bytes;
};

/* So many rows, each of so many bytes and so far from the next. */
static inline struct tfs_reach tfs_reach_of(
	const void *first, size_t pitch, size_t width, size_t height)
{
	const size_t apart = pitch > width ? pitch : width;

	return (struct tfs_reach){first, height != 0 ? (height - 1) * apart + width : 0};
}

/* A copy of rows, in a call's details. */
void tfs_put_rows(
	struct tfs_details *details, struct tfs_reach target, struct tfs_reach source, int kind);

/* Memory that a call was given and of which no more is known than this: what is listed as the
 * program's is read, or, where it is not `constant`, may be read or written to its end. */
void tfs_put_touched(struct tfs_details *details, const void *address, bool constant);

/* A copy whose details are wanted; `kind` is a cudaMemcpyKind. Does not end the frame. */
void tfs_note_copy(struct tfs_frame *frame, const void *target, const void *source, size_t bytes,
	int kind, uint16_t stream);

/* The same of rows. */
void tfs_note_rows(struct tfs_frame *frame, struct tfs_reach target, struct tfs_reach source,
	int kind, uint16_t stream);

/* A fill whose details are wanted. Does not end the frame. */
void tfs_note_fill(struct tfs_frame *frame, const struct tfs_op *op);

/* The two kinds of launch: those whose sizes go into `shape`, the value of TFS_ATTRIBUTE_launch,
 * and others. */
void tfs_note_flat(struct tfs_frame *frame, const struct tfs_kernel *kernel, uint64_t shape,
	void **arguments, size_t shared, uint16_t stream);
void tfs_note_other(struct tfs_frame *frame, const struct tfs_launch *launch);

/* A launch whose details are wanted. Does not end the frame. */
static inline __attribute__((always_inline)) void tfs_note_launch(
	struct tfs_frame *frame, const struct tfs_launch *launch)
{
	const struct tfs_kernel *kernel = launch->kernel;

	if (launch->grid.y == 1 && launch->grid.z == 1 && launch->block.y == 1 &&
		launch->block.z == 1 && !launch->extra) {
		tfs_note_flat(frame, kernel,
			kernel->name | (uint64_t)launch->grid.x << 16 |
				(uint64_t)launch->block.x << 48,
			launch->arguments, launch->shared, launch->stream);
	} else {
		/* Only the copy has to be in memory. */
		const struct tfs_launch other = *launch;

		tfs_note_other(frame, &other);
	}
}

/* Memory was allocated: `range` without its site; its address is 0 when the call failed. */
void tfs_note_alloc(struct tfs_frame *frame, uint32_t status, struct tfs_range range);

/* The same from a stream-ordered pool that keeps so many bytes when the host waits. */
void tfs_note_ordered(
	struct tfs_frame *frame, uint32_t status, struct tfs_range range, uint64_t keeps);

/* Memory was freed; `was` is what the range was before the call, put back when that failed. */
void tfs_note_free(
	struct tfs_frame *frame, uint32_t status, const void *address, const struct tfs_range *was);
/* The same, of memory that is released when a stream has come so far. */
void tfs_note_free_ordered(struct tfs_frame *frame, uint32_t status, const void *address,
	const struct tfs_range *was, const void *stream, bool per_thread);

void tfs_note_stream(struct tfs_frame *frame, uint32_t status, const void *stream, bool per_thread);

/* `flags` is that of the creating call: 1 = does not wait for the legacy stream. */
void tfs_note_created(struct tfs_frame *frame, uint32_t status, const void *stream, unsigned flags);

/* A part of the device was made that has streams of its own, of which none waits for those of
 * others: to rewrites the same as a stream that does not wait for the legacy one. */
void tfs_note_apart(struct tfs_frame *frame, uint32_t status);

void tfs_note_event(struct tfs_frame *frame, uint32_t status, const void *event, uint16_t stream);

void tfs_note_graph(struct tfs_frame *frame, uint32_t status, const void *stream, bool per_thread,
	const void *graph);

/* An executable graph was made of another one. */
void tfs_note_instantiated(
	struct tfs_frame *frame, uint32_t status, const void *graph, const void *executable);

/* A graph was changed: `work` says which, and what a new node of it does, or what became part of
 * it. Only the step search wants that: to the recording it is a call without details, since nothing
 * is done yet. Does not end the frame. */
void tfs_note_part(struct tfs_frame *frame, const struct tfs_details *work);

/* A graph was made, of another one or (NULL) empty. */
void tfs_note_made(struct tfs_frame *frame, uint32_t status, const void *made, const void *graph);

/* What a node does, in a call's details: a kernel is launched, memory is set to something (`bytes`
 * may be 0 = unknown), another graph is run. A copy is put by tfs_put_copy(). */
void tfs_put_launch(struct tfs_details *details, const struct tfs_launch *launch);
void tfs_put_fill(struct tfs_details *details, const void *target, size_t bytes);
void tfs_put_child(struct tfs_details *details, const void *child);

#define TFS_INSTANTIATE_HOOK(type, name, parameters, arguments)                                    \
	TFS_HOOK(type, name, parameters)                                                           \
	{                                                                                          \
		struct tfs_frame frame = TFS_ENTER(name);                                          \
		const type status = TFS_REAL(name) arguments;                                      \
                                                                                                   \
		tfs_note_instantiated(&frame, (uint32_t)status, graph, status == 0 ? *out : NULL); \
		return status;                                                                     \
	}

#define TFS_MADE_HOOK(type, name, parameters, arguments, graph)                                    \
	TFS_HOOK(type, name, parameters)                                                           \
	{                                                                                          \
		struct tfs_frame frame = TFS_ENTER(name);                                          \
		const type status = TFS_REAL(name) arguments;                                      \
                                                                                                   \
		tfs_note_made(&frame, (uint32_t)status, status == 0 ? *out : NULL, graph);         \
		return status;                                                                     \
	}

/* What a call that adds a node leaves behind: `put` fills in the details `work`. They hold only so
 * much, so that the graph comes first. */
#define TFS_NODE_HOOK(type, name, parameters, arguments, put)                                      \
	TFS_HOOK(type, name, parameters)                                                           \
	{                                                                                          \
		struct tfs_frame frame = TFS_ENTER(name);                                          \
		const type status = TFS_REAL(name) arguments;                                      \
                                                                                                   \
		if (TFS_END(&frame, status, 0)) {                                                  \
			struct tfs_details work;                                                   \
                                                                                                   \
			tfs_details_init(&work, TFS_NO_STREAM);                                    \
			tfs_put_attribute(&work, TFS_ATTRIBUTE_graph, (uint64_t)(uintptr_t)graph); \
			if (status == 0 && (frame.wanted & TFS_WANT_STEPS) != 0)                   \
				put;                                                               \
			tfs_note_part(&frame, &work);                                              \
		}                                                                                  \
		return TFS_LEAVE(&frame), status;                                                  \
	}

#endif
