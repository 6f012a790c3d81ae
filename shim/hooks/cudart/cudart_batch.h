/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOKS_CUDART_CUDART_BATCH_H
#define TFS_SHIM_HOOKS_CUDART_CUDART_BATCH_H

/* What the hooks on the runtime's batches of copies share, without the runtime's header: its
 * prototypes are of one version. Any thread, inside a hook. */

#include <driver_types.h>

#include "shim/record/hook.h"

/* Copies were asked for, all in one call; ends the frame. */
void tfs_cudart_note_batch_3d(struct tfs_frame *frame, cudaError_t status,
	const struct cudaMemcpy3DBatchOp *copies, size_t count, uint16_t stream);

#endif
