/* SPDX-License-Identifier: MIT */
#include "naive.h"

#include "check.h"

static void add_bias(struct resnet *net, const struct conv_layer *l, float *y)
{
	const float one = 1;

	/* expect: TFS605 x18 792KiB legacy 3.39..4.36ms */
	CUDNN(cudnnAddTensor(/* trap: TFS301 */ net->dnn, &one, l->bias_t, net->weight[l->bias],
		&one, l->y_t, y));
}

static void normalise(struct resnet *net, const struct norm_layer *l, const float *x, float *y)
{
	const float one = 1, zero = 0;

	CUDNN(cudnnBatchNormalizationForwardTraining(net->dnn, CUDNN_BATCHNORM_SPATIAL, &one, &zero,
		l->x_t, x, l->x_t, y, l->maps_t, net->weight[l->scale], net->weight[l->shift],
		RESNET_AVERAGE, l->mean, l->variance, RESNET_EPSILON, l->saved_mean,
		l->saved_inverse));
	CUDNN(cudnnActivationForward(net->dnn, net->relu, &one, l->x_t, y, &zero, l->x_t, y));
}

static void forward_block(struct resnet *net, const struct block *b, float *y)
{
	const float one = 1, zero = 0, share = RESNET_BRANCH;
	const struct conv_layer *l = &b->conv1;

	normalise(net, &b->norm1, b->x, b->act1);
	if (b->shrinks) {
		l = &b->shortcut;
		/* expect: TFS601 x4 legacy 0.67..0.87ms */
		CUDNN(cudnnConvolutionForward(net->dnn, &one, l->x_t, b->act1, l->w_t,
			net->weight[l->weight], l->conv, l->forward, net->workspace,
			net->workspace_bytes, &zero, l->y_t, y));
		add_bias(net, l, y);
		l = &b->conv1;
	} else {
		/* expect: TFS107 x14 720KiB legacy 0..2.13ms */
		CUDA(cudaMemcpy(/* trap: TFS202 */ y, b->x, b->out_floats * sizeof(float),
			cudaMemcpyDeviceToDevice));
	}
	/* expect: TFS601 x18 legacy 9.68..12.44ms */
	CUDNN(cudnnConvolutionForward(net->dnn, &one, l->x_t, b->act1, l->w_t,
		net->weight[l->weight], l->conv, l->forward, net->workspace, net->workspace_bytes,
		&zero, l->y_t, b->mid));
	add_bias(net, l, b->mid);
	normalise(net, &b->norm2, b->mid, b->act2);

	l = &b->conv2;
	/* expect: TFS601 x18 legacy 9.93..12.76ms */
	CUDNN(cudnnConvolutionForward(net->dnn, &one, l->x_t, b->act2, l->w_t,
		net->weight[l->weight], l->conv, l->forward, net->workspace, net->workspace_bytes,
		&zero, l->y_t, b->branch));
	/* expect: TFS301 x18 3168KiB legacy 3.92..5.04ms */
	CUDNN(cudnnAddTensor(
		net->dnn, &one, l->bias_t, net->weight[l->bias], &one, l->y_t, b->branch));
	CUDNN(cudnnScaleTensor(net->dnn, l->y_t, b->branch, &share));
	CUDNN(cudnnAddTensor(net->dnn, &one, l->y_t, b->branch, &one, l->y_t, y));
}

void naive_forward(struct naive *t, const float *images)
{
	struct resnet *net = &t->net;
	const struct conv_layer *l = &net->stem;
	const float one = 1, zero = 0;

	/* expect: TFS107 x2 72KiB legacy 182..233us */
	CUDA(cudaMemcpy(t->input, images, RESNET_IMAGES * IMAGE_FLOATS * sizeof(float),
		cudaMemcpyDeviceToDevice));
	/* expect: TFS601 x2 legacy 0.86..1.10ms */
	CUDNN(cudnnConvolutionForward(net->dnn, &one, l->x_t, t->input, l->w_t,
		net->weight[l->weight], l->conv, l->forward, net->workspace, net->workspace_bytes,
		&zero, l->y_t, net->blocks[0].x));
	add_bias(net, l, net->blocks[0].x);
	for (unsigned i = 0; i < RESNET_BLOCKS; i++)
		forward_block(net, &net->blocks[i],
			i + 1 < RESNET_BLOCKS ? net->blocks[i + 1].x : net->x);
	normalise(net, &net->norm, net->x, net->act);
	CUDNN(cudnnPoolingForward(net->dnn, net->mean, &one, net->norm.x_t, net->act, &zero,
		net->pooled_t, net->pooled));
	/* In half precision, on tensor cores; 17 and 10 are not what those like. */
	CUBLAS(cublasGemmEx(net->blas, CUBLAS_OP_T, CUBLAS_OP_N, net->classes, RESNET_IMAGES,
		net->row, &one, net->weight[net->dense], CUDA_R_32F, net->row, net->pooled,
		CUDA_R_32F, net->row, &zero, net->logits, CUDA_R_32F, net->classes,
		CUBLAS_COMPUTE_32F_FAST_16F, CUBLAS_GEMM_DEFAULT));
	CUDNN(cudnnSoftmaxForward(net->dnn, CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_INSTANCE, &one,
		net->class_t, net->logits, &zero, net->class_t, net->log_prob));
}

/* Minus the log probability of the right classes: a product with the one-hot rows. */
float naive_read_loss(struct naive *t, const float *onehot)
{
	struct resnet *net = &t->net;
	const float scale = -1.0f / (float)t->batch, zero = 0;
	const int count = RESNET_IMAGES * net->classes;
	float loss;

	CUBLAS(cublasSgemv(net->blas, CUBLAS_OP_T, count, 1, &scale, net->log_prob, count, onehot,
		1, &zero, t->loss, 1));
	/* expect: TFS101 x2 8B legacy 192..248us TFS202 x2 8B legacy 192..248us */
	/* expect: TFS203 x2 8B legacy 192..248us */
	CUDA(cudaMemcpy(&loss, t->loss, sizeof(loss), cudaMemcpyDeviceToHost));
	return loss;
}
