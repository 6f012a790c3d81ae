/* SPDX-License-Identifier: MIT */
/*
 * A LeNet as a competent beginner trains it: right, and slow in all the usual ways.
 *
 * "expect:" names the findings that a call deserves, on the call's line: that of the innermost
 * frame that is the program's; a chain of calls has its finding on its first. "trap:" names
 * those that it only seems to deserve: none of them may have the line anywhere in its stack.
 * Both are for the default options, in small and wide; the figures are for small.
 */

#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "lenet.h"
#include "progress.h"

struct trainer {
	struct lenet net;
	struct lenet_algos algos;
	void *workspace;
	float *loss;  /* of this step, on the device */
	float *curve; /* of the steps of this epoch, on the device */
};

/*
 * What TFS601 gains, by the simulated cuDNN (tests/sim/cudnn/cudnn_algo.c) on the device slow: a
 * convolution takes T, 40 us and 1 ns for 5 operations, times its algorithm's number. These are 2.6
 * for IMPLICIT_GEMM, 2.5 and 2.4 for the filter's and the data's ALGO_0; of those that may take
 * their place the best have 1.0, for filters 0.8, of ALGO_3, which is as little deterministic as
 * ALGO_0. T is 2.99 ms for the first layer's 2 x 25 x 294,912 operations and 2.66 ms for the
 * second's 2 x 200 x 32,768; so 1.6 T, 1.7 T and 1.4 T are gained. The marks are an eighth wider,
 * below and above.
 */

