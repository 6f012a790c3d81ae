/* SPDX-License-Identifier: MIT */
#include "rules/evidence/copies.h"

#include "rules/evidence/steady.h"
#include "rules/timeline/timeline.h"

/* CUPTI's numbers of copies. */
enum { CUPTI_UP = 1, CUPTI_DOWN = 2, CUPTI_DEVICE = 8, CUPTI_HOST = 9, CUPTI_PEER = 10 };
/* cudaMemcpyKind. */
enum { KIND_HOST = 0, KIND_UP = 1, KIND_DOWN = 2, KIND_DEVICE = 3, KIND_DEFAULT = 4 };

/* Certainly: memory of a device that nobody saw allocated looks as pageable memory does. */
static bool on_host(uint32_t memory)
{
	return memory == TFS_MEMORY_PAGEABLE || memory == TFS_MEMORY_PINNED;
}

static enum tfs_direction of_cupti(uint32_t kind)
{
	switch (kind) {
	case CUPTI_UP:
		return TFS_COPY_UP;
	case CUPTI_DOWN:
		return TFS_COPY_DOWN;
	case CUPTI_DEVICE:
	case CUPTI_PEER:
		return TFS_COPY_DEVICE;
	case CUPTI_HOST:
		return TFS_COPY_HOST;
	default:
		return TFS_COPY_UNKNOWN;
	}
}

static enum tfs_direction of_stated(uint64_t kind)
{
	switch (kind) {
	case KIND_UP:
		return TFS_COPY_UP;
	case KIND_DOWN:
		return TFS_COPY_DOWN;
	case KIND_DEVICE:
		return TFS_COPY_DEVICE;
	case KIND_HOST:
		return TFS_COPY_HOST;
	default:
		return TFS_COPY_UNKNOWN;
	}
}

static enum tfs_direction of_memory(uint32_t source, uint32_t target)
{
	bool up = target == TFS_MEMORY_DEVICE, down = source == TFS_MEMORY_DEVICE;

	if (source == TFS_MEMORY_MANAGED || target == TFS_MEMORY_MANAGED)
		return TFS_COPY_MANAGED;
	if (up && down)
		return TFS_COPY_DEVICE;
	if (up)
		return TFS_COPY_UP;
	if (down)
		return TFS_COPY_DOWN;
	return on_host(source) && on_host(target) ? TFS_COPY_HOST : TFS_COPY_UNKNOWN;
}

static const struct tfs_device_op_record *copy_op(
	const struct tfs_timeline *timeline, const struct tfs_host_call *call)
{
	for (uint32_t i = 0; i < call->op_count; i++) {
		uint32_t op = timeline->call_ops[call->first_op + i];

		if (timeline->ops[op].record->operation == TFS_DEVICE_MEMCPY)
			return timeline->ops[op].record;
	}
	return NULL;
}

bool tfs_copy_describe(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	struct tfs_copy *out_copy)
{
	struct tfs_copy copy = {.bytes = call->record->amount};
	struct tfs_operand operand, source = {0}, target = {0}, *host, *device;
	const struct tfs_device_op_record *op = copy_op(timeline, call);
	uint64_t stated = tfs_steady_attribute(call, TFS_ATTRIBUTE_copy_kind, KIND_DEFAULT);
	bool rewritten = tfs_steady_attribute(call, TFS_ATTRIBUTE_rewritten, 0) != 0;
	unsigned cursor = 0;

	if (call->family != TFS_FAMILY_copy && call->family != TFS_FAMILY_copy_async)
		return false;
	copy.async = call->family == TFS_FAMILY_copy_async;
	while (tfs_operand_next(timeline, call, &cursor, &operand)) {
		if (operand.role & TFS_ROLE_WRITE)
			target = operand;
		else if (operand.role & TFS_ROLE_READ)
			source = operand;
	}
	if (op)
		copy.direction = of_cupti(op->copy_kind);
	if (copy.direction == TFS_COPY_UNKNOWN)
		copy.direction = of_stated(stated);
	if (copy.direction == TFS_COPY_UNKNOWN)
		copy.direction = of_memory(source.memory, target.memory);
	host = copy.direction == TFS_COPY_DOWN ? &target : &source;
	device = copy.direction == TFS_COPY_DOWN ? &source : &target;
	copy.device_address = device->address;
	copy.host_address = host->address;
	copy.host_memory = host->memory;
	/* A rewrite's own copy is between other places than the program's. */
	if (op && !rewritten) {
		uint32_t kind = copy.direction == TFS_COPY_DOWN ? op->target_kind : op->source_kind;

		if (kind != TFS_MEMORY_UNKNOWN)
			copy.host_memory = kind;
	}
	if (copy.host_memory == TFS_MEMORY_HOST)
		copy.host_memory = rewritten ? TFS_MEMORY_PAGEABLE : TFS_MEMORY_UNKNOWN;
	*out_copy = copy;
	return true;
}
