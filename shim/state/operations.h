/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_STATE_OPERATIONS_H
#define TFS_SHIM_STATE_OPERATIONS_H

/*
 * What cuDNN's descriptors of activations, poolings and convolutions say, all of it, as numbers
 * that tell one operation from another. Read by cuDNN's own getters, for rewrites; inside a hook,
 * with hooks off. Any thread.
 */

#include <cudnn.h>
#include <stdbool.h>
#include <stdint.h>

#define TFS_OPERATION_PARTS 26u /* of a convolution in the most dimensions there may be */

struct tfs_operation {
	uint32_t count;
	uint64_t parts[TFS_OPERATION_PARTS];
};

/* False when the descriptor, or something in it, cannot be read. */
bool tfs_activation_read(cudnnActivationDescriptor_t activation, struct tfs_operation *out);
bool tfs_pooling_read(cudnnPoolingDescriptor_t pooling, struct tfs_operation *out);
bool tfs_convolution_read(cudnnConvolutionDescriptor_t convolution, struct tfs_operation *out);

#endif
