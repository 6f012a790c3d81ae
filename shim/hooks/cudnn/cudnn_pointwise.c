/* SPDX-License-Identifier: MIT */
#define TFS_HOT_HOOKS
#include <cudnn.h>

#include "shim/hooks/cudnn.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudnn

/* One tensor that a call works on; the output is the one marked so. */
struct operand {
	cudnnTensorDescriptor_t descriptor;
	const void *address;
	bool output;
};

static void note(struct tfs_frame *frame, cudnnHandle_t handle, const void *alpha, const void *beta,
	const struct operand *operands, uint32_t count)
{
	struct tfs_details details;
	struct tfs_tensor first;

	tfs_cudnn_details(&details, handle);
	tfs_tensor_read(operands[0].descriptor, &first);
	const uint32_t written = tfs_put_scalars(&details, alpha, beta, first.type);
	for (uint32_t i = 0; i < count; i++)
		tfs_put_tensor(&details, operands[i].descriptor, operands[i].address,
			operands[i].output ? written : TFS_ROLE_READ);
	tfs_hook_details(frame, &details);
}

/* A call, and what tells it from others but its tensors. */
struct call {
	struct tfs_frame *frame;
	cudnnHandle_t handle;
	const void *alpha;
	const void *beta;
	cudnnActivationDescriptor_t activation;
	cudnnPoolingDescriptor_t pooling;
	uint64_t kind;
	bool repeats;
};

static void tell_operation(struct tfs_use_call *told, const struct call *call)
{
	struct tfs_operation operation;

	tfs_use_shape(told, call->kind);
	if (call->activation)
		tfs_use_operation(
			told, tfs_activation_read(call->activation, &operation), &operation);
	if (call->pooling)
		tfs_use_operation(told, tfs_pooling_read(call->pooling, &operation), &operation);
}

/* Before the call: says what memory it works on. Its output is the last operand. */
static void tell(struct tfs_use *use, const struct call *call, const struct operand *operands,
	uint32_t count)
{
	tfs_use_init(use, call->beta, (void *)(uintptr_t)operands[count - 1].address);
	if (!tfs_fills_followed(call->frame))
		return;
	struct tfs_use_call told =
		tfs_cudnn_use(call->frame, call->handle, call->alpha, call->beta);
	for (uint32_t i = 0; i < count; i++) {
		struct tfs_tensor tensor;

		if (!tfs_tensor_read(operands[i].descriptor, &tensor))
			told.unknown = true;
		else if (operands[i].output)
			tfs_use_output(&told, &tensor, use->output, tfs_tensor_dense(&tensor),
				call->alpha, call->beta);
		else
			tfs_use_input(&told, &tensor, operands[i].address);
	}
	told.repeats = call->repeats;
	tell_operation(&told, call);
	tfs_rewrite_use(&told, use);
}

TFS_HOOK(cudnnStatus_t, cudnnAddTensor,
	(cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t a_descriptor,
		const void *a, const void *beta, const cudnnTensorDescriptor_t c_descriptor,
		void *c))
{
	struct tfs_frame frame = TFS_ENTER_TELLING(cudnnAddTensor);
	const struct operand operands[] = {{a_descriptor, a, false}, {c_descriptor, c, true}};
	struct tfs_use use;
	cudnnStatus_t status;

	tell(&use, &(struct call){&frame, handle, alpha, beta, .repeats = true}, operands, 2);
	do {
		status = TFS_REAL(cudnnAddTensor)(
			handle, alpha, a_descriptor, a, use.beta, c_descriptor, use.output);
	} while (tfs_use_again(&use, status));

	if (TFS_END(&frame, status, 0))
		note(&frame, handle, alpha, beta, operands, 2);
	return TFS_LEAVE(&frame), status;
}

TFS_HOOK(cudnnStatus_t, cudnnActivationForward,
	(cudnnHandle_t handle, cudnnActivationDescriptor_t activation, const void *alpha,
		const cudnnTensorDescriptor_t x_descriptor, const void *x, const void *beta,
		const cudnnTensorDescriptor_t y_descriptor, void *y))
{
	struct tfs_frame frame = TFS_ENTER_TELLING(cudnnActivationForward);
	const struct operand operands[] = {{x_descriptor, x, false}, {y_descriptor, y, true}};
	struct tfs_use use;
	cudnnStatus_t status;

	tell(&use,
		&(struct call){
			&frame, handle, alpha, beta, .activation = activation, .repeats = true},
		operands, 2);
	do {
		status = TFS_REAL(cudnnActivationForward)(handle, activation, alpha, x_descriptor,
			x, use.beta, y_descriptor, use.output);
	} while (tfs_use_again(&use, status));

	if (TFS_END(&frame, status, 0))
		note(&frame, handle, alpha, beta, operands, 2);
	return TFS_LEAVE(&frame), status;
}