/* Not inlined: its two callers must be told apart by their stacks, not by their copies of it. */
static __attribute__((noinline)) void upload(float *device, const float *host, size_t bytes)
{
	/* expect: TFS101 x1 196KiB legacy 400..740us */
	CUDA(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
}

static void forward(struct trainer *t)
{
	struct lenet *net = &t->net;
	const float one = 1, zero = 0;
	int batch = (int)net->batch;

	/* expect: TFS601 x1 legacy 4.18..5.38ms */
	CUDNN(cudnnConvolutionForward(net->dnn, &one, net->image_t, net->images, net->filter1_t,
		net->weight[CONV1_W], net->conv, t->algos.forward1, t->workspace,
		t->algos.workspace_bytes, &zero, net->conv1_t, net->conv1));
	/* expect: TFS301 x1 2304KiB legacy 2.1..5.1ms */
	CUDNN(cudnnAddTensor(net->dnn, &one, net->bias1_t, net->weight[CONV1_B], &one, net->conv1_t,
		net->conv1));
	CUDNN(cudnnActivationForward(net->dnn, net->relu, &one, net->conv1_t, net->conv1, &zero,
		net->conv1_t, net->conv1));
	CUDNN(cudnnPoolingForward(net->dnn, net->pool, &one, net->conv1_t, net->conv1, &zero,
		net->pool1_t, net->pool1));

	/* expect: TFS601 x1 legacy 3.73..4.79ms */
	CUDNN(cudnnConvolutionForward(net->dnn, &one, net->pool1_t, net->pool1, net->filter2_t,
		net->weight[CONV2_W], net->conv, t->algos.forward2, t->workspace,
		t->algos.workspace_bytes, &zero, net->conv2_t, net->conv2));
	/* expect: TFS301 x1 256KiB legacy 265..640us */
	CUDNN(cudnnAddTensor(net->dnn, &one, net->bias2_t, net->weight[CONV2_B], &one, net->conv2_t,
		net->conv2));
	CUDNN(cudnnActivationForward(net->dnn, net->relu, &one, net->conv2_t, net->conv2, &zero,
		net->conv2_t, net->conv2));
	CUDNN(cudnnPoolingForward(net->dnn, net->pool, &one, net->conv2_t, net->conv2, &zero,
		net->pool2_t, net->pool2));

	CUBLAS(cublasSgemm(net->blas, CUBLAS_OP_T, CUBLAS_OP_N, HIDDEN, batch, FLAT, &one,
		net->weight[DENSE1_W], FLAT, net->pool2, FLAT, &zero, net->hidden, HIDDEN));
	/* expect: TFS301 x1 32KiB legacy 64..82us */
	CUDNN(cudnnAddTensor(net->dnn, &one, net->hidden_bias_t, net->weight[DENSE1_B], &one,
		net->hidden_t, net->hidden));
	CUDNN(cudnnActivationForward(net->dnn, net->relu, &one, net->hidden_t, net->hidden, &zero,
		net->hidden_t, net->hidden));

	CUBLAS(cublasSgemm(net->blas, CUBLAS_OP_T, CUBLAS_OP_N, MNIST_CLASSES, batch, HIDDEN, &one,
		net->weight[DENSE2_W], HIDDEN, net->hidden, HIDDEN, &zero, net->logits,
		MNIST_CLASSES));
	CUDNN(cudnnAddTensor(/* trap: TFS301 */ net->dnn, &one, net->class_bias_t,
		net->weight[DENSE2_B], &one, net->class_t, net->logits));
	CUDNN(cudnnSoftmaxForward(net->dnn, CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_INSTANCE, &one,
		net->class_t, net->logits, &zero, net->class_t, net->log_prob));
}

/* The mean of minus the log probability of the right classes: a product with the one-hot rows. */
static float read_loss(struct trainer *t, unsigned step)
{
	struct lenet *net = &t->net;
	const float scale = -1.0f / (float)net->batch, zero = 0;
	int count = (int)net->batch * MNIST_CLASSES;
	float loss;

	CUBLAS(cublasSgemv(net->blas, CUBLAS_OP_T, count, 1, &scale, net->log_prob, count,
		net->onehot, 1, &zero, t->loss, 1));
	CUDA(cudaMemcpy(/* trap: TFS202 */ t->curve + step, t->loss, sizeof(float),
		cudaMemcpyDeviceToDevice));
	/* expect: TFS101 x1 4B legacy 60..80us TFS202 x1 4B legacy 60..80us */
	/* expect: TFS203 x1 4B legacy 60..80us */
	CUDA(cudaMemcpy(&loss, t->loss, sizeof(*t->loss), cudaMemcpyDeviceToHost));
	return loss;
}

static void backward_dense(struct trainer *t)
{
	struct lenet *net = &t->net;
	const float one = 1, zero = 0, scale = -1.0f / (float)net->batch;
	int batch = (int)net->batch;

	CUDNN(cudnnSoftmaxBackward(net->dnn, CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_INSTANCE, &scale,
		net->class_t, net->log_prob, net->class_t, net->onehot, &zero, net->class_t,
		net->d_logits));
	CUBLAS(cublasSgemm(net->blas, CUBLAS_OP_N, CUBLAS_OP_T, HIDDEN, MNIST_CLASSES, batch, &one,
		net->hidden, HIDDEN, net->d_logits, MNIST_CLASSES, &one, net->grad[DENSE2_W],
		HIDDEN));
	CUBLAS(cublasSgemv(net->blas, CUBLAS_OP_N, MNIST_CLASSES, batch, &one, net->d_logits,
		MNIST_CLASSES, net->ones, 1, &one, net->grad[DENSE2_B], 1));
	CUBLAS(cublasSgemm(net->blas, CUBLAS_OP_N, CUBLAS_OP_N, HIDDEN, batch, MNIST_CLASSES, &one,
		net->weight[DENSE2_W], HIDDEN, net->d_logits, MNIST_CLASSES, &zero, net->d_hidden,
		HIDDEN));

	CUDNN(cudnnActivationBackward(net->dnn, net->relu, &one, net->hidden_t, net->hidden,
		net->hidden_t, net->d_hidden, net->hidden_t, net->hidden, &zero, net->hidden_t,
		net->d_hidden));
	CUBLAS(cublasSgemm(net->blas, CUBLAS_OP_N, CUBLAS_OP_T, FLAT, HIDDEN, batch, &one,
		net->pool2, FLAT, net->d_hidden, HIDDEN, &one, net->grad[DENSE1_W], FLAT));
	CUBLAS(cublasSgemv(net->blas, CUBLAS_OP_N, HIDDEN, batch, &one, net->d_hidden, HIDDEN,
		net->ones, 1, &one, net->grad[DENSE1_B], 1));
	CUBLAS(cublasSgemm(net->blas, CUBLAS_OP_N, CUBLAS_OP_N, FLAT, batch, HIDDEN, &one,
		net->weight[DENSE1_W], FLAT, net->d_hidden, HIDDEN, &zero, net->d_pool2, FLAT));
}

static void backward_convolutions(struct trainer *t)
{
	struct lenet *net = &t->net;
	const float one = 1, zero = 0;
	size_t pool1_bytes = net->batch * sizeof(float) * CONV1_MAPS * POOL1_SIDE * POOL1_SIDE;
	void *d_pool1;

	/* expect: TFS401 x1 288KiB 0us */
	CUDA(cudaMalloc(&d_pool1, pool1_bytes));

	CUDNN(cudnnPoolingBackward(net->dnn, net->pool, &one, net->pool2_t, net->pool2,
		net->pool2_t, net->d_pool2, net->conv2_t, net->conv2, &zero, net->conv2_t,
		net->d_conv2));
	CUDNN(cudnnActivationBackward(net->dnn, net->relu, &one, net->conv2_t, net->conv2,
		net->conv2_t, net->d_conv2, net->conv2_t, net->conv2, &zero, net->conv2_t,
		net->d_conv2));
	CUDNN(cudnnConvolutionBackwardBias(net->dnn, &one, net->conv2_t, net->d_conv2, &one,
		net->bias2_t, net->grad[CONV2_B]));
	/* expect: TFS601 x1 legacy 3.96..5.09ms */
	CUDNN(cudnnConvolutionBackwardFilter(net->dnn, &one, net->pool1_t, net->pool1, net->conv2_t,
		net->d_conv2, net->conv, t->algos.filter2, t->workspace, t->algos.workspace_bytes,
		&one, net->filter2_t, net->grad[CONV2_W]));
	/* expect: TFS601 x1 legacy 3.26..4.19ms */
	CUDNN(cudnnConvolutionBackwardData(net->dnn, &one, net->filter2_t, net->weight[CONV2_W],
		net->conv2_t, net->d_conv2, net->conv, t->algos.data2, t->workspace,
		t->algos.workspace_bytes, &zero, net->pool1_t, d_pool1));

	CUDNN(cudnnPoolingBackward(net->dnn, net->pool, &one, net->pool1_t, net->pool1,
		net->pool1_t, d_pool1, net->conv1_t, net->conv1, &zero, net->conv1_t,
		net->d_conv1));
	CUDNN(cudnnActivationBackward(net->dnn, net->relu, &one, net->conv1_t, net->conv1,
		net->conv1_t, net->d_conv1, net->conv1_t, net->conv1, &zero, net->conv1_t,
		net->d_conv1));
	CUDNN(cudnnConvolutionBackwardBias(net->dnn, &one, net->conv1_t, net->d_conv1, &one,
		net->bias1_t, net->grad[CONV1_B]));
	/* expect: TFS601 x1 legacy 4.45..5.72ms */
	CUDNN(cudnnConvolutionBackwardFilter(net->dnn, &one, net->image_t, net->images,
		net->conv1_t, net->d_conv1, net->conv, t->algos.filter1, t->workspace,
		t->algos.workspace_bytes, &one, net->filter1_t, net->grad[CONV1_W]));

	/* expect: TFS202 x1 288KiB 95..125us */
	/* expect: TFS401 x1 288KiB 95..125us */
	CUDA(cudaFree(d_pool1));
}

static float train_step(
	struct trainer *t, const float *images, const float *onehot, float rate, unsigned step)
{
	struct lenet *net = &t->net;
	size_t image_bytes = net->batch * sizeof(float) * MNIST_PIXELS;
	size_t label_bytes = net->batch * sizeof(float) * MNIST_CLASSES;
	const float minus_rate = -rate;
	float loss;

	upload(net->images, images, image_bytes);
	upload(net->onehot, onehot, label_bytes); /* trap: TFS101 */
	for (unsigned i = 0; i < PARAMETERS; i++) {
		size_t bytes = lenet_count(i) * sizeof(float);

		/* small: TFS402 x8 42888B legacy 320..405us */
		CUDA(cudaMemset(net->grad[i], 0, bytes)); /* trap: TFS202 */
	}
	forward(t);
	loss = read_loss(t, step);
	backward_dense(t);
	backward_convolutions(t);
	for (unsigned i = 0; i < PARAMETERS; i++)
		/* Of the 40 us that each takes beside its bytes, one has to be. */
		/* expect: TFS303 x8 legacy 250..310us */
		CUBLAS(cublasSaxpy(/* trap: TFS202 TFS301 */ net->blas, (int)lenet_count(i),
			&minus_rate, net->grad[i], 1, net->weight[i], 1));
	/* expect: TFS201 x1 70..90us */
	CUDA(cudaDeviceSynchronize());
	return loss;
}

/* The largest loss of an epoch's steps, from the curve that the device has kept. */
static void print_worst(struct trainer *t, unsigned count)
{
	float *curve = malloc(count * sizeof(*curve)), worst = 0;

	if (!curve)
		fail("no memory for the curve");
	CUDA(cudaMemcpy(/* trap: TFS202 TFS203 */ curve, t->curve, count * sizeof(*curve),
		cudaMemcpyDeviceToHost));
	for (unsigned i = 0; i < count; i++)
		worst = curve[i] > worst ? curve[i] : worst;
	printf("worst step: loss %.4f\n", worst);
	free(curve);
}

static void train(struct trainer *t, const struct options *options, const struct mnist *training,
	const struct mnist *test)
{
	struct progress progress = {.quiet = options->quiet, .warmup = options->warmup};
	unsigned batch = options->batch, per_epoch = training->count / batch;
	uint64_t rng = options->seed + 1;
	unsigned *order = malloc(training->count * sizeof(*order));
	float *images = malloc(batch * sizeof(float) * MNIST_PIXELS);
	float *onehot = malloc(batch * sizeof(float) * MNIST_CLASSES);
	unsigned done = 0;

	if (!order || !images || !onehot)
		fail("no memory for a batch");
	t->curve = lenet_alloc(per_epoch);
	for (unsigned epoch = 0; epoch < options->epochs; epoch++) {
		float rate = options_rate(options, epoch);
		unsigned step;

		mnist_shuffle(&rng, training->count, order);
		progress_start(&progress);
		for (step = 0; step < per_epoch; step++) {
			if (options->steps && done + step == options->steps)
				break;
			progress_step(&progress);
			mnist_batch(training, order + step * batch, batch, images, onehot);
			progress_loss(&progress, train_step(t, images, onehot, rate, step), 1);
		}
		done += step;
		progress_stop(&progress, step);
		print_worst(t, step);
		progress_epoch(&progress, epoch, lenet_evaluate(&t->net, test));
		if (done == options->steps)
			break;
	}
	progress_end(&progress);
	CUDA(cudaFree(t->curve));
	free(onehot);
	free(images);
	free(order);
}

int main(int argc, char **argv)
{
	struct trainer t = {.workspace = NULL};
	struct options options;
	struct mnist training, test;

	options_parse(argc, argv, &options);
	lenet_load(&options, &training, &test);
	lenet_init(&t.net, &options, 0, false);
	t.algos.forward1 = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
	t.algos.forward2 = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
	t.algos.filter1 = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0;
	t.algos.filter2 = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0;
	t.algos.data2 = CUDNN_CONVOLUTION_BWD_DATA_ALGO_0;
	if (options.deterministic) {
		t.algos.filter1 = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;
		t.algos.filter2 = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;
		t.algos.data2 = CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;
	}
	t.algos.workspace_bytes = lenet_workspace_bytes(&t.net, &t.algos);
	CUDA(cudaMalloc(&t.workspace, t.algos.workspace_bytes + 1));
	t.loss = lenet_alloc(1);

	train(&t, &options, &training, &test);
	if (options.dump)
		lenet_dump(&t.net, options.dump);
	CUDA(cudaFree(t.loss));
	CUDA(cudaFree(t.workspace));
	lenet_finish(&t.net);
	mnist_finish(&training);
	mnist_finish(&test);
	return 0;
}
