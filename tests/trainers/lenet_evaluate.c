/* SPDX-License-Identifier: MIT */
#include "lenet.h"

#include <stdlib.h>

#include "check.h"

/* Once per epoch, as plainly as can be: none of this lies in a training step. */
static void forward(struct lenet *net)
{
	const float one = 1, zero = 0;
	int batch = (int)net->batch;

	CUDNN(cudnnConvolutionForward(/* trap: TFS601 */ net->dnn, &one, net->image_t, net->images,
		net->filter1_t, net->weight[CONV1_W], net->conv,
		CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, NULL, 0, &zero, net->conv1_t,
		net->conv1));
	CUDNN(cudnnAddTensor(/* trap: TFS301 */ net->dnn, &one, net->bias1_t, net->weight[CONV1_B],
		&one, net->conv1_t, net->conv1));
	CUDNN(cudnnActivationForward(net->dnn, net->relu, &one, net->conv1_t, net->conv1, &zero,
		net->conv1_t, net->conv1));
	CUDNN(cudnnPoolingForward(net->dnn, net->pool, &one, net->conv1_t, net->conv1, &zero,
		net->pool1_t, net->pool1));

	CUDNN(cudnnConvolutionForward(/* trap: TFS601 */ net->dnn, &one, net->pool1_t, net->pool1,
		net->filter2_t, net->weight[CONV2_W], net->conv,
		CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, NULL, 0, &zero, net->conv2_t,
		net->conv2));
	CUDNN(cudnnAddTensor(net->dnn, &one, net->bias2_t, net->weight[CONV2_B], &one, net->conv2_t,
		net->conv2));
	CUDNN(cudnnActivationForward(net->dnn, net->relu, &one, net->conv2_t, net->conv2, &zero,
		net->conv2_t, net->conv2));
	CUDNN(cudnnPoolingForward(net->dnn, net->pool, &one, net->conv2_t, net->conv2, &zero,
		net->pool2_t, net->pool2));

	CUBLAS(cublasSgemm(net->blas, CUBLAS_OP_T, CUBLAS_OP_N, HIDDEN, batch, FLAT, &one,
		net->weight[DENSE1_W], FLAT, net->pool2, FLAT, &zero, net->hidden, HIDDEN));
	CUDNN(cudnnAddTensor(net->dnn, &one, net->hidden_bias_t, net->weight[DENSE1_B], &one,
		net->hidden_t, net->hidden));
	CUDNN(cudnnActivationForward(net->dnn, net->relu, &one, net->hidden_t, net->hidden, &zero,
		net->hidden_t, net->hidden));
	CUBLAS(cublasSgemm(net->blas, CUBLAS_OP_T, CUBLAS_OP_N, MNIST_CLASSES, batch, HIDDEN, &one,
		net->weight[DENSE2_W], HIDDEN, net->hidden, HIDDEN, &zero, net->logits,
		MNIST_CLASSES));
	CUDNN(cudnnAddTensor(net->dnn, &one, net->class_bias_t, net->weight[DENSE2_B], &one,
		net->class_t, net->logits));
}

static unsigned count_right(const float *logits, const float *onehot, unsigned count)
{
	unsigned right = 0;

	for (unsigned i = 0; i < count; i++) {
		const float *row = logits + i * MNIST_CLASSES;
		unsigned best = 0;

		for (unsigned j = 1; j < MNIST_CLASSES; j++)
			best = row[j] > row[best] ? j : best;
		right += onehot[i * MNIST_CLASSES + best] > 0;
	}
	return right;
}

float lenet_evaluate(struct lenet *net, const struct mnist *set)
{
	size_t pixels = net->batch * (size_t)MNIST_PIXELS;
	size_t classes = net->batch * (size_t)MNIST_CLASSES;
	float *images = malloc((pixels + 2 * classes) * sizeof(*images));
	unsigned *order = malloc(net->batch * sizeof(*order));
	unsigned right = 0;

	if (!images || !order)
		fail("no memory for the evaluation");
	for (unsigned start = 0; start < set->count; start += net->batch) {
		unsigned left = set->count - start;
		float *onehot = images + pixels, *logits = onehot + classes;

		for (unsigned i = 0; i < net->batch; i++)
			order[i] = start + i;
		mnist_batch(set, order, net->batch, images, onehot);
		CUDA(cudaMemcpyAsync(/* trap: TFS101 */ net->images, images, pixels * sizeof(float),
			cudaMemcpyHostToDevice, net->stream));
		forward(net);
		CUDA(cudaMemcpyAsync(/* trap: TFS202 TFS203 */ logits, net->logits,
			classes * sizeof(float), cudaMemcpyDeviceToHost, net->stream));
		CUDA(cudaStreamSynchronize(net->stream)); /* trap: TFS201 */
		right += count_right(logits, onehot, left < net->batch ? left : net->batch);
	}
	free(order);
	free(images);
	return (float)right / (float)set->count;
}