TFS_HOOK(cudnnStatus_t, cudnnActivationBackward,
	(cudnnHandle_t handle, cudnnActivationDescriptor_t activation, const void *alpha,
		const cudnnTensorDescriptor_t y_descriptor, const void *y,
		const cudnnTensorDescriptor_t dy_descriptor, const void *dy,
		const cudnnTensorDescriptor_t x_descriptor, const void *x, const void *beta,
		const cudnnTensorDescriptor_t dx_descriptor, void *dx))
{
	struct tfs_frame frame = TFS_ENTER_TELLING(cudnnActivationBackward);
	const struct operand operands[] = {{y_descriptor, y, false}, {dy_descriptor, dy, false},
		{x_descriptor, x, false}, {dx_descriptor, dx, true}};
	struct tfs_use use;
	cudnnStatus_t status;

	tell(&use,
		&(struct call){
			&frame, handle, alpha, beta, .activation = activation, .repeats = true},
		operands, 4);
	do {
		status = TFS_REAL(cudnnActivationBackward)(handle, activation, alpha, y_descriptor,
			y, dy_descriptor, dy, x_descriptor, x, use.beta, dx_descriptor, use.output);
	} while (tfs_use_again(&use, status));

	if (TFS_END(&frame, status, 0))
		note(&frame, handle, alpha, beta, operands, 4);
	return TFS_LEAVE(&frame), status;
}

TFS_HOOK(cudnnStatus_t, cudnnOpTensor,
	(cudnnHandle_t handle, const cudnnOpTensorDescriptor_t operation, const void *alpha1,
		const cudnnTensorDescriptor_t a_descriptor, const void *a, const void *alpha2,
		const cudnnTensorDescriptor_t b_descriptor, const void *b, const void *beta,
		const cudnnTensorDescriptor_t c_descriptor, void *c))
{
	struct tfs_frame frame = TFS_ENTER(cudnnOpTensor);
	const cudnnStatus_t status = TFS_REAL(cudnnOpTensor)(handle, operation, alpha1,
		a_descriptor, a, alpha2, b_descriptor, b, beta, c_descriptor, c);

	if (TFS_END(&frame, status, 0))
		note(&frame, handle, alpha1, beta,
			(struct operand[]){{a_descriptor, a, false}, {b_descriptor, b, false},
				{c_descriptor, c, true}},
			3);
	return TFS_LEAVE(&frame), status;
}

TFS_HOOK(cudnnStatus_t, cudnnScaleTensor,
	(cudnnHandle_t handle, const cudnnTensorDescriptor_t descriptor, void *y,
		const void *alpha))
{
	struct tfs_frame frame = TFS_ENTER(cudnnScaleTensor);
	const cudnnStatus_t status = TFS_REAL(cudnnScaleTensor)(handle, descriptor, y, alpha);

	if (TFS_END(&frame, status, 0))
		note(&frame, handle, NULL, alpha, (struct operand[]){{descriptor, y, true}}, 1);
	return TFS_LEAVE(&frame), status;
}

TFS_HOOK(cudnnStatus_t, cudnnSetTensor,
	(cudnnHandle_t handle, const cudnnTensorDescriptor_t descriptor, void *y,
		const void *value))
{
	struct tfs_frame frame = TFS_ENTER(cudnnSetTensor);
	const cudnnStatus_t status = TFS_REAL(cudnnSetTensor)(handle, descriptor, y, value);

	if (TFS_END(&frame, status, 0)) {
		struct tfs_details details;
		uint32_t word = 0;

		memcpy(&word, value, sizeof(word));
		tfs_cudnn_details(&details, handle);
		tfs_put_tensor(&details, descriptor, y, TFS_ROLE_WRITE);
		tfs_put_attribute(&details, TFS_ATTRIBUTE_value, word);
		tfs_hook_details(&frame, &details);
	}
	return TFS_LEAVE(&frame), status;
}

TFS_HOOK(cudnnStatus_t, cudnnPoolingForward,
	(cudnnHandle_t handle, const cudnnPoolingDescriptor_t pooling, const void *alpha,
		const cudnnTensorDescriptor_t x_descriptor, const void *x, const void *beta,
		const cudnnTensorDescriptor_t y_descriptor, void *y))
{
	struct tfs_frame frame = TFS_ENTER_TELLING(cudnnPoolingForward);
	const struct operand operands[] = {{x_descriptor, x, false}, {y_descriptor, y, true}};
	struct tfs_use use;
	cudnnStatus_t status;

	tell(&use, &(struct call){&frame, handle, alpha, beta, .pooling = pooling, .repeats = true},
		operands, 2);
	do {
		status = TFS_REAL(cudnnPoolingForward)(handle, pooling, alpha, x_descriptor, x,
			use.beta, y_descriptor, use.output);
	} while (tfs_use_again(&use, status));

	if (TFS_END(&frame, status, 0))
		note(&frame, handle, alpha, beta, operands, 2);
	return TFS_LEAVE(&frame), status;
}

