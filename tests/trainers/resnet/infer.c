/* SPDX-License-Identifier: MIT */
#include "resnet.h"

#include "check.h"

/* Now and then, as plainly as can be: none of this lies in a training step. */

static void convolve(struct resnet *net, const struct conv_layer *l, const float *x, float scale,
	float keep, float *y)
{
	const float one = 1;

	CUDNN(cudnnConvolutionForward(/* trap: TFS601 */ net->dnn, &scale, l->x_t, x, l->w_t,
		net->weight[l->weight], l->conv, l->forward, net->workspace, net->workspace_bytes,
		&keep, l->y_t, y));
	if (l->bias != RESNET_NONE)
		CUDNN(cudnnAddTensor(/* trap: TFS301 */ net->dnn, &scale, l->bias_t,
			net->weight[l->bias], &one, l->y_t, y));
}

static void normalise(struct resnet *net, const struct norm_layer *l, const float *x, float *y)
{
	const float one = 1, zero = 0;

	CUDNN(cudnnBatchNormalizationForwardInference(net->dnn, CUDNN_BATCHNORM_SPATIAL, &one,
		&zero, l->x_t, x, l->x_t, y, l->maps_t, net->weight[l->scale],
		net->weight[l->shift], l->mean, l->variance, RESNET_EPSILON));
	CUDNN(cudnnActivationForward(
		net->dnn, net->relu, &one, l->x_t, y, &zero, l->x_t, y)); /* trap: TFS301 */
}

/* y = x + RESNET_BRANCH * the second convolution, x being what the shortcut made of it. */
static void add_branch(struct resnet *net, const struct block *b, float *y)
{
	const float one = 1, share = RESNET_BRANCH;
	const struct conv_layer *l = &b->conv2;

	if (net->no_bias) {
		CUDNN(cudnnConvolutionBiasActivationForward(/* trap: TFS601 */ net->dnn, &share,
			l->x_t, b->act2, l->w_t, net->weight[l->weight], l->conv, l->forward,
			net->workspace, net->workspace_bytes, &one, l->y_t, b->shrinks ? y : b->x,
			l->bias_t, net->no_bias, net->identity, l->y_t, y));
		return;
	}
	if (!b->shrinks)
		CUDA(cudaMemcpyAsync(y, b->x, b->out_floats * sizeof(float),
			cudaMemcpyDeviceToDevice, net->stream));
	convolve(net, l, b->act2, share, 1, y);
}

void resnet_infer(struct resnet *net, const float *images, float *logits)
{
	const float one = 1, zero = 0;

	convolve(net, &net->stem, images, 1, 0, net->blocks[0].x);
	for (unsigned i = 0; i < RESNET_BLOCKS; i++) {
		struct block *b = &net->blocks[i];
		float *y = i + 1 < RESNET_BLOCKS ? net->blocks[i + 1].x : net->x;

		normalise(net, &b->norm1, b->x, b->act1);
		if (b->shrinks)
			convolve(net, &b->shortcut, b->act1, 1, 0, y);
		convolve(net, &b->conv1, b->act1, 1, 0, b->mid);
		normalise(net, &b->norm2, b->mid, b->act2);
		add_branch(net, b, y);
	}
	normalise(net, &net->norm, net->x, net->act);
	CUDNN(cudnnPoolingForward(net->dnn, net->mean, &one, net->norm.x_t, net->act, &zero,
		net->pooled_t, net->pooled));
	CUBLAS(cublasSgemm(net->blas, CUBLAS_OP_T, CUBLAS_OP_N, net->classes, RESNET_IMAGES,
		net->row, &one, net->weight[net->dense], net->row, net->pooled, net->row, &zero,
		logits, net->classes));
}

unsigned resnet_count_right(
	const struct images *set, unsigned first, unsigned count, const float *logits, int row)
{
	unsigned right = 0;

	for (unsigned i = 0; i < count; i++, logits += row) {
		unsigned best = 0;

		for (unsigned j = 1; j < IMAGE_CLASSES; j++)
			best = logits[j] > logits[best] ? j : best;
		right += best == set->labels[first + i];
	}
	return right;
}
