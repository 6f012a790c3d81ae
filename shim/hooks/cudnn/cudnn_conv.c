/* SPDX-License-Identifier: MIT */
#define TFS_HOT_HOOKS
#include <cudnn.h>
#include <stdatomic.h>

#include "shim/hooks/cudnn.h"
#include "shim/rewrites/convolution.h"
#include "shim/rewrites/rewrite.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudnn

/* A convolution call of any of the three directions, by the roles its arguments play. */
struct convolution {
	enum tfs_family family;
	cudnnHandle_t handle;
	const void *alpha;
	const void *beta;
	cudnnTensorDescriptor_t x_descriptor; /* data, or its gradient */
	const void *x;
	cudnnFilterDescriptor_t w_descriptor; /* filter, or its gradient */
	const void *w;
	cudnnTensorDescriptor_t y_descriptor; /* result, or its gradient */
	const void *y;
	cudnnConvolutionDescriptor_t convolution;
	int asked;
	int algorithm;
	const void *workspace;
	size_t workspace_bytes;
};

static uint32_t role(const struct convolution *call, enum tfs_family writes, uint32_t written)
{
	return call->family == writes ? written : TFS_ROLE_READ;
}

static void note(struct tfs_frame *frame, const struct convolution *call)
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
	if (call->asked != call->algorithm)
		tfs_put_attribute(&details, TFS_ATTRIBUTE_asked_algorithm, (uint64_t)call->asked);
	if (tfs_problem_read(call->family, call->x_descriptor, call->w_descriptor,
		    call->convolution, call->y_descriptor, &problem)) {
		tfs_put_attribute(&details, TFS_ATTRIBUTE_problem, tfs_problem_id(&problem));
		tfs_put_attribute(
			&details, TFS_ATTRIBUTE_math, (uint64_t)problem.fields[TFS_PROBLEM_math]);
	}
	tfs_hook_details(frame, &details);
}

static bool rewrites_take(const struct tfs_frame *frame)
{
	return (__atomic_load_n(&tfs_rewrites_taking, __ATOMIC_RELAXED) & TFS_TAKES_CONVOLUTIONS) !=
		       0 &&
	       frame->thread;
}

/* Lets rewrites change the algorithm and the workspace of a call that is about to be made. */
static void offer(const struct tfs_frame *frame, struct tfs_convolution_call *call)
{
	call->asked_algorithm = call->algorithm;
	if (!rewrites_take(frame))
		return;
	call->site = frame->entry->site;
	call->shown = true;
	tfs_rewrite_convolution(call);
}

static void show(struct tfs_convolution_call *call, cudnnStatus_t status)
{
	call->succeeded = status == CUDNN_STATUS_SUCCESS;
	if (call->shown)
		tfs_rewrite_convolved(call);
}

/* Did cuDNN refuse what a rewrite chose? Decisions come from a file, and an algorithm may ask more
 * of the pointers than descriptors tell. Nothing has run then: the call is the program's again. */
