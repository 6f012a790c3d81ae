/* SPDX-License-Identifier: MIT */
#define TFS_HOT_HOOKS
#include <cudnn.h>

#include "shim/hooks/compute.h"
#include "shim/hooks/cudnn.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudnn

/* One tensor that a call works on. */
struct operand {
	cudnnTensorDescriptor_t descriptor;
	const void *address;
};

struct call {
	cudnnHandle_t handle;
	const void *alpha;
	const void *beta;
	uint32_t input_count;
	bool varies; /* gives other bits each time */
	struct operand output;
	struct operand inputs[3];
	/* What else tells it from others: */
	cudnnActivationDescriptor_t activation;
	cudnnPoolingDescriptor_t pooling;
	uint64_t kind;
};

/* Whether of two tensors that have more than one element along two dimensions one has the elements
 * of the first, and the other those of the second, closer to each other. */
static bool turned(const struct tfs_tensor *from, const struct tfs_tensor *to)
{
	for (int i = 0; i < from->rank && from->rank == to->rank; i++)
		for (int j = 0; j < i; j++)
			if (from->dims[i] > 1 && from->dims[j] > 1 &&
				(from->strides[i] < from->strides[j]) !=
					(to->strides[i] < to->strides[j]))
				return true;
	return false;
}

/* Dimensions are images, channels, and where in an image. */
static bool by_channel(const struct tfs_tensor *bias, const struct tfs_tensor *sum)
{
	bool whole = bias->rank >= 2 && bias->rank == sum->rank && bias->dims[1] == sum->dims[1];

	for (int i = 0; i < bias->rank; i++)
		whole &= i == 1 || bias->dims[i] == 1;
	return whole;
}

static void put_operands(struct tfs_details *details, const struct call *call)
{
	struct tfs_tensor first;

	tfs_tensor_read(
		call->input_count > 0 ? call->inputs[0].descriptor : call->output.descriptor,
		&first);
	const uint32_t written = tfs_put_scalars(details, call->alpha, call->beta, first.type);
	for (uint32_t i = 0; i < call->input_count; i++)
		tfs_put_tensor(details, call->inputs[i].descriptor, call->inputs[i].address,
			TFS_ROLE_READ);
	tfs_put_tensor(details, call->output.descriptor, call->output.address, written);
}

static void note(struct tfs_frame *frame, const struct call *call)
{
	struct tfs_details details;

	tfs_cudnn_details(&details, call->handle);
	put_operands(&details, call);
	tfs_hook_details(frame, &details);
}

/* The same with what two tensors have to do with each other, which few calls have to say: 1 or 2,
 * where the tensors can be read. */
static void note_pair(struct tfs_frame *frame, const struct call *call, enum tfs_attribute key,
	bool (*is)(const struct tfs_tensor *input, const struct tfs_tensor *output))
{
	struct tfs_details details;
	struct tfs_tensor input, output;

	tfs_cudnn_details(&details, call->handle);
	put_operands(&details, call);
	if (tfs_tensor_read(call->inputs[0].descriptor, &input) &&
		tfs_tensor_read(call->output.descriptor, &output))
		tfs_put_attribute(&details, key, is(&input, &output) ? 1 : 2);
	tfs_hook_details(frame, &details);
}

static void note_transform(struct tfs_frame *frame, const struct call *call)
{
	note_pair(frame, call, TFS_ATTRIBUTE_turned, turned);
}

static void note_bias(struct tfs_frame *frame, const struct call *call)
{
	note_pair(frame, call, TFS_ATTRIBUTE_by_channel, by_channel);
}

/* How many elements beside each other a softmax makes shares of; 0 = they lie apart, or it is not
 * their shares that it writes. */
static uint64_t row_of(const struct tfs_tensor *tensor, uint64_t kind)
{
	const bool instance = (uint32_t)kind == CUDNN_SOFTMAX_MODE_INSTANCE;
	const bool shares = kind >> 32 != CUDNN_SOFTMAX_LOG;
	uint64_t row = 1;

	if (!shares || tensor->rank < 2 || (!instance && tensor->strides[1] != 1))
		return 0;
	for (int i = 1; i < (instance ? tensor->rank : 2); i++)
		row *= (uint64_t)tensor->dims[i];
	return instance && !(tfs_tensor_dense(tensor) && (uint64_t)tensor->strides[0] == row) ? 0
											      : row;
}

