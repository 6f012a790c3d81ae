/* SPDX-License-Identifier: MIT */
#define TFS_HOT_HOOKS
#include "shim/hooks/notes.h"

#include <driver_types.h>

#include "shim/hooks/note_copy.h"
#include "shim/hooks/take.h"
#include "shim/state/capture.h"
#include "shim/state/streams.h"

void tfs_put_rows(
	struct tfs_details *details, struct tfs_reach target, struct tfs_reach source, int kind)
{
	const struct tfs_copy_tags tags =
		tfs_copy_tags_of(tfs_self.owned, target.first, source.first, kind);

	/* An array has no address. */
	if (!target.first)
		tfs_put_attribute(details, TFS_ATTRIBUTE_copy_kind, (uint64_t)kind);
	else
		tfs_put(details, (uint64_t)(uintptr_t)target.first, tags.to | target.bytes);
	if (source.first)
		tfs_put(details, (uint64_t)(uintptr_t)source.first, tags.from | source.bytes);
}

void tfs_put_copy(
	struct tfs_details *details, const void *target, const void *source, size_t bytes, int kind)
{
	tfs_put_rows(details, (struct tfs_reach){target, bytes}, (struct tfs_reach){source, bytes},
		kind);
}

void tfs_put_touched(struct tfs_details *details, const void *address, bool constant)
{
	const struct tfs_address *known =
		tfs_memory_ask(tfs_self.owned->addresses, (uint64_t)(uintptr_t)address);

	if (known->left != 0)
		tfs_put_operand(details, address, known->left,
			(constant ? TFS_ROLE_READ : TFS_ROLE_MAYBE) | TFS_ROLE_MEMORY(known->kind));
}

static bool is_host(uint32_t memory)
{
	return memory == TFS_MEMORY_HOST || memory == TFS_MEMORY_PAGEABLE ||
	       memory == TFS_MEMORY_PINNED;
}

/* Of a copy from the host to the device, what was copied. Of one into a graph that is not known
 * before the graph runs. */
static void put_content(struct tfs_frame *frame, struct tfs_details *details)
{
	const struct tfs_item *to = details->items, *from = to + 1;
	struct tfs_content content;

	if (frame->status != 0 || details->count < 2 || tfs_capturing() ||
		TFS_ITEM_MEMORY(to) != TFS_MEMORY_DEVICE || !is_host(TFS_ITEM_MEMORY(from)))
		return;
	if (!tfs_contents_look(&frame->thread->contents, (const void *)(uintptr_t)to->value,
		    (const void *)(uintptr_t)from->value, TFS_ITEM_LOW(from), &content)) {
		if (!tfs_contents_left())
			__atomic_fetch_and(&tfs_wanted, ~TFS_WANT_CONTENTS, __ATOMIC_RELAXED);
		return;
	}
	if (content.whole != 0)
		tfs_put_attribute(details, TFS_ATTRIBUTE_content, content.whole);
	if (content.sample != 0)
		tfs_put_attribute(details, TFS_ATTRIBUTE_sample, content.sample);
	if (content.pattern != 0)
		tfs_put_attribute(details, TFS_ATTRIBUTE_pattern, content.pattern);
}

void tfs_note_copy(struct tfs_frame *frame, const void *target, const void *source, size_t bytes,
	int kind, uint16_t stream)
{
	struct tfs_details details;

	tfs_details_init(&details, stream);
	tfs_put_copy(&details, target, source, bytes, kind);
	if ((frame->wanted & TFS_WANT_CONTENTS) != 0)
		put_content(frame, &details);
	tfs_hook_details(frame, &details);
}

void tfs_note_rows(struct tfs_frame *frame, struct tfs_reach target, struct tfs_reach source,
	int kind, uint16_t stream)
{
	struct tfs_details details;

	tfs_details_init(&details, stream);
	tfs_put_rows(&details, target, source, kind);
	tfs_hook_details(frame, &details);
}

