/* SPDX-License-Identifier: MIT */
#include "rules/device/used.h"

#include "rules/device/zeroing.h"

struct tfs_used tfs_used_by(const struct tfs_timeline *timeline, const struct tfs_host_call *call)
{
	struct tfs_used operands = {.count = 0};
	struct tfs_operand more;
	unsigned cursor = 0;

	while (operands.count < TFS_USED_OPERANDS &&
		tfs_operand_next(timeline, call, &cursor, &operands.items[operands.count]))
		operands.count++;
	operands.whole = !tfs_operand_next(timeline, call, &cursor, &more);
	return operands;
}

static uint64_t end_of(const struct tfs_timeline *timeline, const struct tfs_operand *operand)
{
	const struct tfs_allocation *range;

	if (operand->bytes || operand->range == TFS_NONE)
		return operand->address + (operand->bytes ? operand->bytes : 1);
	range = &timeline->ranges[operand->range];
	return range->address + range->bytes;
}

bool tfs_used_both(const struct tfs_timeline *timeline, const struct tfs_used *one,
	const struct tfs_used *other)
{
	const uint32_t writes = TFS_ROLE_WRITE | TFS_ROLE_MAYBE;

	for (unsigned i = 0; i < one->count; i++)
		for (unsigned j = 0; j < other->count; j++) {
			const struct tfs_operand *a = &one->items[i], *b = &other->items[j];

			if ((a->role | b->role) & writes && a->address < end_of(timeline, b) &&
				b->address < end_of(timeline, a))
				return true;
		}
	return false;
}

bool tfs_used_unknown(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	const struct tfs_used *operands)
{
	if (call->family == TFS_FAMILY_launch)
		return !operands->count || !operands->whole;
	return tfs_zeros_opaque(timeline, call) || !operands->whole;
}
