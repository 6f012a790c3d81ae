/* SPDX-License-Identifier: MIT */
/* Launches: what notes.h says of them. */
#define TFS_HOT_HOOKS
#include <string.h>

#include "shim/base/driver_api.h"
#include "shim/hooks/notes.h"
#include "shim/hooks/take.h"

#define STRUCTURE_BYTES 4096u /* that are looked through for addresses, */
#define STRUCTURE_MISSES 128u /* or until so many words that may be one are none */

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

static bool is_listed(const struct tfs_details *details, uint64_t address)
{
	for (uint32_t i = 0; i < details->count; i++)
		if (details->items[i].value == address &&
			(TFS_ITEM_ROLE(&details->items[i]) & TFS_ROLE_OPERAND) != 0)
			return true;
	return false;
}

/* The search for steps, but no rule: a structure may point to more than is looked at. Frameworks
 * hand over the weights and all they are updated from in one, list behind list. */
static void put_structure(struct tfs_details *details, const char *argument, uint32_t bytes)
{
	uint32_t misses = 0;
	uint64_t word, lowest, end;

	tfs_memory_span(&lowest, &end);
	bytes = bytes < STRUCTURE_BYTES ? bytes : STRUCTURE_BYTES;
	for (uint32_t at = 0; at + sizeof(word) <= bytes; at += sizeof(word)) {
		memcpy(&word, argument + at, sizeof(word));
		if (word < lowest || word >= end || is_listed(details, word))
			continue;
		const uint32_t count = details->count;

		tfs_put_touched(details, (const void *)(uintptr_t)word, false);
		misses += details->count == count;
		if (tfs_details_full(details) || misses == STRUCTURE_MISSES)
			return;
	}
}

static __attribute__((noinline, cold)) void put_structures(
	struct tfs_details *details, const struct tfs_launch *launch)
{
	for (uint32_t i = 0; i < launch->kernel->parameters; i++) {
		const uint32_t bytes = launch->kernel->sizes[i];
		const void *argument = bytes > sizeof(uint64_t) ? argument_at(launch, i) : NULL;

		if (argument)
			put_structure(details, argument, bytes);
	}
}

static inline bool is_searched(const struct tfs_frame *frame)
{
	return TFS_UNLIKELY((frame->wanted & TFS_WANT_STEPS) != 0);
}

/* The search alone is told of structures; the others are told before it and after it, as ever. */
static __attribute__((noinline, cold)) void note_searched(
	struct tfs_frame *frame, struct tfs_details *details, const struct tfs_launch *launch)
{
	const uint32_t wanted = frame->wanted, count = details->count;

	frame->wanted = wanted & ~(TFS_WANT_STEPS | TFS_WANT_WORK);
	if (frame->wanted != 0)
		tfs_hook_details(frame, details);
	put_structures(details, launch);
	frame->wanted = TFS_WANT_STEPS;
	tfs_hook_details(frame, details);
	details->count = count;
	frame->wanted = wanted & TFS_WANT_WORK;
	if (frame->wanted != 0)
		tfs_hook_details(frame, details);
	frame->wanted = wanted;
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
	if (is_searched(frame))
		note_searched(frame, &details,
			&(struct tfs_launch){.kernel = kernel, .arguments = arguments});
	else
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

void tfs_note_other(struct tfs_frame *frame, const struct tfs_launch *launch)
{
	struct tfs_details details;

	tfs_details_init(&details, launch->stream);
	put_launch(&details, launch);
	if (is_searched(frame))
		note_searched(frame, &details, launch);
	else
		tfs_hook_details(frame, &details);
}

void tfs_put_launch(struct tfs_details *details, const struct tfs_launch *launch)
{
	put_launch(details, launch);
	put_structures(details, launch);
}
