/* SPDX-License-Identifier: MIT */
/*
 * The same LeNet with none of lenet_naive.c's habits: input through pinned memory on a stream of
 * its own while the step before computes, nothing in the loop that waits for the device or
 * allocates, gradients written instead of added, searched algorithms, fused calls, one update.
 * What remains only looks like a finding ("trap:").
 */

#include <stdlib.h>

#include "check.h"
#include "lenet.h"
#include "progress.h"

enum { SLOTS = 2 };

/* One batch on its way: images, then their labels. */
struct slot {
	float *host; /* pinned */
	float *device;
	cudaEvent_t copied; /* the host's half is free again, the device's is there */
	cudaEvent_t used;   /* the device's half is free again */
};

struct trainer {
	struct lenet net;
	struct lenet_algos algos;
	void *workspace;
	float *d_pool1;
	cudaStream_t copy_stream;
	struct slot slots[SLOTS];
	size_t images_floats, slot_floats;
	float *loss_sum;  /* of the steps since the last reading, on the device */
	float *loss_host; /* the last reading, in pinned memory */
	cudaEvent_t loss_there;
	unsigned loss_steps; /* that the last reading sums up, 0: none under way */
};

/* Fills a slot and sends it off; the device is still busy with the step before. */
static struct slot *send_batch(
	struct trainer *t, const struct mnist *set, const unsigned *order, unsigned step)
{
	struct slot *slot = &t->slots[step % SLOTS];
	size_t bytes = t->slot_floats * sizeof(float);

	CUDA(cudaEventSynchronize(slot->copied)); /* trap: TFS201 */
	mnist_batch(set, order, t->net.batch, slot->host, slot->host + t->images_floats);
	CUDA(cudaStreamWaitEvent(t->copy_stream, slot->used, 0)); /* trap: TFS201 */
	CUDA(cudaMemcpyAsync(/* trap: TFS101 TFS202 */ slot->device, slot->host, bytes,
		cudaMemcpyHostToDevice, t->copy_stream));
	CUDA(cudaEventRecord(slot->copied, t->copy_stream));
	CUDA(cudaStreamWaitEvent(t->net.stream, slot->copied, 0)); /* trap: TFS201 */
	return slot;
}

static void forward(struct trainer *t, const float *images)
{
	struct lenet *net = &t->net;
	const float one = 1, zero = 0;
	int batch = (int)net->batch;

	CUDNN(cudnnConvolutionBiasActivationForward(/* trap: TFS301 TFS601 */ net->dnn, &one,
		net->image_t, images, net->filter1_t, net->weight[CONV1_W], net->conv,
		t->algos.forward1, t->workspace, t->algos.workspace_bytes, &zero, net->conv1_t,
		net->conv1, net->bias1_t, net->weight[CONV1_B], net->relu, net->conv1_t,
		net->conv1));
	CUDNN(cudnnPoolingForward(net->dnn, net->pool, &one, net->conv1_t, net->conv1, &zero,
		net->pool1_t, net->pool1));

	CUDNN(cudnnConvolutionBiasActivationForward(/* trap: TFS301 TFS601 */ net->dnn, &one,
		net->pool1_t, net->pool1, net->filter2_t, net->weight[CONV2_W], net->conv,
		t->algos.forward2, t->workspace, t->algos.workspace_bytes, &zero, net->conv2_t,
		net->conv2, net->bias2_t, net->weight[CONV2_B], net->relu, net->conv2_t,
		net->conv2));
	CUDNN(cudnnPoolingForward(net->dnn, net->pool, &one, net->conv2_t, net->conv2, &zero,
		net->pool2_t, net->pool2));

	/* A dense layer is a 1x1 convolution, so that its bias and ReLU come with it too. */
	CUDNN(cudnnConvolutionBiasActivationForward(/* trap: TFS301 TFS601 */ net->dnn, &one,
		net->flat_t, net->pool2, net->dense1_t, net->weight[DENSE1_W], net->conv,
		t->algos.forward_dense, t->workspace, t->algos.workspace_bytes, &zero,
		net->hidden_t, net->hidden, net->hidden_bias_t, net->weight[DENSE1_B], net->relu,
		net->hidden_t, net->hidden));

	CUBLAS(cublasSgemm(net->blas, CUBLAS_OP_T, CUBLAS_OP_N, MNIST_CLASSES, batch, HIDDEN, &one,
		net->weight[DENSE2_W], HIDDEN, net->hidden, HIDDEN, &zero, net->logits,
		MNIST_CLASSES));
	CUDNN(cudnnAddTensor(/* trap: TFS301 */ net->dnn, &one, net->class_bias_t,
		net->weight[DENSE2_B], &one, net->class_t, net->logits));
	CUDNN(cudnnSoftmaxForward(net->dnn, CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_INSTANCE, &one,
		net->class_t, net->logits, &zero, net->class_t, net->log_prob));
}

