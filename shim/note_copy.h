/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_NOTE_COPY_H
#define TFS_SHIM_NOTE_COPY_H

/*
 * How the hooks of plain copies write them down: as tfs_note_copy() does, but a copy that nobody
 * but the recording wants goes from registers to its record.
 */

#include <driver_types.h>

#include "shim/memory.h"
#include "shim/notes.h"

/* What the registry knows about an address; the direction tells host from device where it does
 * not, because device memory may come from a library or another process. */
static inline __attribute__((always_inline)) uint32_t tfs_memory_kind(
	struct tfs_thread *thread, const void *address, bool device_side)
{
	const struct tfs_address *known =
		tfs_memory_ask(thread->addresses, (uint64_t)(uintptr_t)address);

	if (known->left != 0)
		return known->kind;
	return device_side ? TFS_MEMORY_DEVICE : TFS_MEMORY_HOST;
}

static inline __attribute__((always_inline)) struct tfs_item tfs_copied_to(
	struct tfs_thread *thread, const void *target, size_t bytes, int kind)
{
	const bool device_side = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;

	return (struct tfs_item){(uint64_t)(uintptr_t)target,
		TFS_ITEM(TFS_ROLE_WRITE |
				 TFS_ROLE_MEMORY(tfs_memory_kind(thread, target, device_side)),
			bytes) |
			TFS_ITEM_COPY(kind)};
}

static inline __attribute__((always_inline)) struct tfs_item tfs_copied_from(
	struct tfs_thread *thread, const void *source, size_t bytes, int kind)
{
	const bool device_side = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;

	return (struct tfs_item){(uint64_t)(uintptr_t)source,
		TFS_ITEM(TFS_ROLE_READ |
				 TFS_ROLE_MEMORY(tfs_memory_kind(thread, source, device_side)),
			bytes)};
}

/* Does not end the frame. */
static inline __attribute__((always_inline)) void tfs_note_plain_copy(struct tfs_frame *frame,
	const void *target, const void *source, size_t bytes, int kind, uint16_t stream)
{
	if (TFS_LIKELY(target != NULL && source != NULL && tfs_hook_records_two(frame))) {
		tfs_hook_record_two(frame, stream,
			tfs_copied_to(frame->thread, target, bytes, kind),
			tfs_copied_from(frame->thread, source, bytes, kind));
		return;
	}
	/* Only the copy has to be in memory. */
	struct tfs_frame other = *frame;
	tfs_note_copy(&other, target, source, bytes, kind, stream);
}

#endif
