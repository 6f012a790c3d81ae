/* SPDX-License-Identifier: MIT */
#define TFS_HOT_HOOKS
#include <cudnn.h>

#include "shim/hooks/compute.h"
#include "shim/hooks/cudnn.h"
#include "shim/rewrites/convolution.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudnn

static uint32_t role(
	const struct tfs_convolution_call *call, enum tfs_family writes, uint32_t written)
{
	return call->family == writes ? written : TFS_ROLE_READ;
}

static void note(struct tfs_frame *frame, const struct tfs_convolution_call *call)
{
	struct tfs_details details;
	struct tfs_problem problem;
	struct tfs_tensor tensor;

	tfs_cudnn_details(&details, call->handle);
	tfs_tensor_read(call->x_descriptor, &tensor);
	const uint32_t written = tfs_put_scalars(&details, call->alpha, call->beta, tensor.type);
	tfs_put_tensor(&details, call->x_descriptor, call->x,
		role(call, TFS_FAMILY_conv_backward_data, written));
	tfs_put_filter(&details, call->w_descriptor, call->w,
		role(call, TFS_FAMILY_conv_backward_filter, written));
	tfs_put_tensor(&details, call->y_descriptor, call->y,
		role(call, TFS_FAMILY_conv_forward, written));
	tfs_put_workspace(&details, call->workspace, call->workspace_bytes);
	tfs_put_attribute(&details, TFS_ATTRIBUTE_algorithm, (uint64_t)call->algorithm);
	if (call->asked_algorithm != call->algorithm)
		tfs_put_attribute(
			&details, TFS_ATTRIBUTE_asked_algorithm, (uint64_t)call->asked_algorithm);
	if (tfs_problem_read(call->family, call->x_descriptor, call->w_descriptor,
		    call->convolution, call->y_descriptor, &problem)) {
		tfs_put_attribute(&details, TFS_ATTRIBUTE_problem, tfs_problem_id(&problem));
		tfs_put_attribute(
			&details, TFS_ATTRIBUTE_math, (uint64_t)problem.fields[TFS_PROBLEM_math]);
	}
	tfs_hook_details(frame, &details);
}

/* Those that documentation calls "not deterministic". */
static bool repeats(const struct tfs_convolution_call *call)
{
	switch (call->family) {
	case TFS_FAMILY_conv_backward_filter:
		return call->algorithm != CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0 &&
		       call->algorithm != CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3;
	case TFS_FAMILY_conv_backward_data:
		return call->algorithm != CUDNN_CONVOLUTION_BWD_DATA_ALGO_0;
	default:
		return true;
	}
}

/* Before the call, as it will be made, or as it was asked for: says what memory it works on. */
static void tell(const struct tfs_op *op, struct tfs_use_call *told)
{
	const struct tfs_convolution_call *call = op->compute.convolution;
	const void *const alpha = call->alpha, *const beta = call->beta;
	void *const output = op->compute.output;
	struct tfs_tensor x, w, y;
	struct tfs_operation operation;

	tfs_cudnn_use(told, call->handle, alpha, beta);
	told->unknown = !tfs_tensor_read(call->x_descriptor, &x) ||
			!tfs_filter_read(call->w_descriptor, &w) ||
			!tfs_tensor_read(call->y_descriptor, &y);
	told->repeats = repeats(call);
	tfs_use_shape(told, (uint64_t)call->algorithm);
	tfs_use_shape(told, call->workspace_bytes);
	tfs_use_operation(told, tfs_convolution_read(call->convolution, &operation), &operation);
	tfs_use_reads(told, call->workspace, call->workspace_bytes);
	tfs_use_reads(told, call->asked_workspace, call->asked_bytes);
	if (call->family == TFS_FAMILY_conv_backward_data)
		tfs_use_output(told, &x, output, tfs_tensor_dense(&x), alpha, beta);
	else
		tfs_use_input(told, &x, call->x);
	if (call->family == TFS_FAMILY_conv_backward_filter)
		tfs_use_output(told, &w, output, tfs_filter_dense(&w), alpha, beta);
	else
		tfs_use_input(told, &w, call->w);
	if (call->family == TFS_FAMILY_conv_forward)
		tfs_use_output(told, &y, output, tfs_tensor_dense(&y), alpha, beta);
	else
		tfs_use_input(told, &y, call->y);
}

/* The three directions: they differ in the order of their arguments, and in what they write. */
#define CONVOLUTION_HOOK(name, direction, output, parameters, arguments)                           \
	TFS_COMPUTE_HOOK(cudnnStatus_t, name, TFS_OP_CONVOLVE, output,                             \
		struct tfs_convolution_call, note, parameters, arguments,                          \
		.family = TFS_FAMILY_##direction, .handle = handle, .x_descriptor = x_descriptor,  \
		.w_descriptor = w_descriptor, .y_descriptor = y_descriptor,                        \
		.convolution = convolution, .x = x, .w = w, .y = y, .algorithm = (int)algorithm,   \
		.workspace = workspace, .workspace_bytes = workspace_bytes, .alpha = alpha,        \
		.beta = beta, .asked_algorithm = (int)algorithm, .asked_workspace = workspace,     \
		.asked_bytes = workspace_bytes)

