/* SPDX-License-Identifier: MIT */
#define TFS_HOT_HOOKS
#include "shim/hooks/notes.h"

#include <driver_types.h>
#include <string.h>

#include "shim/base/driver_api.h"
#include "shim/hooks/note_copy.h"
#include "shim/hooks/take.h"
#include "shim/state/capture.h"
#include "shim/state/streams.h"

unsigned tfs_captures_open;

void tfs_put_copy(
	struct tfs_details *details, const void *target, const void *source, size_t bytes, int kind)
{
	const struct tfs_copy_tags tags = tfs_copy_tags_of(tfs_self.owned, target, source, kind);

	/* An array has no address. */
	if (!target)
		tfs_put_attribute(details, TFS_ATTRIBUTE_copy_kind, (uint64_t)kind);
	else
		tfs_put(details, (uint64_t)(uintptr_t)target, tags.to | bytes);
	if (source)
		tfs_put(details, (uint64_t)(uintptr_t)source, tags.from | bytes);
}

void tfs_put_touched(struct tfs_details *details, const void *address, bool constant)
{
	const struct tfs_address *known =
		tfs_memory_ask(tfs_self.owned->addresses, (uint64_t)(uintptr_t)address);

	if (known->left != 0)
		tfs_put_operand(details, address, known->left,
			(constant ? TFS_ROLE_READ : TFS_ROLE_MAYBE) | TFS_ROLE_MEMORY(known->kind));
}

void tfs_note_copy(struct tfs_frame *frame, const void *target, const void *source, size_t bytes,
	int kind, uint16_t stream)
{
	struct tfs_details details;

	tfs_details_init(&details, stream);
	tfs_put_copy(&details, target, source, bytes, kind);
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

/* A parameter of a pointer's size that points into known memory is an operand; if it is not said to
 * be constant, what the kernel does with it is not known. Others are scalars, which tell one use of
 * a kernel from another. */
static void put_argument(
	struct tfs_details *details, const void *argument, uint32_t bytes, bool constant)
{
	uint32_t word;
	uint64_t value;

	if (bytes == sizeof(word)) {
		memcpy(&word, argument, sizeof(word));
		tfs_put_attribute(details, TFS_ATTRIBUTE_argument, word);
	}
	if (bytes != sizeof(value))
		return;
	memcpy(&value, argument, sizeof(value));
	const struct tfs_address *known = tfs_memory_ask(tfs_self.owned->addresses, value);
	if (known->left != 0)
		tfs_put(details, value,
			TFS_ITEM((constant ? TFS_ROLE_READ : TFS_ROLE_MAYBE) |
					 TFS_ROLE_MEMORY(known->kind),
				known->left));
	else
		tfs_put_attribute(details, TFS_ATTRIBUTE_argument, value);
}

/* The search for steps, but no rule: a structure may point to more than is looked at. Frameworks
 * hand over the weights and all they are updated from in one. */
static __attribute__((noinline, cold)) void put_structure(
	struct tfs_details *details, const char *argument, uint32_t bytes)
{
	const void *address;

	for (uint32_t at = 0; at + sizeof(address) <= bytes; at += sizeof(address)) {
		memcpy(&address, argument + at, sizeof(address));
		tfs_put_touched(details, address, false);
	}
}

static inline bool are_structures_wanted(const struct tfs_frame *frame)
{
	return TFS_UNLIKELY((frame->wanted & (TFS_WANT_STEPS | TFS_WANT_RECORD)) == TFS_WANT_STEPS);
}

static bool is_structure(uint32_t bytes)
{
	return bytes > sizeof(uint64_t);
}

/* All arguments in one buffer, as the kernel's layout has them. */
static const void *packed_at(void *const *extra, uint32_t offset, uint32_t bytes)
{
	const char *buffer = NULL;
	size_t room = 0;

	for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
		if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
			buffer = extra[1];
		else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1])
			room = *(const size_t *)extra[1];
		else
			return NULL;
	}
	return buffer && offset + bytes <= room ? buffer + offset : NULL;
}