static void backward_dense(struct trainer *t, const float *onehot)
{
	struct lenet *net = &t->net;
	const float one = 1, zero = 0, scale = -1.0f / (float)net->batch;
	int batch = (int)net->batch;

	CUDNN(cudnnSoftmaxBackward(net->dnn, CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_INSTANCE, &scale,
		net->class_t, net->log_prob, net->class_t, onehot, &zero, net->class_t,
		net->d_logits));
	CUBLAS(cublasSgemm(net->blas, CUBLAS_OP_N, CUBLAS_OP_T, HIDDEN, MNIST_CLASSES, batch, &one,
		net->hidden, HIDDEN, net->d_logits, MNIST_CLASSES, &zero, net->grad[DENSE2_W],
		HIDDEN));
	CUBLAS(cublasSgemv(net->blas, CUBLAS_OP_N, MNIST_CLASSES, batch, &one, net->d_logits,
		MNIST_CLASSES, net->ones, 1, &zero, net->grad[DENSE2_B], 1));
	CUBLAS(cublasSgemm(net->blas, CUBLAS_OP_N, CUBLAS_OP_N, HIDDEN, batch, MNIST_CLASSES, &one,
		net->weight[DENSE2_W], HIDDEN, net->d_logits, MNIST_CLASSES, &zero, net->d_hidden,
		HIDDEN));

	CUDNN(cudnnActivationBackward(net->dnn, net->relu, &one, net->hidden_t, net->hidden,
		net->hidden_t, net->d_hidden, net->hidden_t, net->hidden, &zero, net->hidden_t,
		net->d_hidden));
	CUBLAS(cublasSgemm(net->blas, CUBLAS_OP_N, CUBLAS_OP_T, FLAT, HIDDEN, batch, &one,
		net->pool2, FLAT, net->d_hidden, HIDDEN, &zero, net->grad[DENSE1_W], FLAT));
	CUBLAS(cublasSgemv(net->blas, CUBLAS_OP_N, HIDDEN, batch, &one, net->d_hidden, HIDDEN,
		net->ones, 1, &zero, net->grad[DENSE1_B], 1));
	CUBLAS(cublasSgemm(net->blas, CUBLAS_OP_N, CUBLAS_OP_N, FLAT, batch, HIDDEN, &one,
		net->weight[DENSE1_W], FLAT, net->d_hidden, HIDDEN, &zero, net->d_pool2, FLAT));
}

static void backward_convolutions(struct trainer *t, const float *images)
{
	struct lenet *net = &t->net;
	const float one = 1, zero = 0;

	CUDNN(cudnnPoolingBackward(net->dnn, net->pool, &one, net->pool2_t, net->pool2,
		net->pool2_t, net->d_pool2, net->conv2_t, net->conv2, &zero, net->conv2_t,
		net->d_conv2));
	CUDNN(cudnnActivationBackward(net->dnn, net->relu, &one, net->conv2_t, net->conv2,
		net->conv2_t, net->d_conv2, net->conv2_t, net->conv2, &zero, net->conv2_t,
		net->d_conv2));
	CUDNN(cudnnConvolutionBackwardBias(net->dnn, &one, net->conv2_t, net->d_conv2, &zero,
		net->bias2_t, net->grad[CONV2_B]));
	CUDNN(cudnnConvolutionBackwardFilter(/* trap: TFS601 */ net->dnn, &one, net->pool1_t,
		net->pool1, net->conv2_t, net->d_conv2, net->conv, t->algos.filter2, t->workspace,
		t->algos.workspace_bytes, &zero, net->filter2_t, net->grad[CONV2_W]));
	CUDNN(cudnnConvolutionBackwardData(/* trap: TFS601 */ net->dnn, &one, net->filter2_t,
		net->weight[CONV2_W], net->conv2_t, net->d_conv2, net->conv, t->algos.data2,
		t->workspace, t->algos.workspace_bytes, &zero, net->pool1_t, t->d_pool1));

	CUDNN(cudnnPoolingBackward(net->dnn, net->pool, &one, net->pool1_t, net->pool1,
		net->pool1_t, t->d_pool1, net->conv1_t, net->conv1, &zero, net->conv1_t,
		net->d_conv1));
	CUDNN(cudnnActivationBackward(net->dnn, net->relu, &one, net->conv1_t, net->conv1,
		net->conv1_t, net->d_conv1, net->conv1_t, net->conv1, &zero, net->conv1_t,
		net->d_conv1));
	CUDNN(cudnnConvolutionBackwardBias(net->dnn, &one, net->conv1_t, net->d_conv1, &zero,
		net->bias1_t, net->grad[CONV1_B]));
	CUDNN(cudnnConvolutionBackwardFilter(/* trap: TFS601 */ net->dnn, &one, net->image_t,
		images, net->conv1_t, net->d_conv1, net->conv, t->algos.filter1, t->workspace,
		t->algos.workspace_bytes, &zero, net->filter1_t, net->grad[CONV1_W]));
}