CONVOLUTION_HOOK(cudnnConvolutionForward, conv_forward, y,
	(cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t x_descriptor,
		const void *x, const cudnnFilterDescriptor_t w_descriptor, const void *w,
		const cudnnConvolutionDescriptor_t convolution, cudnnConvolutionFwdAlgo_t algorithm,
		void *workspace, size_t workspace_bytes, const void *beta,
		const cudnnTensorDescriptor_t y_descriptor, void *y),
	(handle, alpha, x_descriptor, x, w_descriptor, w, convolution,
		(cudnnConvolutionFwdAlgo_t)call.algorithm, call.workspace, call.workspace_bytes,
		op.compute.beta, y_descriptor, op.compute.output))
CONVOLUTION_HOOK(cudnnConvolutionBackwardData, conv_backward_data, x,
	(cudnnHandle_t handle, const void *alpha, const cudnnFilterDescriptor_t w_descriptor,
		const void *w, const cudnnTensorDescriptor_t y_descriptor, const void *y,
		const cudnnConvolutionDescriptor_t convolution,
		cudnnConvolutionBwdDataAlgo_t algorithm, void *workspace, size_t workspace_bytes,
		const void *beta, const cudnnTensorDescriptor_t x_descriptor, void *x),
	(handle, alpha, w_descriptor, w, y_descriptor, y, convolution,
		(cudnnConvolutionBwdDataAlgo_t)call.algorithm, call.workspace, call.workspace_bytes,
		op.compute.beta, x_descriptor, op.compute.output))
CONVOLUTION_HOOK(cudnnConvolutionBackwardFilter, conv_backward_filter, w,
	(cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t x_descriptor,
		const void *x, const cudnnTensorDescriptor_t y_descriptor, const void *y,
		const cudnnConvolutionDescriptor_t convolution,
		cudnnConvolutionBwdFilterAlgo_t algorithm, void *workspace, size_t workspace_bytes,
		const void *beta, const cudnnFilterDescriptor_t w_descriptor, void *w),
	(handle, alpha, x_descriptor, x, y_descriptor, y, convolution,
		(cudnnConvolutionBwdFilterAlgo_t)call.algorithm, call.workspace,
		call.workspace_bytes, op.compute.beta, w_descriptor, op.compute.output))

TFS_HOOK(cudnnStatus_t, cudnnConvolutionBiasActivationForward,
	(cudnnHandle_t handle, const void *alpha1, const cudnnTensorDescriptor_t x_descriptor,
		const void *x, const cudnnFilterDescriptor_t w_descriptor, const void *w,
		const cudnnConvolutionDescriptor_t convolution, cudnnConvolutionFwdAlgo_t algorithm,
		void *workspace, size_t workspace_bytes, const void *alpha2,
		const cudnnTensorDescriptor_t z_descriptor, const void *z,
		const cudnnTensorDescriptor_t bias_descriptor, const void *bias,
		const cudnnActivationDescriptor_t activation,
		const cudnnTensorDescriptor_t y_descriptor, void *y))
{
	struct tfs_frame frame = TFS_ENTER(cudnnConvolutionBiasActivationForward);
	const cudnnStatus_t status =
		TFS_REAL(cudnnConvolutionBiasActivationForward)(handle, alpha1, x_descriptor, x,
			w_descriptor, w, convolution, algorithm, workspace, workspace_bytes, alpha2,
			z_descriptor, z, bias_descriptor, bias, activation, y_descriptor, y);

	if (TFS_END(&frame, status, 0)) {
		struct tfs_details details;
		struct tfs_problem problem;

		tfs_cudnn_details(&details, handle);
		const int type = tfs_put_tensor(&details, x_descriptor, x, TFS_ROLE_READ);
		tfs_put_filter(&details, w_descriptor, w, TFS_ROLE_READ);
		tfs_put_tensor(&details, bias_descriptor, bias, TFS_ROLE_READ);
		if (tfs_cudnn_scalar(alpha2, type) != 0)
			tfs_put_tensor(&details, z_descriptor, z, TFS_ROLE_READ);
		tfs_put_tensor(&details, y_descriptor, y, TFS_ROLE_WRITE);
		tfs_put_workspace(&details, workspace, workspace_bytes);
		tfs_put_attribute(&details, TFS_ATTRIBUTE_algorithm, (uint64_t)algorithm);
		if (tfs_problem_read(TFS_FAMILY_conv_forward, x_descriptor, w_descriptor,
			    convolution, y_descriptor, &problem))
			tfs_put_attribute(
				&details, TFS_ATTRIBUTE_problem, tfs_problem_id(&problem));
		tfs_hook_details(&frame, &details);
	}
	return TFS_LEAVE(&frame), status;
}

#define FUNCTIONS(X)                                                                               \
	X(cudnnConvolutionForward, conv_forward)                                                   \
	X(cudnnConvolutionBackwardData, conv_backward_data)                                        \
	X(cudnnConvolutionBackwardFilter, conv_backward_filter)                                    \
	X(cudnnConvolutionBiasActivationForward, conv_fused)

FUNCTIONS(TFS_FUNCTION_ROW)