void tfs_note_fill(struct tfs_frame *frame, const struct tfs_op *op)
{
	struct tfs_details details;
	const void *target = op->fill.target;
	const struct tfs_address *known =
		tfs_memory_ask(frame->thread->addresses, (uint64_t)(uintptr_t)target);
	const uint32_t kind = known->left != 0 ? known->kind : TFS_MEMORY_DEVICE;

	tfs_details_init(&details, tfs_stream_id(op->stream, op->per_thread));
	tfs_put_operand(&details, target, op->fill.gaps ? 0 : op->fill.bytes,
		TFS_ROLE_WRITE | TFS_ROLE_MEMORY(kind));
	tfs_put_attribute(&details, TFS_ATTRIBUTE_value, op->fill.value);
	tfs_hook_details(frame, &details);
}

void tfs_note_alloc(struct tfs_frame *frame, uint32_t status, struct tfs_range range)
{
	tfs_note_ordered(frame, status, range, 0);
}

void tfs_note_ordered(
	struct tfs_frame *frame, uint32_t status, struct tfs_range range, uint64_t keeps)
{
	struct tfs_details details;

	TFS_END(frame, status, range.bytes);
	if (!frame->thread)
		return;
	range.site = frame->entry->site;
	tfs_memory_add(&range);
	tfs_details_init(&details, TFS_NO_STREAM);
	if (range.address != 0)
		tfs_put(&details, range.address,
			TFS_ITEM(TFS_ROLE_MEMORY(range.kind), range.bytes));
	tfs_put_attribute(&details, TFS_ATTRIBUTE_device, range.device);
	if (keeps != 0)
		tfs_put_attribute(&details, TFS_ATTRIBUTE_pool_keeps, keeps);
	tfs_hook_details_alloc(frame, &details, range.address);
	TFS_LEAVE(frame);
}

static void put_free(struct tfs_frame *frame, const void *address, const struct tfs_range *was,
	struct tfs_details *details)
{
	tfs_put_operand(details, address, was->bytes, TFS_ROLE_MEMORY(was->kind));
	tfs_hook_details_free(frame, details, (uint64_t)(uintptr_t)address);
	TFS_LEAVE(frame);
}

void tfs_note_free(
	struct tfs_frame *frame, uint32_t status, const void *address, const struct tfs_range *was)
{
	struct tfs_details details;

	if (status != 0 && was->bytes != 0)
		tfs_memory_add(was);
	TFS_END(frame, status, was->bytes);
	tfs_details_init(&details, TFS_NO_STREAM);
	put_free(frame, address, was, &details);
}

void tfs_note_free_ordered(struct tfs_frame *frame, uint32_t status, const void *address,
	const struct tfs_range *was, const void *stream, bool per_thread)
{
	struct tfs_details details;

	if (status != 0 && was->bytes != 0)
		tfs_memory_add(was);
	const bool recorded = TFS_END(frame, status, was->bytes);
	tfs_details_init(&details, recorded ? tfs_stream_id(stream, per_thread) : TFS_NO_STREAM);
	put_free(frame, address, was, &details);
}

void tfs_note_stream(struct tfs_frame *frame, uint32_t status, const void *stream, bool per_thread)
{
	if (TFS_END(frame, status, 0)) {
		struct tfs_details details;

		tfs_details_init(&details, tfs_stream_id(stream, per_thread));
		tfs_hook_details(frame, &details);
	}
	TFS_LEAVE(frame);
}

void tfs_note_created(struct tfs_frame *frame, uint32_t status, const void *stream, unsigned flags)
{
	struct tfs_details details;

	TFS_END(frame, status, 0);
	if (!frame->thread)
		return;
	tfs_details_init(&details, TFS_NO_STREAM);
	if (status == 0) {
		tfs_stream_created(
			stream, (flags & cudaStreamNonBlocking) != 0 ? TFS_STREAM_NON_BLOCKING : 0);
		details.stream = tfs_stream_id(stream, 0);
		if ((flags & cudaStreamNonBlocking) != 0)
			tfs_tell(frame, TFS_OP_STREAM);
	}
	tfs_hook_details_always(frame, &details);
	TFS_LEAVE(frame);
}