static void train_step(struct trainer *t, struct slot *slot, float rate)
{
	struct lenet *net = &t->net;
	const float *images = slot->device, *onehot = slot->device + t->images_floats;
	const float one = 1, scale = -1.0f / (float)net->batch, minus_rate = -rate;
	int count = (int)net->batch * MNIST_CLASSES;

	forward(t, images);
	CUBLAS(cublasSgemv(net->blas, CUBLAS_OP_T, count, 1, &scale, net->log_prob, count, onehot,
		1, &one, t->loss_sum, 1));
	backward_dense(t, onehot);
	backward_convolutions(t, images);
	CUDA(cudaEventRecord(slot->used, net->stream));
	CUBLAS(cublasSaxpy(/* trap: TFS202 TFS301 */ net->blas, (int)net->block_floats, &minus_rate,
		net->all_grads, 1, net->all_weights, 1));
}

/* Hands on the reading that is under way; asked for 20 steps ago, it has long been there. */
static void take_loss(struct trainer *t, struct progress *progress)
{
	if (!t->loss_steps)
		return;
	CUDA(cudaEventSynchronize(t->loss_there)); /* trap: TFS201 */
	progress_loss(progress, *t->loss_host, t->loss_steps);
	t->loss_steps = 0;
}

/* Starts a reading of the loss of the last steps, and a new sum. */
static void ask_loss(struct trainer *t, unsigned steps)
{
	cudaStream_t stream = t->net.stream;

	CUDA(cudaMemcpyAsync(/* trap: TFS101 TFS202 TFS203 */ t->loss_host, t->loss_sum,
		sizeof(float), cudaMemcpyDeviceToHost, stream));
	CUDA(cudaEventRecord(t->loss_there, stream));
	CUDA(cudaMemsetAsync(t->loss_sum, 0, sizeof(float), stream)); /* trap: TFS202 TFS402 */
	t->loss_steps = steps;
}

static void train(struct trainer *t, const struct options *options, const struct mnist *training,
	const struct mnist *test)
{
	struct progress progress = {.quiet = options->quiet, .warmup = options->warmup};
	unsigned per_epoch = training->count / options->batch;
	uint64_t rng = options->seed + 1;
	unsigned *order = malloc(training->count * sizeof(*order));
	unsigned done = 0;

	if (!order)
		fail("no memory for the order of the images");
	for (unsigned epoch = 0; epoch < options->epochs; epoch++) {
		float rate = options_rate(options, epoch);
		unsigned step;

		mnist_shuffle(&rng, training->count, order);
		progress_start(&progress);
		for (step = 0; step < per_epoch; step++, done++) {
			if (options->steps && done == options->steps)
				break;
			progress_step(&progress);
			train_step(t, send_batch(t, training, order + step * options->batch, done),
				rate);
			if ((done + 1) % PROGRESS_STEPS == 0) {
				take_loss(t, &progress);
				ask_loss(t, PROGRESS_STEPS);
			}
		}
		CUDA(cudaStreamSynchronize(t->net.stream)); /* trap: TFS201 */
		progress_stop(&progress, step);
		take_loss(t, &progress);
		progress_epoch(&progress, epoch, lenet_evaluate(&t->net, test));
		if (done == options->steps)
			break;
	}
	if (done % PROGRESS_STEPS) {
		ask_loss(t, done % PROGRESS_STEPS);
		take_loss(t, &progress);
	}
	progress_end(&progress);
	free(order);
}

/* The search knows plain convolutions; not every algorithm can do the fused one everywhere. */
static cudnnConvolutionFwdAlgo_t fusable(struct trainer *t, cudnnConvolutionFwdAlgo_t algo,
	cudnnTensorDescriptor_t x_t, const float *x, cudnnFilterDescriptor_t w_t, const float *w,
	cudnnTensorDescriptor_t y_t, float *y, cudnnTensorDescriptor_t bias_t, const float *bias)
{
	const float one = 1, zero = 0;
	struct lenet *net = &t->net;
	cudnnStatus_t status = cudnnConvolutionBiasActivationForward(net->dnn, &one, x_t, x, w_t, w,
		net->conv, algo, t->workspace, t->algos.workspace_bytes, &zero, y_t, y, bias_t,
		bias, net->relu, y_t, y);

	return status ? CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM : algo;
}