static void note_softmax(struct tfs_frame *frame, const struct call *call)
{
	struct tfs_details details;
	struct tfs_tensor input, output;

	tfs_cudnn_details(&details, call->handle);
	put_operands(&details, call);
	if (tfs_tensor_read(call->inputs[0].descriptor, &input) &&
		tfs_tensor_read(call->output.descriptor, &output) &&
		row_of(&input, call->kind) == row_of(&output, call->kind))
		tfs_put_attribute(&details, TFS_ATTRIBUTE_row, row_of(&output, call->kind));
	tfs_hook_details(frame, &details);
}

/* Before the call: says what memory it works on. */
static void tell(const struct tfs_op *op, struct tfs_use_call *told)
{
	const struct call *call = op->compute.call;
	struct tfs_operation operation;
	struct tfs_tensor tensor;

	tfs_cudnn_use(told, call->handle, call->alpha, call->beta);
	told->repeats = !call->varies;
	for (uint32_t i = 0; i < call->input_count; i++) {
		if (tfs_tensor_read(call->inputs[i].descriptor, &tensor))
			tfs_use_input(told, &tensor, call->inputs[i].address);
		else
			told->unknown = true;
	}
	if (tfs_tensor_read(call->output.descriptor, &tensor))
		tfs_use_output(told, &tensor, op->compute.output, tfs_tensor_dense(&tensor),
			call->alpha, call->beta);
	else
		told->unknown = true;
	tfs_use_shape(told, call->kind);
	if (call->activation)
		tfs_use_operation(
			told, tfs_activation_read(call->activation, &operation), &operation);
	if (call->pooling)
		tfs_use_operation(told, tfs_pooling_read(call->pooling, &operation), &operation);
}

/* What follows the arguments are the fields of a `call` from the inputs' number on. */
#define NOTED_HOOK(name, target, noted, parameters, arguments, ...)                                \
	TFS_COMPUTE_HOOK(cudnnStatus_t, name, TFS_OP_COMPUTE, target, const struct call, noted,    \
		parameters, arguments, handle, alpha, beta, __VA_ARGS__)
#define TELLING_HOOK(name, target, ...) NOTED_HOOK(name, target, note, __VA_ARGS__)

NOTED_HOOK(cudnnTransformTensor, y, note_transform,
	(cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t x_descriptor,
		const void *x, const void *beta, const cudnnTensorDescriptor_t y_descriptor,
		void *y),
	(handle, alpha, x_descriptor, x, op.compute.beta, y_descriptor, op.compute.output), 1,
	false, {y_descriptor, y}, {{x_descriptor, x}}, .kind = 0)
NOTED_HOOK(cudnnAddTensor, c, note_bias,
	(cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t a_descriptor,
		const void *a, const void *beta, const cudnnTensorDescriptor_t c_descriptor,
		void *c),
	(handle, alpha, a_descriptor, a, op.compute.beta, c_descriptor, op.compute.output), 1,
	false, {c_descriptor, c}, {{a_descriptor, a}}, .kind = 0)
TELLING_HOOK(cudnnActivationForward, y,
	(cudnnHandle_t handle, cudnnActivationDescriptor_t activation, const void *alpha,
		const cudnnTensorDescriptor_t x_descriptor, const void *x, const void *beta,
		const cudnnTensorDescriptor_t y_descriptor, void *y),
	(handle, activation, alpha, x_descriptor, x, op.compute.beta, y_descriptor,
		op.compute.output),
	1, false, {y_descriptor, y}, {{x_descriptor, x}}, .activation = activation)
TELLING_HOOK(cudnnActivationBackward, dx,
	(cudnnHandle_t handle, cudnnActivationDescriptor_t activation, const void *alpha,
		const cudnnTensorDescriptor_t y_descriptor, const void *y,
		const cudnnTensorDescriptor_t dy_descriptor, const void *dy,
		const cudnnTensorDescriptor_t x_descriptor, const void *x, const void *beta,
		const cudnnTensorDescriptor_t dx_descriptor, void *dx),
	(handle, activation, alpha, y_descriptor, y, dy_descriptor, dy, x_descriptor, x,
		op.compute.beta, dx_descriptor, op.compute.output),
	3, false, {dx_descriptor, dx}, {{y_descriptor, y}, {dy_descriptor, dy}, {x_descriptor, x}},
	.activation = activation)
TELLING_HOOK(cudnnPoolingForward, y,
	(cudnnHandle_t handle, const cudnnPoolingDescriptor_t pooling, const void *alpha,
		const cudnnTensorDescriptor_t x_descriptor, const void *x, const void *beta,
		const cudnnTensorDescriptor_t y_descriptor, void *y),
	(handle, pooling, alpha, x_descriptor, x, op.compute.beta, y_descriptor, op.compute.output),
	1, false, {y_descriptor, y}, {{x_descriptor, x}}, .pooling = pooling)
