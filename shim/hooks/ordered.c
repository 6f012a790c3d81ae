/* SPDX-License-Identifier: MIT */
#include "shim/hooks/ordered.h"

#include "shim/hooks/memory.h"
#include "shim/hooks/notes.h"
#include "shim/rewrites/memory/pool_functions.h"
#include "shim/state/pools.h"

void tfs_ordered_before(const struct tfs_frame *frame, struct tfs_op *op)
{
	tfs_before_alloc(op->ordered.bytes, true, op->driver);
	if (!tfs_is_wanted(frame, TFS_OP_ORDERED))
		return;
	op->ordered.device = tfs_current_device(op->driver);
	tfs_take(frame, op);
}

bool tfs_ordered_make_room(const struct tfs_op *op)
{
	return tfs_make_room(op->status, op->driver);
}

void tfs_ordered_after(struct tfs_frame *frame, struct tfs_op *op, uint64_t address)
{
	const bool good = op->status == 0 && frame->thread;
	const struct tfs_pool_functions *use =
		good && frame->wanted != 0 ? tfs_pool_functions(op->driver) : NULL;
	struct tfs_pool_known known = {0};
	void *pool = op->ordered.pool;

	tfs_again(op);
	const uint32_t device = good ? tfs_current_device(op->driver) : 0;
	/* Cannot fail after an allocation that succeeded, so the program's last error is its own.
	 */
	if (use && (pool || use->current(&pool, (int)device) == 0))
		tfs_pools_find(pool, &known);
	tfs_note_ordered(frame, op->status,
		(struct tfs_range){
			.address = good ? address : 0,
			.bytes = op->ordered.bytes,
			.kind = TFS_MEMORY_DEVICE,
			.device = device,
			.flags = TFS_RANGE_ORDERED,
		},
		known.keeps);
}
