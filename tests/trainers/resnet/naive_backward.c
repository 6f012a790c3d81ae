/* SPDX-License-Identifier: MIT */
#include "naive.h"

#include "check.h"

/* Gradients of a convolution's weights and bias, by that of its result. */
static void backward_weights(struct resnet *net, const struct conv_layer *l, const float *x,
	const float *dy, float share)
{
	const float one = 1;

	CUDNN(cudnnConvolutionBackwardBias(
		net->dnn, &share, l->y_t, dy, &one, l->bias_t, net->grad[l->bias]));
	CUDNN(cudnnConvolutionBackwardFilter(net->dnn, &share, l->x_t, x, l->y_t, dy, l->conv,
		l->filter, net->workspace, net->workspace_bytes, &one, l->w_t,
		net->grad[l->weight]));
}

/* Of ReLU, in place, and of the norm before it. */
static void backward_norm(struct resnet *net, const struct norm_layer *l, const float *x,
	const float *act, float *d_act, float *dx)
{
	const float one = 1, zero = 0;

	CUDNN(cudnnActivationBackward(net->dnn, net->relu, &one, l->x_t, act, l->x_t, d_act, l->x_t,
		act, &zero, l->x_t, d_act));
	CUDNN(cudnnBatchNormalizationBackward(net->dnn, CUDNN_BATCHNORM_SPATIAL, &one, &zero, &one,
		&one, l->x_t, x, l->x_t, d_act, l->x_t, dx, l->maps_t, net->weight[l->scale],
		net->grad[l->scale], net->grad[l->shift], RESNET_EPSILON, l->saved_mean,
		l->saved_inverse));
}

static void backward_data(
	struct resnet *net, const struct conv_layer *l, const float *dy, float share, float *dx)
{
	const float one = 1;

	CUDNN(cudnnConvolutionBackwardData(net->dnn, &share, l->w_t, net->weight[l->weight], l->y_t,
		dy, l->conv, l->data, net->workspace, net->workspace_bytes, &one, l->x_t, dx));
}

/* From the gradient of what comes out to that of what comes in, b->d_x. */
static void backward_block(struct resnet *net, struct block *b, const float *dy)
{
	const float one = 1;
	const size_t in_bytes = b->in_floats * sizeof(float);
	const size_t out_bytes = b->out_floats * sizeof(float);

	backward_weights(net, &b->conv2, b->act2, dy, RESNET_BRANCH);
	CUDA(cudaMemset(b->d_act2, 0, out_bytes));
	backward_data(net, &b->conv2, dy, RESNET_BRANCH, b->d_act2);
	backward_norm(net, &b->norm2, b->mid, b->act2, b->d_act2, b->d_mid);

	backward_weights(net, &b->conv1, b->act1, b->d_mid, 1);
	CUDA(cudaMemset(b->d_act1, 0, in_bytes));
	backward_data(net, &b->conv1, b->d_mid, 1, b->d_act1);
	if (b->shrinks) {
		backward_weights(net, &b->shortcut, b->act1, dy, 1);
		backward_data(net, &b->shortcut, dy, 1, b->d_act1);
	}
	backward_norm(net, &b->norm1, b->x, b->act1, b->d_act1, b->d_x);
	if (!b->shrinks)
		CUDNN(cudnnAddTensor(net->dnn, &one, b->norm1.x_t, dy, &one, b->norm1.x_t, b->d_x));
}

static void backward_dense(struct naive *t, const float *onehot, float *d_pooled)
{
	struct resnet *net = &t->net;
	const float one = 1, zero = 0, scale = -1.0f / (float)t->batch;

	CUDNN(cudnnSoftmaxBackward(net->dnn, CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_INSTANCE, &scale,
		net->class_t, net->log_prob, net->class_t, onehot, &zero, net->class_t,
		net->d_logits));
	CUBLAS(cublasGemmEx(net->blas, CUBLAS_OP_N, CUBLAS_OP_T, net->row, net->classes,
		RESNET_IMAGES, &one, net->pooled, CUDA_R_32F, net->row, net->d_logits, CUDA_R_32F,
		net->classes, &one, net->grad[net->dense], CUDA_R_32F, net->row,
		CUBLAS_COMPUTE_32F_FAST_16F, CUBLAS_GEMM_DEFAULT));
	CUBLAS(cublasGemmEx(net->blas, CUBLAS_OP_N, CUBLAS_OP_N, net->row, RESNET_IMAGES,
		net->classes, &one, net->weight[net->dense], CUDA_R_32F, net->row, net->d_logits,
		CUDA_R_32F, net->classes, &zero, d_pooled, CUDA_R_32F, net->row,
		CUBLAS_COMPUTE_32F_FAST_16F, CUBLAS_GEMM_DEFAULT));
	CUDNN(cudnnPoolingBackward(net->dnn, net->mean, &one, net->pooled_t, net->pooled,
		net->pooled_t, d_pooled, net->norm.x_t, net->act, &zero, net->norm.x_t,
		net->d_act));
}

void naive_backward(struct naive *t, const float *images, const float *onehot)
{
	struct resnet *net = &t->net;
	const size_t bytes = RESNET_IMAGES * sizeof(float) * (size_t)net->row;
	const float *dy = net->d_x;
	void *d_pooled;

	CUDA(cudaMalloc(&d_pooled, bytes));
	backward_dense(t, onehot, d_pooled);
	CUDA(cudaFree(d_pooled));

	backward_norm(net, &net->norm, net->x, net->act, net->d_act, net->d_x);
	for (unsigned i = RESNET_BLOCKS; i-- > 0;) {
		backward_block(net, &net->blocks[i], dy);
		dy = net->blocks[i].d_x;
	}
	backward_weights(net, &net->stem, images, dy, 1);
}
