/* SPDX-License-Identifier: MIT */
#include "tuned.h"

#include "check.h"

static void normalise(struct resnet *net, const struct norm_layer *l, const float *x, float *y)
{
	const float one = 1, zero = 0;

	/* The fused forms are for halves whose maps lie beside each other. */
	CUDNN(cudnnBatchNormalizationForwardTraining(net->dnn, CUDNN_BATCHNORM_SPATIAL, &one, &zero,
		l->x_t, x, l->x_t, y, l->maps_t, net->weight[l->scale], net->weight[l->shift],
		RESNET_AVERAGE, l->mean, l->variance, RESNET_EPSILON, l->saved_mean,
		l->saved_inverse));
	CUDNN(cudnnActivationForward(
		/* trap: TFS301 */ net->dnn, net->relu, &one, l->x_t, y, &zero, l->x_t, y));
}

static void convolve(struct resnet *net, const struct conv_layer *l, const float *x, float *y)
{
	const float one = 1, zero = 0;

	CUDNN(cudnnConvolutionForward(/* trap: TFS601 */ net->dnn, &one, l->x_t, x, l->w_t,
		net->weight[l->weight], l->conv, l->forward, net->workspace, net->workspace_bytes,
		&zero, l->y_t, y));
}

/* The second convolution adds its share to what came in, or to what the shortcut made of it. */
static void forward_block(struct resnet *net, const struct block *b, float *y)
{
	const float one = 1, share = RESNET_BRANCH;
	const struct conv_layer *l = &b->conv2;

	normalise(net, &b->norm1, b->x, b->act1);
	if (b->shrinks)
		convolve(net, &b->shortcut, b->act1, y);
	convolve(net, &b->conv1, b->act1, b->mid);
	normalise(net, &b->norm2, b->mid, b->act2);
	/* On the profile a100, without --part graph. */
	/* gpu: TFS302 x293 stream 13 1..2ms */
	CUDNN(cudnnConvolutionBiasActivationForward(/* trap: TFS301 TFS601 */ net->dnn, &share,
		l->x_t, b->act2, l->w_t, net->weight[l->weight], l->conv, l->forward,
		net->workspace, net->workspace_bytes, &one, l->y_t, b->shrinks ? y : b->x,
		l->bias_t, net->no_bias, net->identity, l->y_t, y));
}

static void forward(struct tuned *t, const float *images, const float *onehot)
{
	struct resnet *net = &t->net;
	const float one = 1, zero = 0, scale = -1.0f / (float)t->batch;
	const int count = RESNET_IMAGES * net->classes;

	convolve(net, &net->stem, images, net->blocks[0].x);
	for (unsigned i = 0; i < RESNET_BLOCKS; i++)
		forward_block(net, &net->blocks[i],
			i + 1 < RESNET_BLOCKS ? net->blocks[i + 1].x : net->x);
	normalise(net, &net->norm, net->x, net->act);
	CUDNN(cudnnPoolingForward(net->dnn, net->mean, &one, net->norm.x_t, net->act, &zero,
		net->pooled_t, net->pooled));
	CUBLAS(cublasGemmEx(net->blas, CUBLAS_OP_T, CUBLAS_OP_N, net->classes, net->columns,
		net->row, &one, net->weight[net->dense], CUDA_R_32F, net->row, net->pooled,
		CUDA_R_32F, net->row, &zero, net->logits, CUDA_R_32F, net->classes,
		CUBLAS_COMPUTE_32F_FAST_16F, CUBLAS_GEMM_DEFAULT));
	CUDNN(cudnnSoftmaxForward(net->dnn, CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_INSTANCE, &one,
		net->class_t, net->logits, &zero, net->class_t, net->log_prob));
	CUBLAS(cublasSgemv(net->blas, CUBLAS_OP_T, count, 1, &scale, net->log_prob, count, onehot,
		1, &one, t->loss.device, 1));
}

/* Of ReLU, in place, and of the norm before it: added to dx, or written there. */
static void backward_norm(struct resnet *net, const struct norm_layer *l, const float *x,
	const float *act, float *d_act, const float *kept, float add, float *dx)
{
	const float one = 1, zero = 0;

	CUDNN(cudnnActivationBackward(/* trap: TFS301 */ net->dnn, net->relu, &one, l->x_t, act,
		l->x_t, d_act, l->x_t, act, &zero, l->x_t, d_act));
	CUDNN(cudnnBatchNormalizationBackward(net->dnn, CUDNN_BATCHNORM_SPATIAL, &one, &add, &one,
		kept, l->x_t, x, l->x_t, d_act, l->x_t, dx, l->maps_t, net->weight[l->scale],
		net->grad[l->scale], net->grad[l->shift], RESNET_EPSILON, l->saved_mean,
		l->saved_inverse));
}

