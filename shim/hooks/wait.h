/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOKS_WAIT_H
#define TFS_SHIM_HOOKS_WAIT_H

/* How the runtime's and the driver's waits are described, for the call's own thread. */

#include "shim/hooks/take.h"

static inline __attribute__((always_inline)) struct tfs_op tfs_wait_op(
	enum tfs_sync what, const void *handle, bool per_thread, bool driver)
{
	return (struct tfs_op){.kind = TFS_OP_WAIT,
		.per_thread = per_thread,
		.driver = driver,
		.wait = {.what = what, .handle = (void *)(uintptr_t)handle}};
}

/* Before a call that tells what is finished, or that ends a stream. */
static inline __attribute__((always_inline)) void tfs_before_wait(
	const struct tfs_frame *frame, enum tfs_sync what, bool driver)
{
	struct tfs_op op = tfs_wait_op(what, NULL, false, driver);

	tfs_take(frame, &op);
}

#endif