static const void *argument_at(const struct tfs_launch *launch, uint32_t nth)
{
	const struct tfs_kernel *kernel = launch->kernel;

	if (launch->arguments)
		return launch->arguments[nth];
	return launch->extra ? packed_at(launch->extra, kernel->offsets[nth], kernel->sizes[nth])
			     : NULL;
}

void tfs_note_flat(struct tfs_frame *frame, const struct tfs_kernel *kernel, uint64_t shape,
	void **arguments, size_t shared, uint16_t stream)
{
	struct tfs_details details;

	tfs_details_init(&details, stream);
	tfs_put_attribute(&details, TFS_ATTRIBUTE_launch, shape);
	if (shared > 0)
		tfs_put_attribute(&details, TFS_ATTRIBUTE_shared, shared);
	for (uint32_t i = 0; arguments && i < kernel->parameters; i++)
		if (arguments[i])
			put_argument(&details, arguments[i], kernel->sizes[i],
				(kernel->constant >> i & 1) != 0);
	if (are_structures_wanted(frame))
		for (uint32_t i = 0; arguments && i < kernel->parameters; i++)
			if (arguments[i] && is_structure(kernel->sizes[i]))
				put_structure(&details, arguments[i], kernel->sizes[i]);
	tfs_hook_details(frame, &details);
}

static inline __attribute__((always_inline)) void put_launch(
	struct tfs_details *details, const struct tfs_launch *launch)
{
	const struct tfs_kernel *kernel = launch->kernel;
	const struct tfs_extent grid = launch->grid;
	const struct tfs_extent block = launch->block;

	if (grid.y == 1 && grid.z == 1 && block.y == 1 && block.z == 1) {
		tfs_put_attribute(details, TFS_ATTRIBUTE_launch,
			kernel->name | (uint64_t)grid.x << 16 | (uint64_t)block.x << 48);
	} else {
		tfs_put_attribute(details, TFS_ATTRIBUTE_kernel, kernel->name);
		tfs_put_attribute(details, TFS_ATTRIBUTE_grid, grid.x | (uint64_t)grid.y << 32);
		tfs_put_attribute(details, TFS_ATTRIBUTE_block, block.x | (uint64_t)block.y << 32);
		tfs_put_attribute(details, TFS_ATTRIBUTE_grid_z, grid.z | (uint64_t)block.z << 32);
	}
	if (launch->shared > 0)
		tfs_put_attribute(details, TFS_ATTRIBUTE_shared, launch->shared);
	for (uint32_t i = 0; i < kernel->parameters; i++) {
		const void *argument = argument_at(launch, i);

		if (argument)
			put_argument(details, argument, kernel->sizes[i],
				(kernel->constant >> i & 1) != 0);
	}
}

static void put_structures(struct tfs_details *details, const struct tfs_launch *launch)
{
	for (uint32_t i = 0; i < launch->kernel->parameters; i++) {
		const void *argument = argument_at(launch, i);

		if (argument && is_structure(launch->kernel->sizes[i]))
			put_structure(details, argument, launch->kernel->sizes[i]);
	}
}

void tfs_note_other(struct tfs_frame *frame, const struct tfs_launch *launch)
{
	struct tfs_details details;

	tfs_details_init(&details, launch->stream);
	put_launch(&details, launch);
	if (are_structures_wanted(frame))
		put_structures(&details, launch);
	tfs_hook_details(frame, &details);
}

void tfs_put_launch(struct tfs_details *details, const struct tfs_launch *launch)
{
	put_launch(details, launch);
	put_structures(details, launch);
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

void tfs_note_capture_begin(uint32_t status)
{
	if (status == cudaSuccess)
		__atomic_fetch_add(&tfs_captures_open, 1, __ATOMIC_RELAXED);
}

/* A capture that was invalidated is over as well; ending one that was never begun is not. */
void tfs_note_capture_end(uint32_t status)
{
	unsigned open = __atomic_load_n(&tfs_captures_open, __ATOMIC_RELAXED);
	const bool ended = status == cudaSuccess || status == cudaErrorStreamCaptureInvalidated ||
			   status == cudaErrorStreamCaptureUnjoined;

	while (ended && open > 0 &&
		!__atomic_compare_exchange_n(&tfs_captures_open, &open, open - 1, true,
			__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		continue;
}