static bool taken_back(struct tfs_convolution_call *call, cudnnStatus_t status, void *workspace,
	size_t workspace_bytes)
{
	static _Atomic bool told;

	if (status == CUDNN_STATUS_SUCCESS || call->algorithm == call->asked_algorithm)
		return false;
	if (!atomic_exchange(&told, true))
		tfs_recorder_fact(TFS_FACT_search_refused, NULL, (uint64_t)status, 0);
	call->algorithm = call->asked_algorithm;
	call->workspace = workspace;
	call->workspace_bytes = workspace_bytes;
	return true;
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

struct workspace {
	const void *address;
	size_t bytes;
};

/* Before the call, as it will be made, or as it was asked for: says what memory it works on. */
static void tell(struct tfs_frame *frame, struct tfs_use *use,
	const struct tfs_convolution_call *call, const struct workspace *asked, const void *alpha,
	const void *beta, void *output)
{
	struct tfs_tensor x, w, y;
	struct tfs_operation operation;

	tfs_use_init(use, beta, output);
	if (!tfs_fills_followed(frame))
		return;
	struct tfs_use_call told = tfs_cudnn_use(frame, call->handle, alpha, beta);
	told.unknown = !tfs_tensor_read(call->x_descriptor, &x) ||
		       !tfs_filter_read(call->w_descriptor, &w) ||
		       !tfs_tensor_read(call->y_descriptor, &y);
	told.repeats = repeats(call);
	tfs_use_shape(&told, (uint64_t)call->algorithm);
	tfs_use_shape(&told, call->workspace_bytes);
	tfs_use_operation(&told, tfs_convolution_read(call->convolution, &operation), &operation);
	tfs_use_reads(&told, call->workspace, call->workspace_bytes);
	tfs_use_reads(&told, asked->address, asked->bytes);
	if (call->family == TFS_FAMILY_conv_backward_data)
		tfs_use_output(&told, &x, output, tfs_tensor_dense(&x), alpha, beta);
	else
		tfs_use_input(&told, &x, call->x);
	if (call->family == TFS_FAMILY_conv_backward_filter)
		tfs_use_output(&told, &w, output, tfs_filter_dense(&w), alpha, beta);
	else
		tfs_use_input(&told, &w, call->w);
	if (call->family == TFS_FAMILY_conv_forward)
		tfs_use_output(&told, &y, output, tfs_tensor_dense(&y), alpha, beta);
	else
		tfs_use_input(&told, &y, call->y);
	tfs_rewrite_use(&told, use);
}

TFS_HOOK(cudnnStatus_t, cudnnConvolutionForward,
	(cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t x_descriptor,
		const void *x, const cudnnFilterDescriptor_t w_descriptor, const void *w,
		const cudnnConvolutionDescriptor_t convolution, cudnnConvolutionFwdAlgo_t algorithm,
		void *workspace, size_t workspace_bytes, const void *beta,
		const cudnnTensorDescriptor_t y_descriptor, void *y))
{
	struct tfs_frame frame = TFS_ENTER_TELLING(cudnnConvolutionForward);
	struct tfs_convolution_call call = {.family = TFS_FAMILY_conv_forward,
		.handle = handle,
		.alpha = alpha,
		.beta = beta,
		.x_descriptor = x_descriptor,
		.w_descriptor = w_descriptor,
		.y_descriptor = y_descriptor,
		.convolution = convolution,
		.x = x,
		.w = w,
		.y = y,
		.algorithm = (int)algorithm,
		.workspace = workspace,
		.workspace_bytes = workspace_bytes};
	struct tfs_use use;
	cudnnStatus_t status;

	offer(&frame, &call);
	tell(&frame, &use, &call, &(struct workspace){workspace, workspace_bytes}, alpha, beta, y);
	do {
		status = TFS_REAL(cudnnConvolutionForward)(handle, alpha, x_descriptor, x,
			w_descriptor, w, convolution, (cudnnConvolutionFwdAlgo_t)call.algorithm,
			call.workspace, call.workspace_bytes, use.beta, y_descriptor, use.output);
	} while (tfs_use_again(&use, status) ||
		 taken_back(&call, status, workspace, workspace_bytes));
	show(&call, status);

	if (TFS_END(&frame, status, 0))
		note(&frame, &(struct convolution){TFS_FAMILY_conv_forward, handle, alpha, beta,
				     x_descriptor, x, w_descriptor, w, y_descriptor, y, convolution,
				     (int)algorithm, call.algorithm, call.workspace,
				     call.workspace_bytes});
	return TFS_LEAVE(&frame), status;
}

TFS_HOOK(cudnnStatus_t, cudnnConvolutionBackwardData,
	(cudnnHandle_t handle, const void *alpha, const cudnnFilterDescriptor_t w_descriptor,
		const void *w, const cudnnTensorDescriptor_t dy_descriptor, const void *dy,
		const cudnnConvolutionDescriptor_t convolution,
		cudnnConvolutionBwdDataAlgo_t algorithm, void *workspace, size_t workspace_bytes,
		const void *beta, const cudnnTensorDescriptor_t dx_descriptor, void *dx))
{
	struct tfs_frame frame = TFS_ENTER_TELLING(cudnnConvolutionBackwardData);
	struct tfs_convolution_call call = {.family = TFS_FAMILY_conv_backward_data,
		.handle = handle,
		.alpha = alpha,
		.beta = beta,
		.x_descriptor = dx_descriptor,
		.w_descriptor = w_descriptor,
		.y_descriptor = dy_descriptor,
		.convolution = convolution,
		.x = dx,
		.w = w,
		.y = dy,
		.algorithm = (int)algorithm,
		.workspace = workspace,
		.workspace_bytes = workspace_bytes};
	struct tfs_use use;
	cudnnStatus_t status;

	offer(&frame, &call);
	tell(&frame, &use, &call, &(struct workspace){workspace, workspace_bytes}, alpha, beta, dx);
	do {
		status = TFS_REAL(cudnnConvolutionBackwardData)(handle, alpha, w_descriptor, w,
			dy_descriptor, dy, convolution,
			(cudnnConvolutionBwdDataAlgo_t)call.algorithm, call.workspace,
			call.workspace_bytes, use.beta, dx_descriptor, use.output);
	} while (tfs_use_again(&use, status) ||
		 taken_back(&call, status, workspace, workspace_bytes));
	show(&call, status);

	if (TFS_END(&frame, status, 0))
		note(&frame, &(struct convolution){TFS_FAMILY_conv_backward_data, handle, alpha,
				     beta, dx_descriptor, dx, w_descriptor, w, dy_descriptor, dy,
				     convolution, (int)algorithm, call.algorithm, call.workspace,
				     call.workspace_bytes});
	return TFS_LEAVE(&frame), status;
}

TFS_HOOK(cudnnStatus_t, cudnnConvolutionBackwardFilter,
	(cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t x_descriptor,
		const void *x, const cudnnTensorDescriptor_t dy_descriptor, const void *dy,
		const cudnnConvolutionDescriptor_t convolution,
		cudnnConvolutionBwdFilterAlgo_t algorithm, void *workspace, size_t workspace_bytes,
		const void *beta, const cudnnFilterDescriptor_t dw_descriptor, void *dw))
{
	struct tfs_frame frame = TFS_ENTER_TELLING(cudnnConvolutionBackwardFilter);
	struct tfs_convolution_call call = {.family = TFS_FAMILY_conv_backward_filter,
		.handle = handle,
		.alpha = alpha,
		.beta = beta,
		.x_descriptor = x_descriptor,
		.w_descriptor = dw_descriptor,
		.y_descriptor = dy_descriptor,
		.convolution = convolution,
		.x = x,
		.w = dw,
		.y = dy,
		.algorithm = (int)algorithm,
		.workspace = workspace,
		.workspace_bytes = workspace_bytes};
	struct tfs_use use;
	cudnnStatus_t status;

	offer(&frame, &call);
	tell(&frame, &use, &call, &(struct workspace){workspace, workspace_bytes}, alpha, beta, dw);
	do {
		status = TFS_REAL(cudnnConvolutionBackwardFilter)(handle, alpha, x_descriptor, x,
			dy_descriptor, dy, convolution,
			(cudnnConvolutionBwdFilterAlgo_t)call.algorithm, call.workspace,
			call.workspace_bytes, use.beta, dw_descriptor, use.output);
	} while (tfs_use_again(&use, status) ||
		 taken_back(&call, status, workspace, workspace_bytes));
	show(&call, status);

	if (TFS_END(&frame, status, 0))
		note(&frame, &(struct convolution){TFS_FAMILY_conv_backward_filter, handle, alpha,
				     beta, x_descriptor, x, dw_descriptor, dw, dy_descriptor, dy,
				     convolution, (int)algorithm, call.algorithm, call.workspace,
				     call.workspace_bytes});
	return TFS_LEAVE(&frame), status;
}

static void tell_bias(struct tfs_frame *frame, struct tfs_use *use, cudnnHandle_t handle,
	const void *alpha, cudnnTensorDescriptor_t dy_descriptor, const void *dy, const void *beta,
	cudnnTensorDescriptor_t db_descriptor, void *db)
{
	struct tfs_tensor in, out;

	tfs_use_init(use, beta, db);
	if (!tfs_fills_followed(frame))
		return;
	struct tfs_use_call call = tfs_cudnn_use(frame, handle, alpha, beta);
	call.unknown =
		!tfs_tensor_read(dy_descriptor, &in) || !tfs_tensor_read(db_descriptor, &out);
	tfs_use_input(&call, &in, dy);
	tfs_use_output(&call, &out, db, tfs_tensor_dense(&out), alpha, beta);
	tfs_rewrite_use(&call, use);
}

TFS_HOOK(cudnnStatus_t, cudnnConvolutionBackwardBias,
	(cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t dy_descriptor,
		const void *dy, const void *beta, const cudnnTensorDescriptor_t db_descriptor,
		void *db))
{
	struct tfs_frame frame = TFS_ENTER_TELLING(cudnnConvolutionBackwardBias);
	struct tfs_use use;
	cudnnStatus_t status;

	tell_bias(&frame, &use, handle, alpha, dy_descriptor, dy, beta, db_descriptor, db);
	do {
		status = TFS_REAL(cudnnConvolutionBackwardBias)(
			handle, alpha, dy_descriptor, dy, use.beta, db_descriptor, use.output);
	} while (tfs_use_again(&use, status));

	if (TFS_END(&frame, status, 0)) {
		struct tfs_details details;

		tfs_cudnn_details(&details, handle);
		const int type = tfs_put_tensor(&details, dy_descriptor, dy, TFS_ROLE_READ);
		tfs_put_tensor(
			&details, db_descriptor, db, tfs_put_scalars(&details, alpha, beta, type));
		tfs_hook_details(&frame, &details);
	}
	return TFS_LEAVE(&frame), status;
}

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
	X(cudnnConvolutionBackwardBias, conv_backward_bias)                                        \
	X(cudnnConvolutionBiasActivationForward, conv_fused)

FUNCTIONS(TFS_FUNCTION_ROW)