void tfs_note_apart(struct tfs_frame *frame, uint32_t status)
{
	struct tfs_details details;
	const bool wanted = TFS_END(frame, status, 0);

	if (status == 0 && frame->thread) {
		tfs_streams_set_free();
		tfs_tell(frame, TFS_OP_STREAM);
	}
	if (wanted) {
		tfs_details_init(&details, TFS_NO_STREAM);
		tfs_hook_details(frame, &details);
	}
	TFS_LEAVE(frame);
}

void tfs_note_event(struct tfs_frame *frame, uint32_t status, const void *event, uint16_t stream)
{
	if (TFS_END(frame, status, 0)) {
		struct tfs_details details;

		tfs_details_init(&details, stream);
		tfs_put_attribute(&details, TFS_ATTRIBUTE_event, (uint64_t)(uintptr_t)event);
		tfs_hook_details(frame, &details);
	}
	TFS_LEAVE(frame);
}

void tfs_note_graph(struct tfs_frame *frame, uint32_t status, const void *stream, bool per_thread,
	const void *graph)
{
	if (TFS_END(frame, status, 0)) {
		struct tfs_details details;

		tfs_details_init(&details, tfs_stream_id(stream, per_thread));
		if (graph)
			tfs_put_attribute(
				&details, TFS_ATTRIBUTE_graph, (uint64_t)(uintptr_t)graph);
		tfs_hook_details(frame, &details);
	}
	TFS_LEAVE(frame);
}

void tfs_note_instantiated(
	struct tfs_frame *frame, uint32_t status, const void *graph, const void *executable)
{
	if (TFS_END(frame, status, 0)) {
		struct tfs_details details;

		tfs_details_init(&details, TFS_NO_STREAM);
		tfs_put_attribute(&details, TFS_ATTRIBUTE_graph, (uint64_t)(uintptr_t)graph);
		tfs_put_attribute(
			&details, TFS_ATTRIBUTE_executable, (uint64_t)(uintptr_t)executable);
		tfs_hook_details(frame, &details);
	}
	TFS_LEAVE(frame);
}

void tfs_put_fill(struct tfs_details *details, const void *target, size_t bytes)
{
	tfs_put_operand(
		details, target, bytes, TFS_ROLE_WRITE | TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE));
}

void tfs_put_child(struct tfs_details *details, const void *child)
{
	tfs_put_attribute(details, TFS_ATTRIBUTE_child, (uint64_t)(uintptr_t)child);
}

void tfs_note_part(struct tfs_frame *frame, const struct tfs_details *work)
{
	struct tfs_details none;
	const uint32_t searched = frame->wanted & TFS_WANT_STEPS;

	tfs_details_init(&none, TFS_NO_STREAM);
	frame->wanted &= ~TFS_WANT_STEPS;
	tfs_hook_details(frame, &none);
	frame->wanted = searched;
	if (searched == 0)
		return;
	tfs_hook_details(frame, work);
}

void tfs_note_made(struct tfs_frame *frame, uint32_t status, const void *made, const void *graph)
{
	if (TFS_END(frame, status, 0)) {
		struct tfs_details work;

		tfs_details_init(&work, TFS_NO_STREAM);
		tfs_put_attribute(&work, TFS_ATTRIBUTE_graph, (uint64_t)(uintptr_t)graph);
		tfs_put_attribute(&work, TFS_ATTRIBUTE_executable, (uint64_t)(uintptr_t)made);
		tfs_note_part(frame, &work);
	}
	TFS_LEAVE(frame);
}
