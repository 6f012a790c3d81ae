/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/backend/cudnn_backend_op.h"

static const struct tfs_backend_op *const ops[] = {
	&tfs_op_conv_forward,
	&tfs_op_conv_data,
	&tfs_op_conv_filter,
	&tfs_op_matmul,
	&tfs_op_norm_training,
	&tfs_op_norm_backward,
	&tfs_op_pointwise,
	&tfs_op_reduction,
	&tfs_op_reshape,
	&tfs_op_rng,
	&tfs_op_sdpa_forward,
	&tfs_op_sdpa_backward,
};

const struct tfs_backend_op *tfs_backend_op_find(cudnnBackendDescriptorType_t type)
{
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (ops[i]->type == type)
			return ops[i];
	return NULL;
}

const struct tfs_backend_op *tfs_backend_op_of(const struct tfs_backend *desc)
{
	if (desc->type == CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR &&
		tfs_backend_int(desc, CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, 0) ==
			CUDNN_NORM_FWD_INFERENCE)
		return &tfs_op_norm_inference;
	return tfs_backend_op_find(desc->type);
}

cudnnStatus_t tfs_op_check_tensors(const struct tfs_backend *desc, const struct tfs_backend_op *op)
{
	for (int side = 0; side < 2; side++)
		for (const int *name = side ? op->outputs : op->inputs; *name; name++) {
			const struct tfs_backend *tensor =
				tfs_backend_child(desc, (cudnnBackendAttributeName_t)*name);

			if (tensor && tensor->type != CUDNN_BACKEND_TENSOR_DESCRIPTOR)
				return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE,
					"an operand is no tensor");
		}
	return CUDNN_STATUS_SUCCESS;
}
