/* SPDX-License-Identifier: MIT */
#include "resnet.h"

#include "check.h"

static void finish_conv(const struct conv_layer *l)
{
	CUDNN(cudnnDestroyTensorDescriptor(l->x_t));
	CUDNN(cudnnDestroyTensorDescriptor(l->y_t));
	CUDNN(cudnnDestroyTensorDescriptor(l->bias_t));
	CUDNN(cudnnDestroyFilterDescriptor(l->w_t));
	CUDNN(cudnnDestroyConvolutionDescriptor(l->conv));
}

static void finish_norm(const struct norm_layer *l)
{
	CUDNN(cudnnDestroyTensorDescriptor(l->x_t));
	CUDNN(cudnnDestroyTensorDescriptor(l->maps_t));
	CUDA(cudaFree(l->mean));
	CUDA(cudaFree(l->variance));
	CUDA(cudaFree(l->saved_mean));
	CUDA(cudaFree(l->saved_inverse));
}

void resnet_finish(struct resnet *net)
{
	float *buffers[] = {net->x, net->act, net->pooled, net->logits, net->log_prob,
		net->d_logits, net->d_pooled, net->d_act, net->d_x, net->workspace,
		net->all_weights, net->all_grads, net->no_bias};
	const struct conv_layer *conv;
	const struct norm_layer *norm;

	for (unsigned i = 0; (conv = resnet_conv(net, i)); i++)
		finish_conv(conv);
	for (unsigned i = 0; (norm = resnet_norm(net, i)); i++)
		finish_norm(norm);
	for (unsigned i = 0; i < RESNET_BLOCKS; i++) {
		const struct block *b = &net->blocks[i];
		float *mine[] = {b->x, b->act1, b->mid, b->act2, b->branch, b->d_act1, b->d_mid,
			b->d_act2, b->d_x};

		for (unsigned j = 0; j < sizeof(mine) / sizeof(*mine); j++)
			CUDA(cudaFree(mine[j])); /* trap: TFS202 TFS401 */
	}
	for (unsigned i = 0; i < sizeof(buffers) / sizeof(*buffers); i++)
		CUDA(cudaFree(buffers[i]));
	for (unsigned i = 0; i < net->parameters && !net->all_weights; i++) {
		CUDA(cudaFree(net->weight[i]));
		CUDA(cudaFree(net->grad[i]));
	}
	CUDNN(cudnnDestroyTensorDescriptor(net->pooled_t));
	CUDNN(cudnnDestroyTensorDescriptor(net->class_t));
	CUDNN(cudnnDestroyActivationDescriptor(net->relu));
	CUDNN(cudnnDestroyActivationDescriptor(net->identity));
	CUDNN(cudnnDestroyPoolingDescriptor(net->mean));
	CUBLAS(cublasDestroy(net->blas));
	CUDNN(cudnnDestroy(net->dnn));
}
