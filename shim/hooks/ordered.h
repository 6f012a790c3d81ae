/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOKS_ORDERED_H
#define TFS_SHIM_HOOKS_ORDERED_H

/* The hooks of stream-ordered allocations, the runtime's and the driver's. */

#include "shim/hooks/take.h"

/* Before the call; after it failed, whether it is worth another try; after it. */
void tfs_ordered_before(const struct tfs_frame *frame, struct tfs_op *op);
bool tfs_ordered_make_room(const struct tfs_op *op);
void tfs_ordered_after(struct tfs_frame *frame, struct tfs_op *op, uint64_t address);

/* An allocation, and its twin, of `bytes` bytes for `out` from the pool `from`. */
#define TFS_ORDERED_HOOKS(type, name, parameters, arguments, from)                                 \
	TFS_TWIN_HOOKS(type, name, _ptsz, parameters, arguments)                                   \
	{                                                                                          \
		struct tfs_op op = {.kind = TFS_OP_ORDERED,                                        \
			.driver = TFS_BY_DRIVER,                                                   \
			.ordered = {.pool = (from), .bytes = bytes}};                              \
                                                                                                   \
		(void)per_thread;                                                                  \
		tfs_ordered_before(&frame, &op);                                                   \
		do                                                                                 \
			op.status = TFS_TWIN_REAL(name) arguments;                                 \
		while (tfs_ordered_make_room(&op));                                                \
		tfs_ordered_after(&frame, &op, op.status == 0 ? (uint64_t)(uintptr_t)*out : 0);    \
		return (type)op.status;                                                            \
	}

#endif