static void backward_conv(struct resnet *net, const struct conv_layer *l, const float *x,
	const float *dy, float share, const float *kept)
{
	CUDNN(cudnnConvolutionBackwardFilter(/* trap: TFS601 */ net->dnn, &share, l->x_t, x, l->y_t,
		dy, l->conv, l->filter, net->workspace, net->workspace_bytes, kept, l->w_t,
		net->grad[l->weight]));
}

static void backward_data(struct resnet *net, const struct conv_layer *l, const float *dy,
	float share, float add, float *dx)
{
	/* And with --part full. */
	/* gpu: TFS302 x295 stream 13 1..2ms */
	CUDNN(cudnnConvolutionBackwardData(/* trap: TFS601 */ net->dnn, &share, l->w_t,
		net->weight[l->weight], l->y_t, dy, l->conv, l->data, net->workspace,
		net->workspace_bytes, &add, l->x_t, dx));
}

/* Returns the gradient of what came in: that of what came out, with more added to it, or b->d_x. */
static float *backward_block(
	struct resnet *net, const struct block *b, float *dy, const float *kept)
{
	backward_conv(net, &b->conv2, b->act2, dy, RESNET_BRANCH, kept);
	backward_data(net, &b->conv2, dy, RESNET_BRANCH, 0, b->d_act2);
	backward_norm(net, &b->norm2, b->mid, b->act2, b->d_act2, kept, 0, b->d_mid);
	backward_conv(net, &b->conv1, b->act1, b->d_mid, 1, kept);
	backward_data(net, &b->conv1, b->d_mid, 1, 0, b->d_act1);
	if (!b->shrinks) {
		backward_norm(net, &b->norm1, b->x, b->act1, b->d_act1, kept, 1, dy);
		return dy;
	}
	backward_conv(net, &b->shortcut, b->act1, dy, 1, kept);
	backward_data(net, &b->shortcut, dy, 1, 1, b->d_act1);
	backward_norm(net, &b->norm1, b->x, b->act1, b->d_act1, kept, 0, b->d_x);
	return b->d_x;
}

static void backward_dense(struct tuned *t, const float *onehot, const float *kept)
{
	struct resnet *net = &t->net;
	const float one = 1, zero = 0, scale = -1.0f / (float)t->batch;

	CUDNN(cudnnSoftmaxBackward(net->dnn, CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_INSTANCE, &scale,
		net->class_t, net->log_prob, net->class_t, onehot, &zero, net->class_t,
		net->d_logits));
	CUBLAS(cublasGemmEx(net->blas, CUBLAS_OP_N, CUBLAS_OP_T, net->row, net->classes,
		net->columns, &one, net->pooled, CUDA_R_32F, net->row, net->d_logits, CUDA_R_32F,
		net->classes, kept, net->grad[net->dense], CUDA_R_32F, net->row,
		CUBLAS_COMPUTE_32F_FAST_16F, CUBLAS_GEMM_DEFAULT));
	CUBLAS(cublasGemmEx(net->blas, CUBLAS_OP_N, CUBLAS_OP_N, net->row, net->columns,
		net->classes, &one, net->weight[net->dense], CUDA_R_32F, net->row, net->d_logits,
		CUDA_R_32F, net->classes, &zero, net->d_pooled, CUDA_R_32F, net->row,
		CUBLAS_COMPUTE_32F_FAST_16F, CUBLAS_GEMM_DEFAULT));
	CUDNN(cudnnPoolingBackward(net->dnn, net->mean, &one, net->pooled_t, net->pooled,
		net->pooled_t, net->d_pooled, net->norm.x_t, net->act, &zero, net->norm.x_t,
		net->d_act));
}

static void pass(struct tuned *t, const float *images, const float *onehot, bool first)
{
	struct resnet *net = &t->net;
	const float kept = first ? 0 : 1;
	float *dy = net->d_x;

	forward(t, images, onehot);
	backward_dense(t, onehot, &kept);
	backward_norm(net, &net->norm, net->x, net->act, net->d_act, &kept, 0, dy);
	for (unsigned i = RESNET_BLOCKS; i-- > 0;)
		dy = backward_block(net, &net->blocks[i], dy, &kept);
	backward_conv(net, &net->stem, images, dy, 1, &kept);
}

void tuned_compute(struct tuned *t, const struct tuned_slot *slot)
{
	struct resnet *net = &t->net;
	const float *onehot = slot->device + t->batch * IMAGE_FLOATS;
	const float minus_rate = -RESNET_RATE;

	for (unsigned n = 0; n < t->passes; n++)
		pass(t, slot->device + n * RESNET_IMAGES * IMAGE_FLOATS,
			onehot + n * RESNET_IMAGES * (unsigned)net->classes, n == 0);
	CUBLAS(cublasSaxpy(/* trap: TFS202 TFS301 */ net->blas, (int)net->block_floats, &minus_rate,
		net->all_grads, 1, net->all_weights, 1));
}