static void init_workspace(struct trainer *t, bool deterministic)
{
	struct lenet *net = &t->net;
	struct lenet_algos *algos = &t->algos;

	lenet_search(net, deterministic, false, algos);
	CUDA(cudaMalloc(&t->workspace, algos->workspace_bytes + 1)); /* trap: TFS401 */
	algos->forward1 = fusable(t, algos->forward1, net->image_t, net->images, net->filter1_t,
		net->weight[CONV1_W], net->conv1_t, net->conv1, net->bias1_t, net->weight[CONV1_B]);
	algos->forward2 = fusable(t, algos->forward2, net->pool1_t, net->pool1, net->filter2_t,
		net->weight[CONV2_W], net->conv2_t, net->conv2, net->bias2_t, net->weight[CONV2_B]);
	algos->forward_dense = fusable(t, algos->forward_dense, net->flat_t, net->pool2,
		net->dense1_t, net->weight[DENSE1_W], net->hidden_t, net->hidden,
		net->hidden_bias_t, net->weight[DENSE1_B]);
	CUDA(cudaFree(t->workspace)); /* trap: TFS202 TFS401 */
	algos->workspace_bytes = lenet_workspace_bytes(net, algos);
	CUDA(cudaMalloc(&t->workspace, algos->workspace_bytes + 1));
}

static void init(struct trainer *t, const struct options *options)
{
	size_t batch = options->batch;
	cudaStream_t stream;
	void *host;

	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CUDA(cudaStreamCreateWithFlags(&t->copy_stream, cudaStreamNonBlocking));
	lenet_init(&t->net, options, stream, true);
	init_workspace(t, options->deterministic);
	t->d_pool1 = lenet_alloc(batch * CONV1_MAPS * POOL1_SIDE * POOL1_SIDE);
	t->images_floats = (batch * MNIST_PIXELS + 63) / 64 * 64;
	t->slot_floats = t->images_floats + batch * MNIST_CLASSES;
	for (unsigned i = 0; i < SLOTS; i++) {
		struct slot *slot = &t->slots[i];
		size_t bytes = t->slot_floats * sizeof(float);

		CUDA(cudaMallocHost(&host, bytes)); /* trap: TFS202 TFS401 */
		slot->host = host;
		slot->device = lenet_alloc(t->slot_floats);
		CUDA(cudaEventCreateWithFlags(&slot->copied, cudaEventDisableTiming));
		CUDA(cudaEventCreateWithFlags(&slot->used, cudaEventDisableTiming));
	}
	CUDA(cudaMallocHost(&host, sizeof(float)));
	t->loss_host = host;
	t->loss_sum = lenet_alloc(1);
	CUDA(cudaMemsetAsync(t->loss_sum, 0, sizeof(float), stream));
	CUDA(cudaEventCreateWithFlags(&t->loss_there, cudaEventDisableTiming));
}

static void finish(struct trainer *t)
{
	cudaStream_t stream = t->net.stream;

	CUDA(cudaEventDestroy(t->loss_there));
	CUDA(cudaFree(t->loss_sum));
	CUDA(cudaFreeHost(t->loss_host));
	for (unsigned i = 0; i < SLOTS; i++) {
		CUDA(cudaEventDestroy(t->slots[i].used));
		CUDA(cudaEventDestroy(t->slots[i].copied));
		CUDA(cudaFree(t->slots[i].device));
		CUDA(cudaFreeHost(t->slots[i].host)); /* trap: TFS202 TFS401 */
	}
	CUDA(cudaFree(t->d_pool1));
	CUDA(cudaFree(t->workspace));
	lenet_finish(&t->net);
	CUDA(cudaStreamDestroy(t->copy_stream));
	CUDA(cudaStreamDestroy(stream));
}

int main(int argc, char **argv)
{
	struct trainer t = {.workspace = NULL};
	struct options options;
	struct mnist training, test;

	options_parse(argc, argv, &options);
	lenet_load(&options, &training, &test);
	init(&t, &options);
	train(&t, &options, &training, &test);
	if (options.dump)
		lenet_dump(&t.net, options.dump);
	finish(&t);
	mnist_finish(&training);
	mnist_finish(&test);
	return 0;
}
