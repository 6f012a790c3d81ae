/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CUDNN_BACKEND_OP_H
#define TFS_TESTS_SIM_CUDNN_BACKEND_OP_H

/* The operations of the backend API. */

#include "tests/sim/cudnn/backend/cudnn_opgraph.h"

extern const struct tfs_backend_op tfs_op_conv_forward;
extern const struct tfs_backend_op tfs_op_conv_data;
extern const struct tfs_backend_op tfs_op_conv_filter;
extern const struct tfs_backend_op tfs_op_matmul;
extern const struct tfs_backend_op tfs_op_norm_inference;
extern const struct tfs_backend_op tfs_op_norm_training;
extern const struct tfs_backend_op tfs_op_norm_backward;
extern const struct tfs_backend_op tfs_op_pointwise;
extern const struct tfs_backend_op tfs_op_reduction;
extern const struct tfs_backend_op tfs_op_reshape;
extern const struct tfs_backend_op tfs_op_rng;
extern const struct tfs_backend_op tfs_op_sdpa_forward;
extern const struct tfs_backend_op tfs_op_sdpa_backward;

/* Whether the operation has a tensor of this attribute. */
static inline bool tfs_op_given(const struct tfs_backend *op, int attribute)
{
	return tfs_backend_child(op, (cudnnBackendAttributeName_t)attribute);
}

/* The view of an operation's tensor; rank 0 when it has none. */
static inline struct tfs_view tfs_op_view(const struct tfs_backend *desc, int attribute)
{
	return tfs_tensor_view(tfs_backend_child(desc, (cudnnBackendAttributeName_t)attribute));
}

/* Success when the descriptors of the attributes that are set are tensors. */
cudnnStatus_t tfs_op_check_tensors(const struct tfs_backend *desc, const struct tfs_backend_op *op);

#endif
