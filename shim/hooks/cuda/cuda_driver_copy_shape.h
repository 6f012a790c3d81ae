/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOKS_CUDA_CUDA_DRIVER_COPY_SHAPE_H
#define TFS_SHIM_HOOKS_CUDA_CUDA_DRIVER_COPY_SHAPE_H

/* What the driver's hooks on copies of several dimensions share. Any thread, inside a hook. */

#include "shim/hooks/cuda.h"

/* A copy of three dimensions, as the node of a graph, in its call's details. */
void tfs_cuda_put_copy(struct tfs_details *details, const CUDA_MEMCPY3D *copy);

/* Copies were asked for, all in one call; ends the frame. */
void tfs_cuda_note_batch_3d(struct tfs_frame *frame, CUresult status,
	const CUDA_MEMCPY3D_BATCH_OP *copies, size_t count, uint16_t stream);

#endif
