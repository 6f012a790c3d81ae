/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOKS_FILL_H
#define TFS_SHIM_HOOKS_FILL_H

/* The hooks of fills, the runtime's and the driver's: they differ in what they are called with. */

#include "shim/hooks/notes.h"
#include "shim/hooks/take.h"
#include "shim/rewrites/memory/blocks.h"

/* A fill and its twin, on the stream `queue`; what follows are all fields of the operation's
 * `fill`. */
#define TFS_FILL_HOOKS(type, name, suffix, parameters, arguments, queue, ...)                      \
	TFS_TELLING_TWIN_HOOKS(type, name, suffix, parameters, arguments)                          \
	{                                                                                          \
		struct tfs_op op = {.kind = TFS_OP_FILL,                                           \
			.driver = TFS_BY_DRIVER,                                                   \
			.per_thread = per_thread,                                                  \
			.stream = (queue),                                                         \
			.fill = {__VA_ARGS__}};                                                    \
                                                                                                   \
		tfs_blocks_given(op.fill.target, NULL);                                            \
		if (!tfs_take(&frame, &op))                                                        \
			do                                                                         \
				op.status = TFS_TWIN_REAL(name) arguments;                         \
			while (tfs_again(&op));                                                    \
		if (TFS_END(&frame, op.status, op.fill.bytes))                                     \
			tfs_note_fill(&frame, &op);                                                \
		return TFS_LEAVE(&frame), (type)op.status;                                         \
	}

#endif
