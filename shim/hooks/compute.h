/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOKS_COMPUTE_H
#define TFS_SHIM_HOOKS_COMPUTE_H

/* The hooks of library calls that compute something of memory that they are given, and tell
 * rewrites of all of it: cuBLAS's and cuDNN's. They differ in what they are called with. */

#include "shim/hooks/take.h"
#include "shim/rewrites/fills.h"

/* Nothing else of the operation is set: most are asked about by nobody. */
static inline void tfs_compute_op(
	struct tfs_op *op, enum tfs_op_kind kind, struct tfs_op_compute compute)
{
	op->kind = kind;
	op->minded = 0;
	op->compute = compute;
}

/* `op_kind` is TFS_OP_COMPUTE or TFS_OP_CONVOLVE, `target` what is written; the arguments are those
 * of the call as `op` says now. What follows are fields of `call`, a `description`, which note()
 * writes down and the file's tell() says the memory of. */
#define TFS_COMPUTE_HOOK(                                                                          \
	type, name, op_kind, target, description, note, parameters, arguments, ...)                \
	TFS_HOOK(type, name, parameters)                                                           \
	{                                                                                          \
		struct tfs_frame frame = TFS_ENTER_TELLING(name);                                  \
		description call = {__VA_ARGS__};                                                  \
		struct tfs_use own;                                                                \
		struct tfs_op op;                                                                  \
                                                                                                   \
		tfs_compute_op(                                                                    \
			&op, op_kind, (struct tfs_op_compute){beta, target, tell, &own, {&call}}); \
		if (!tfs_take(&frame, &op))                                                        \
			do                                                                         \
				op.status = (uint32_t)TFS_REAL(name) arguments;                    \
			while (tfs_again(&op));                                                    \
		if (TFS_END(&frame, op.status, 0))                                                 \
			note(&frame, &call);                                                       \
		return TFS_LEAVE(&frame), (type)op.status;                                         \
	}

#endif
