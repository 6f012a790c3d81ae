/* SPDX-License-Identifier: MIT */
#include "rules/device/kernels.h"

#include <string.h>

#include "rules/evidence/steady.h"

#define ARGUMENTS 16u
/* A kernel's flag in the recording: the threads of a block have memory in common. */
#define SHARES 4u

static uint64_t threads(const struct tfs_host_call *call, uint64_t *out_block)
{
	uint64_t grid = tfs_steady_attribute(call, TFS_ATTRIBUTE_grid, 0);
	uint64_t block = tfs_steady_attribute(call, TFS_ATTRIBUTE_block, 0);
	uint64_t deep = tfs_steady_attribute(call, TFS_ATTRIBUTE_grid_z, UINT64_C(1) << 32 | 1);
	uint64_t per_block = (block & 0xffffffff) * (block >> 32) * (deep >> 32);

	*out_block = per_block;
	return (grid & 0xffffffff) * (grid >> 32) * (deep & 0xffffffff) * per_block;
}

static uint32_t arguments(const struct tfs_host_call *call, uint64_t *out_values)
{
	const struct tfs_item *items;
	unsigned count = tfs_call_items(call->record, &items), found = 0;

	for (unsigned i = 0; i < count && found < ARGUMENTS; i++)
		if (!TFS_ITEM_ROLE(&items[i]) && TFS_ITEM_LOW(&items[i]) == TFS_ATTRIBUTE_argument)
			out_values[found++] = items[i].value;
	return found;
}

/* Threads of a block that share memory, by the launch or by the kernel's own declaration, exchange
 * values. */
static bool shares(const struct tfs_timeline *timeline, const struct tfs_host_call *call)
{
	bool found = tfs_steady_attribute(call, TFS_ATTRIBUTE_shared, 0) != 0;

	for (uint32_t i = 0; i < call->op_count; i++)
		found |= (timeline->ops[timeline->call_ops[call->first_op + i]].record->flags &
				 SHARES) != 0;
	return found;
}

/* One thread for one, two, four or eight elements, the last block not empty. */
static bool covers(uint64_t count, uint64_t all_threads, uint64_t block)
{
	for (unsigned each = 1; each <= 8; each *= 2) {
		uint64_t wanted = (count + each - 1) / each;

		if (count && wanted <= all_threads && wanted + block > all_threads)
			return true;
	}
	return false;
}

static uint64_t element_bytes(
	const struct tfs_timeline *timeline, const struct tfs_operand *operand, uint64_t count)
{
	uint64_t room = operand->bytes;

	if (operand->range != TFS_NONE && !room)
		room = timeline->ranges[operand->range].address +
		       timeline->ranges[operand->range].bytes - operand->address;
	for (uint64_t size = 8; size >= 1; size /= 2)
		if (count && room == size * count)
			return size;
	return count && room / 4 >= count ? 4 : 0;
}

bool tfs_kernel_elementwise(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	struct tfs_kernel_shape *out_shape)
{
	struct tfs_kernel_shape shape = {0};
	uint64_t values[ARGUMENTS], block, all = threads(call, &block), largest = 0;
	uint32_t count = arguments(call, values);
	struct tfs_operand operand;
	unsigned cursor = 0;

	if (call->family != TFS_FAMILY_launch || call->record->status || shares(timeline, call))
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (covers(values[i], all, block) && values[i] > shape.count)
			shape.count = values[i];
	if (!shape.count)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		shape.zero |= !values[i];
		shape.others += values[i] && values[i] != shape.count;
	}
	while (tfs_operand_next(timeline, call, &cursor, &operand)) {
		uint64_t size = element_bytes(timeline, &operand, shape.count);

		if (!size) {
			shape.small_count++;
			continue;
		}
		if (shape.full_count == TFS_KERNEL_POINTERS)
			return false;
		largest = size > largest ? size : largest;
		shape.full[shape.full_count++] = operand;
	}
	shape.bytes = shape.count * largest;
	for (uint32_t i = 0; i < shape.full_count; i++)
		shape.full[i].bytes = shape.bytes;
	*out_shape = shape;
	return shape.full_count > 0;
}

bool tfs_kernel_fills_zero(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	struct tfs_operand *out_target)
{
	struct tfs_kernel_shape shape;

	if (!tfs_kernel_elementwise(timeline, call, &shape))
		return false;
	*out_target = shape.full[0];
	return shape.full_count == 1 && !shape.small_count && shape.zero && !shape.others;
}

bool tfs_kernel_unseen(const struct tfs_timeline *timeline, const struct tfs_host_call *call)
{
	struct tfs_operand operand;
	unsigned cursor = 0;

	return call->family == TFS_FAMILY_launch && !call->record->status &&
	       !tfs_operand_next(timeline, call, &cursor, &operand);
}
