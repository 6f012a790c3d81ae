/* SPDX-License-Identifier: MIT */
#include "naive.h"

#include "check.h"

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

static void backward_bias(
	struct resnet *net, const struct conv_layer *l, const float *dy, float share)
{
	const float one = 1;

	CUDNN(cudnnConvolutionBackwardBias(
		net->dnn, &share, l->y_t, dy, &one, l->bias_t, net->grad[l->bias]));
}

/* Of a block's convolutions but the second one, whose results are d_mid and dy. */
static void backward_first(struct resnet *net, const struct block *b, const float *dy)
{
	const float one = 1;
	const struct conv_layer *l = &b->conv1;

	backward_bias(net, l, b->d_mid, 1);
	/* expect: TFS601 x18 legacy 10.28..13.22ms */
	CUDNN(cudnnConvolutionBackwardFilter(net->dnn, &one, l->x_t, b->act1, l->y_t, b->d_mid,
		l->conv, l->filter, net->workspace, net->workspace_bytes, &one, l->w_t,
		net->grad[l->weight]));
	/* The shortcut may add to it too. */
	CUDA(cudaMemset(/* trap: TFS402 */ b->d_act1, 0, b->in_floats * sizeof(float)));
	/* expect: TFS601 x18 legacy 8.47..10.89ms */
	CUDNN(cudnnConvolutionBackwardData(net->dnn, &one, l->w_t, net->weight[l->weight], l->y_t,
		b->d_mid, l->conv, l->data, net->workspace, net->workspace_bytes, &one, l->x_t,
		b->d_act1));
	if (!b->shrinks)
		return;
	l = &b->shortcut;
	backward_bias(net, l, dy, 1);
	/* expect: TFS601 x4 legacy 0.72..0.92ms */
	CUDNN(cudnnConvolutionBackwardFilter(net->dnn, &one, l->x_t, b->act1, l->y_t, dy, l->conv,
		l->filter, net->workspace, net->workspace_bytes, &one, l->w_t,
		net->grad[l->weight]));
	/* expect: TFS601 x4 legacy 0.59..0.76ms */
	CUDNN(cudnnConvolutionBackwardData(net->dnn, &one, l->w_t, net->weight[l->weight], l->y_t,
		dy, l->conv, l->data, net->workspace, net->workspace_bytes, &one, l->x_t,
		b->d_act1));
}

/* From the gradient of what comes out to that of what comes in, b->d_x. */
static void backward_block(struct resnet *net, const struct block *b, const float *dy)
{
	const float one = 1, share = RESNET_BRANCH;
	const struct conv_layer *l = &b->conv2;

	backward_bias(net, l, dy, share);
	/* expect: TFS601 x18 legacy 10.55..13.56ms */
	CUDNN(cudnnConvolutionBackwardFilter(net->dnn, &share, l->x_t, b->act2, l->y_t, dy, l->conv,
		l->filter, net->workspace, net->workspace_bytes, &one, l->w_t,
		net->grad[l->weight]));
	/* expect: TFS402 x18 792KiB legacy 1.34..1.72ms */
	CUDA(cudaMemset(b->d_act2, 0, b->out_floats * sizeof(float)));
	/* expect: TFS601 x18 legacy 8.69..11.17ms */
	CUDNN(cudnnConvolutionBackwardData(net->dnn, &share, l->w_t, net->weight[l->weight], l->y_t,
		dy, l->conv, l->data, net->workspace, net->workspace_bytes, &one, l->x_t,
		b->d_act2));
	backward_norm(net, &b->norm2, b->mid, b->act2, b->d_act2, b->d_mid);
	backward_first(net, b, dy);
	backward_norm(net, &b->norm1, b->x, b->act1, b->d_act1, b->d_x);
	if (!b->shrinks)
		CUDNN(cudnnAddTensor(/* trap: TFS301 */ net->dnn, &one, b->norm1.x_t, dy, &one,
			b->norm1.x_t, b->d_x));
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
	const struct conv_layer *l = &net->stem;
	const float one = 1, *dy = net->d_x;
	void *d_pooled;

	/* expect: TFS401 x2 1632B 70..90us */
	CUDA(cudaMalloc(&d_pooled, bytes));
	backward_dense(t, onehot, d_pooled);
	/* expect: TFS202 x2 1632B 192..248us TFS401 x2 1632B 192..248us */
	CUDA(cudaFree(d_pooled));

	backward_norm(net, &net->norm, net->x, net->act, net->d_act, net->d_x);
	for (unsigned i = RESNET_BLOCKS; i-- > 0;) {
		backward_block(net, &net->blocks[i], dy);
		dy = net->blocks[i].d_x;
	}
	backward_bias(net, l, dy, 1);
	/* expect: TFS601 x2 legacy 0.91..1.17ms */
	CUDNN(cudnnConvolutionBackwardFilter(net->dnn, &one, l->x_t, images, l->y_t, dy, l->conv,
		l->filter, net->workspace, net->workspace_bytes, &one, l->w_t,
		net->grad[l->weight]));
}