TFS_HOOK(cudnnStatus_t, cudnnPoolingBackward,
	(cudnnHandle_t handle, const cudnnPoolingDescriptor_t pooling, const void *alpha,
		const cudnnTensorDescriptor_t y_descriptor, const void *y,
		const cudnnTensorDescriptor_t dy_descriptor, const void *dy,
		const cudnnTensorDescriptor_t x_descriptor, const void *x, const void *beta,
		const cudnnTensorDescriptor_t dx_descriptor, void *dx))
{
	struct tfs_frame frame = TFS_ENTER_TELLING(cudnnPoolingBackward);
	const struct operand operands[] = {{y_descriptor, y, false}, {dy_descriptor, dy, false},
		{x_descriptor, x, false}, {dx_descriptor, dx, true}};
	struct tfs_use use;
	cudnnStatus_t status;

	tell(&use,
		&(struct call){&frame, handle, alpha, beta, .pooling = pooling, .repeats = false},
		operands, 4);
	do {
		status = TFS_REAL(cudnnPoolingBackward)(handle, pooling, alpha, y_descriptor, y,
			dy_descriptor, dy, x_descriptor, x, use.beta, dx_descriptor, use.output);
	} while (tfs_use_again(&use, status));

	if (TFS_END(&frame, status, 0))
		note(&frame, handle, alpha, beta, operands, 4);
	return TFS_LEAVE(&frame), status;
}

TFS_HOOK(cudnnStatus_t, cudnnSoftmaxForward,
	(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algorithm, cudnnSoftmaxMode_t mode,
		const void *alpha, const cudnnTensorDescriptor_t x_descriptor, const void *x,
		const void *beta, const cudnnTensorDescriptor_t y_descriptor, void *y))
{
	struct tfs_frame frame = TFS_ENTER_TELLING(cudnnSoftmaxForward);
	const struct operand operands[] = {{x_descriptor, x, false}, {y_descriptor, y, true}};
	struct tfs_use use;
	cudnnStatus_t status;

	tell(&use,
		&(struct call){&frame, handle, alpha, beta,
			.kind = (uint64_t)algorithm << 32 | (uint32_t)mode, .repeats = true},
		operands, 2);
	do {
		status = TFS_REAL(cudnnSoftmaxForward)(handle, algorithm, mode, alpha, x_descriptor,
			x, use.beta, y_descriptor, use.output);
	} while (tfs_use_again(&use, status));

	if (TFS_END(&frame, status, 0))
		note(&frame, handle, alpha, beta, operands, 2);
	return TFS_LEAVE(&frame), status;
}

TFS_HOOK(cudnnStatus_t, cudnnSoftmaxBackward,
	(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algorithm, cudnnSoftmaxMode_t mode,
		const void *alpha, const cudnnTensorDescriptor_t y_descriptor, const void *y,
		const cudnnTensorDescriptor_t dy_descriptor, const void *dy, const void *beta,
		const cudnnTensorDescriptor_t dx_descriptor, void *dx))
{
	struct tfs_frame frame = TFS_ENTER_TELLING(cudnnSoftmaxBackward);
	const struct operand operands[] = {
		{y_descriptor, y, false}, {dy_descriptor, dy, false}, {dx_descriptor, dx, true}};
	struct tfs_use use;
	cudnnStatus_t status;

	tell(&use,
		&(struct call){&frame, handle, alpha, beta,
			.kind = (uint64_t)algorithm << 32 | (uint32_t)mode, .repeats = true},
		operands, 3);
	do {
		status = TFS_REAL(cudnnSoftmaxBackward)(handle, algorithm, mode, alpha,
			y_descriptor, y, dy_descriptor, dy, use.beta, dx_descriptor, use.output);
	} while (tfs_use_again(&use, status));

	if (TFS_END(&frame, status, 0))
		note(&frame, handle, alpha, beta, operands, 3);
	return TFS_LEAVE(&frame), status;
}

#define FUNCTIONS(X)                                                                               \
	X(cudnnAddTensor, bias)                                                                    \
	X(cudnnActivationForward, activation)                                                      \
	X(cudnnActivationBackward, pointwise)                                                      \
	X(cudnnOpTensor, pointwise)                                                                \
	X(cudnnScaleTensor, pointwise)                                                             \
	X(cudnnSetTensor, set_async)                                                               \
	X(cudnnPoolingForward, pooling)                                                            \
	X(cudnnPoolingBackward, pooling)                                                           \
	X(cudnnSoftmaxForward, softmax)                                                            \
	X(cudnnSoftmaxBackward, softmax)

FUNCTIONS(TFS_FUNCTION_ROW)
