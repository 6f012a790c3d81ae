/* SPDX-License-Identifier: MIT */
/* The same memory with other dimensions and strides, which may be a transposition. */
#include <string.h>

#include "tests/sim/cudnn/backend/cudnn_backend_op.h"

#define ATTR(name) CUDNN_ATTR_OPERATION_RESHAPE_##name

static cudnnStatus_t check(const struct tfs_backend *op)
{
	cudnnStatus_t rc = tfs_op_check_tensors(op, &tfs_op_reshape);
	struct tfs_view x, y;

	if (rc)
		return rc;
	x = tfs_op_view(op, ATTR(XDESC));
	y = tfs_op_view(op, ATTR(YDESC));
	if (tfs_view_count(&x) != tfs_view_count(&y))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "reshape");
	return CUDNN_STATUS_SUCCESS;
}

static const char *unsupported(const struct tfs_backend *op)
{
	struct tfs_view x = tfs_op_view(op, ATTR(XDESC)), y = tfs_op_view(op, ATTR(YDESC));

	return tfs_view_span(&x) == tfs_view_span(&y) ? NULL : "reshape to other memory";
}

static bool sliceable(const struct tfs_backend *op)
{
	struct tfs_view x = tfs_op_view(op, ATTR(XDESC)), y = tfs_op_view(op, ATTR(YDESC));

	return x.dim[0] == y.dim[0] && x.stride[0] == y.stride[0];
}

static uint64_t flops(const struct tfs_backend *op)
{
	(void)op;
	return 0;
}

static int run(struct tfs_exec *exec, const struct tfs_step *step)
{
	struct tfs_array x = tfs_exec_array(exec, step, ATTR(XDESC));
	struct tfs_array y = tfs_exec_array(exec, step, ATTR(YDESC));

	memcpy(y.data, x.data, tfs_dnn_bytes(&y.view));
	return 0;
}

const struct tfs_backend_op tfs_op_reshape = {
	.type = CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR,
	.inputs = {ATTR(XDESC)},
	.outputs = {ATTR(YDESC)},
	.check = check,
	.unsupported = unsupported,
	.sliceable = sliceable,
	.flops = flops,
	.run = run,
};
