/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOKS_NOTE_COPY_H
#define TFS_SHIM_HOOKS_NOTE_COPY_H

/*
 * How the hooks of plain copies write them down: as tfs_note_copy() does, but a copy that nobody
 * but the recording wants goes from registers to its record.
 */

#include <driver_types.h>

#include "shim/hooks/notes.h"
#include "shim/state/memory.h"

/* What the two items of a copy say besides addresses and bytes. */
struct tfs_copy_tags {
	uint64_t to;
	uint64_t from;
};

#define TFS_TAGS(kind, target, source)                                                             \
	{                                                                                          \
		TFS_ITEM(TFS_ROLE_WRITE | TFS_ROLE_MEMORY(target), 0) | TFS_ITEM_COPY(kind),       \
			TFS_ITEM(TFS_ROLE_READ | TFS_ROLE_MEMORY(source), 0)                       \
	}

/* The direction tells host from device where the registry does not, because device memory may come
 * from a library or another process. */
static inline __attribute__((always_inline)) struct tfs_copy_tags tfs_copy_tags(int kind)
{
	static const struct tfs_copy_tags by_kind[] = {
		[cudaMemcpyHostToHost] =
			TFS_TAGS(cudaMemcpyHostToHost, TFS_MEMORY_HOST, TFS_MEMORY_HOST),
		[cudaMemcpyHostToDevice] =
			TFS_TAGS(cudaMemcpyHostToDevice, TFS_MEMORY_DEVICE, TFS_MEMORY_HOST),
		[cudaMemcpyDeviceToHost] =
			TFS_TAGS(cudaMemcpyDeviceToHost, TFS_MEMORY_HOST, TFS_MEMORY_DEVICE),
		[cudaMemcpyDeviceToDevice] =
			TFS_TAGS(cudaMemcpyDeviceToDevice, TFS_MEMORY_DEVICE, TFS_MEMORY_DEVICE),
		[cudaMemcpyDefault] = TFS_TAGS(cudaMemcpyDefault, TFS_MEMORY_HOST, TFS_MEMORY_HOST),
	};

	if (TFS_LIKELY((uint32_t)kind <= cudaMemcpyDefault))
		return by_kind[kind];
	return (struct tfs_copy_tags)TFS_TAGS(kind, TFS_MEMORY_HOST, TFS_MEMORY_HOST);
}

/* The same with what the registry knows of the address; `now` is its sequence number. */
static inline __attribute__((always_inline)) uint64_t tfs_with_memory(
	struct tfs_thread *thread, const void *address, uint64_t tags, uint32_t now)
{
	const uint64_t memory = (uint64_t)TFS_ROLE_MEMORY(7) << 56;
	const struct tfs_address *known =
		tfs_memory_ask_at(thread->addresses, (uint64_t)(uintptr_t)address, now);

	return known->left == 0 ? tags
				: (tags & ~memory) | (uint64_t)TFS_ROLE_MEMORY(known->kind) << 56;
}

static inline __attribute__((always_inline)) struct tfs_copy_tags tfs_copy_tags_of(
	struct tfs_thread *thread, const void *target, const void *source, int kind)
{
	const uint32_t now = atomic_load_explicit(&tfs_memory_sequence, memory_order_acquire);
	struct tfs_copy_tags tags = tfs_copy_tags(kind);

	if (now != 0) {
		tags.to = tfs_with_memory(thread, target, tags.to, now);
		tags.from = tfs_with_memory(thread, source, tags.from, now);
	}
	return tags;
}

/* Does not end the frame. */
static inline __attribute__((always_inline)) void tfs_note_plain_copy(struct tfs_frame *frame,
	const void *target, const void *source, size_t bytes, int kind, uint16_t stream)
{
	if (TFS_LIKELY(target) && TFS_LIKELY(source) && TFS_LIKELY(tfs_hook_records_two(frame))) {
		const struct tfs_copy_tags tags =
			tfs_copy_tags_of(frame->thread, target, source, kind);

		tfs_hook_record_two(frame, stream,
			(struct tfs_item){(uint64_t)(uintptr_t)target, tags.to | bytes},
			(struct tfs_item){(uint64_t)(uintptr_t)source, tags.from | bytes});
		return;
	}
	/* Only the copy has to be in memory. */
	struct tfs_frame other = *frame;
	tfs_note_copy(&other, target, source, bytes, kind, stream);
}

#endif