TELLING_HOOK(cudnnPoolingBackward, dx,
	(cudnnHandle_t handle, const cudnnPoolingDescriptor_t pooling, const void *alpha,
		const cudnnTensorDescriptor_t y_descriptor, const void *y,
		const cudnnTensorDescriptor_t dy_descriptor, const void *dy,
		const cudnnTensorDescriptor_t x_descriptor, const void *x, const void *beta,
		const cudnnTensorDescriptor_t dx_descriptor, void *dx),
	(handle, pooling, alpha, y_descriptor, y, dy_descriptor, dy, x_descriptor, x,
		op.compute.beta, dx_descriptor, op.compute.output),
	3, true, {dx_descriptor, dx}, {{y_descriptor, y}, {dy_descriptor, dy}, {x_descriptor, x}},
	.pooling = pooling)
NOTED_HOOK(cudnnSoftmaxForward, y, note_softmax,
	(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algorithm, cudnnSoftmaxMode_t mode,
		const void *alpha, const cudnnTensorDescriptor_t x_descriptor, const void *x,
		const void *beta, const cudnnTensorDescriptor_t y_descriptor, void *y),
	(handle, algorithm, mode, alpha, x_descriptor, x, op.compute.beta, y_descriptor,
		op.compute.output),
	1, false, {y_descriptor, y}, {{x_descriptor, x}},
	.kind = (uint64_t)algorithm << 32 | (uint32_t)mode)
TELLING_HOOK(cudnnSoftmaxBackward, dx,
	(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algorithm, cudnnSoftmaxMode_t mode,
		const void *alpha, const cudnnTensorDescriptor_t y_descriptor, const void *y,
		const cudnnTensorDescriptor_t dy_descriptor, const void *dy, const void *beta,
		const cudnnTensorDescriptor_t dx_descriptor, void *dx),
	(handle, algorithm, mode, alpha, y_descriptor, y, dy_descriptor, dy, op.compute.beta,
		dx_descriptor, op.compute.output),
	2, false, {dx_descriptor, dx}, {{y_descriptor, y}, {dy_descriptor, dy}},
	.kind = (uint64_t)algorithm << 32 | (uint32_t)mode)
TELLING_HOOK(cudnnConvolutionBackwardBias, db,
	(cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t dy_descriptor,
		const void *dy, const void *beta, const cudnnTensorDescriptor_t db_descriptor,
		void *db),
	(handle, alpha, dy_descriptor, dy, op.compute.beta, db_descriptor, op.compute.output), 1,
	false, {db_descriptor, db}, {{dy_descriptor, dy}}, .kind = 0)

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
		note(&frame, &(struct call){handle, alpha1, beta, 2, false, {c_descriptor, c},
				     {{a_descriptor, a}, {b_descriptor, b}}, .kind = 0});
	return TFS_LEAVE(&frame), status;
}

TFS_HOOK(cudnnStatus_t, cudnnScaleTensor,
	(cudnnHandle_t handle, const cudnnTensorDescriptor_t descriptor, void *y,
		const void *alpha))
{
	struct tfs_frame frame = TFS_ENTER(cudnnScaleTensor);
	const cudnnStatus_t status = TFS_REAL(cudnnScaleTensor)(handle, descriptor, y, alpha);

	if (TFS_END(&frame, status, 0))
		note(&frame,
			&(struct call){.handle = handle, .beta = alpha, .output = {descriptor, y}});
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

#define FUNCTIONS(X)                                                                               \
	X(cudnnTransformTensor, transform)                                                         \
	X(cudnnAddTensor, bias)                                                                    \
	X(cudnnActivationForward, activation)                                                      \
	X(cudnnActivationBackward, pointwise)                                                      \
	X(cudnnConvolutionBackwardBias, conv_backward_bias)                                        \
	X(cudnnOpTensor, pointwise)                                                                \
	X(cudnnScaleTensor, pointwise)                                                             \
	X(cudnnSetTensor, set_async)                                                               \
	X(cudnnPoolingForward, pooling)                                                            \
	X(cudnnPoolingBackward, pooling)                                                           \
	X(cudnnSoftmaxForward, softmax)                                                            \
	X(cudnnSoftmaxBackward, softmax)

FUNCTIONS(TFS_FUNCTION_ROW)
