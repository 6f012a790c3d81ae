/* SPDX-License-Identifier: MIT */
/*
 * A small network with kernels of its own: 784 inputs, 128 hidden (ReLU to 6, scaled), 10 classes.
 * Copies and waits are in order here; what is not are a chain of pointwise kernels and gradients
 * that are zeroed by a kernel only to be added to. "expect:" and "trap:" as in lenet_naive.c.
 */

#include <cublas_v2.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "mnist.h"
#include "options.h"
#include "progress.h"
#include "rng.h"

#include "mlp_cpu.h"

enum { HIDDEN = 128, THREADS = 256, SLOTS = 2 };
enum { W1, B1, W2, B2, PARAMETERS };

static const int counts[PARAMETERS] = {
	HIDDEN * MNIST_PIXELS, HIDDEN, MNIST_CLASSES * HIDDEN, MNIST_CLASSES,
};

static const float gain = 0.7f, limit = 6.0f;

__global__ void bias_add(float *x, const float *bias, int width, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		x[i] += bias[i % width];
}

__global__ void relu(float *x, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		x[i] = x[i] > 0 ? x[i] : 0;
}

__global__ void clip(float *x, float largest, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		x[i] = x[i] < largest ? x[i] : largest;
}

__global__ void scale(float *x, float factor, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		x[i] *= factor;
}

/* The chain's way back at once: nothing comes back where the result is 0 or at its limit. */
__global__ void hidden_back(float *d, const float *y, float factor, float largest, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		d[i] = y[i] > 0 && y[i] < largest ? d[i] * factor : 0;
}

/* One thread per image: bias, log softmax, the image's share of the loss and its gradient. */
__global__ void softmax_loss(float *logits, const float *bias, const float *onehot,
			     float *d_logits, float *loss, int rows)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x, at = row * MNIST_CLASSES;
	float largest = -INFINITY, sum = 0;

	if (row >= rows)
		return;
	for (int i = at; i < at + MNIST_CLASSES; i++) {
		logits[i] += bias[i - at];
		largest = logits[i] > largest ? logits[i] : largest;
	}
	for (int i = at; i < at + MNIST_CLASSES; i++)
		sum += expf(logits[i] - largest);
	loss[row] = 0;
	for (int i = at; i < at + MNIST_CLASSES; i++) {
		float log_prob = logits[i] - largest - logf(sum);

		loss[row] -= onehot[i] * log_prob / rows;
		d_logits[i] = (expf(log_prob) - onehot[i]) / rows;
	}
}

__global__ void fill(float *x, float value, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		x[i] = value;
}

__global__ void sgd(float *weight, const float *grad, float rate, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		weight[i] -= rate * grad[i];
}

/* One batch on its way: images, then their labels. */
struct slot {
	float *host; /* pinned */
	float *device;
	cudaEvent_t copied;
};

struct trainer {
	int batch;
	cublasHandle_t blas;
	float *weight[PARAMETERS], *grad[PARAMETERS];
	struct slot slots[SLOTS];
	float *hidden, *d_hidden, *logits, *d_logits, *loss, *ones;
	float *loss_sum, *loss_host;
	cudaEvent_t loss_there;
	unsigned loss_steps; /* that the reading under way sums up */
};

static int blocks(int count)
{
	return (count + THREADS - 1) / THREADS;
}

static struct slot *send_batch(struct trainer *t, const struct mnist *set, const unsigned *order,
			       unsigned step)
{
	struct slot *slot = &t->slots[step % SLOTS];
	size_t floats = (size_t)t->batch * (MNIST_PIXELS + MNIST_CLASSES);

	CUDA(cudaEventSynchronize(slot->copied)); /* trap: TFS201 */
	mnist_batch(set, order, t->batch, slot->host,
		    slot->host + (size_t)t->batch * MNIST_PIXELS);
	CUDA(cudaMemcpyAsync(/* trap: TFS101 TFS202 */ slot->device, slot->host,
			     floats * sizeof(float), cudaMemcpyHostToDevice, 0));
	CUDA(cudaEventRecord(slot->copied, 0));
	return slot;
}

static void forward(struct trainer *t, const float *images)
{
	const float one = 1, zero = 0;
	int count = t->batch * HIDDEN, grid = blocks(count);

	CUBLAS(cublasSgemm(t->blas, CUBLAS_OP_T, CUBLAS_OP_N, HIDDEN, t->batch, MNIST_PIXELS, &one,
			   t->weight[W1], MNIST_PIXELS, images, MNIST_PIXELS, &zero, t->hidden,
			   HIDDEN));
	/* expect: TFS301 x1 192KiB legacy 0..355us */
	bias_add<<<grid, THREADS>>>(t->hidden, t->weight[B1], HIDDEN, count);
	relu<<<grid, THREADS>>>(t->hidden, count);
	clip<<<grid, THREADS>>>(t->hidden, limit, count);
	scale<<<grid, THREADS>>>(t->hidden, gain, count);
	CUBLAS(cublasSgemm(t->blas, CUBLAS_OP_T, CUBLAS_OP_N, MNIST_CLASSES, t->batch, HIDDEN, &one,
			   t->weight[W2], HIDDEN, t->hidden, HIDDEN, &zero, t->logits,
			   MNIST_CLASSES));
}

static void backward(struct trainer *t, const float *images)
{
	const float one = 1, zero = 0;
	int count = t->batch * HIDDEN, grid = blocks(count);

	CUBLAS(cublasSgemm(t->blas, CUBLAS_OP_N, CUBLAS_OP_T, HIDDEN, MNIST_CLASSES, t->batch, &one,
			   t->hidden, HIDDEN, t->d_logits, MNIST_CLASSES, &one, t->grad[W2],
			   HIDDEN));
	CUBLAS(cublasSgemv(t->blas, CUBLAS_OP_N, MNIST_CLASSES, t->batch, &one, t->d_logits,
			   MNIST_CLASSES, t->ones, 1, &one, t->grad[B2], 1));
	CUBLAS(cublasSgemm(t->blas, CUBLAS_OP_N, CUBLAS_OP_N, HIDDEN, t->batch, MNIST_CLASSES, &one,
			   t->weight[W2], HIDDEN, t->d_logits, MNIST_CLASSES, &zero, t->d_hidden,
			   HIDDEN));
	hidden_back<<<grid, THREADS>>>(/* trap: TFS301 */ t->d_hidden, t->hidden, gain,
				       gain * limit, count);
	CUBLAS(cublasSgemm(t->blas, CUBLAS_OP_N, CUBLAS_OP_T, MNIST_PIXELS, HIDDEN, t->batch, &one,
			   images, MNIST_PIXELS, t->d_hidden, HIDDEN, &one, t->grad[W1],
			   MNIST_PIXELS));
	CUBLAS(cublasSgemv(t->blas, CUBLAS_OP_N, HIDDEN, t->batch, &one, t->d_hidden, HIDDEN,
			   t->ones, 1, &one, t->grad[B1], 1));
}

static void train_step(struct trainer *t, const struct slot *slot, float rate)
{
	const float *images = slot->device;
	const float *onehot = images + (size_t)t->batch * MNIST_PIXELS;
	const float one = 1;

	for (int i = 0; i < PARAMETERS; i++) {
		int grid = blocks(counts[i]);

		fill<<<grid, THREADS>>>(t->grad[i], 0.0f, counts[i]); /* unmeasured: TFS402 */
	}
	forward(t, images);
	softmax_loss<<<blocks(t->batch), THREADS>>>(/* trap: TFS301 */ t->logits, t->weight[B2],
						    onehot, t->d_logits, t->loss, t->batch);
	/* Added up over 20 steps, so the sum's zeroing below has its use. */
	CUBLAS(cublasSgemv(t->blas, CUBLAS_OP_T, t->batch, 1, &one, t->loss, t->batch, t->ones, 1,
			   &one, t->loss_sum, 1));
	backward(t, images);
	for (int i = 0; i < PARAMETERS; i++)
		sgd<<<blocks(counts[i]), THREADS>>>(/* trap: TFS301 */ t->weight[i], t->grad[i],
						    rate, counts[i]);
	CUDA(cudaGetLastError()); /* trap: TFS201 TFS202 */
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

static void ask_loss(struct trainer *t, unsigned steps)
{
	CUDA(cudaMemcpyAsync(/* trap: TFS101 TFS202 TFS203 */ t->loss_host, t->loss_sum,
			     sizeof(float), cudaMemcpyDeviceToHost, 0));
	CUDA(cudaEventRecord(t->loss_there, 0));
	fill<<<1, THREADS>>>(t->loss_sum, 0.0f, 1); /* trap: TFS402 */
	t->loss_steps = steps;
}

static float evaluate(struct trainer *t, const struct mnist *set)
{
	size_t classes = (size_t)t->batch * MNIST_CLASSES;
	float *rows = (float *)malloc(classes * sizeof(*rows)), bias[MNIST_CLASSES];
	unsigned *order = (unsigned *)malloc(t->batch * sizeof(*order));
	unsigned batch = (unsigned)t->batch, right = 0;

	if (!rows || !order)
		fail("no memory for the evaluation");
	CUDA(cudaMemcpy(/* trap: TFS202 TFS203 */ bias, t->weight[B2], sizeof(bias),
			cudaMemcpyDeviceToHost));
	for (unsigned start = 0; start < set->count; start += batch) {
		for (unsigned i = 0; i < batch; i++)
			order[i] = start + i;
		forward(t, send_batch(t, set, order, 0)->device);
		CUDA(cudaMemcpy(/* trap: TFS202 TFS203 */ rows, t->logits, classes * sizeof(*rows),
				cudaMemcpyDeviceToHost));
		for (unsigned i = 0; i < batch && start + i < set->count; i++) {
			const float *x = rows + i * MNIST_CLASSES;
			int best = 0;

			for (int j = 1; j < MNIST_CLASSES; j++)
				best = x[j] + bias[j] > x[best] + bias[best] ? j : best;
			right += set->labels[start + i] == best;
		}
	}
	free(order);
	free(rows);
	return (float)right / set->count;
}

static void train(struct trainer *t, const struct options *options, const struct mnist *training,
		  const struct mnist *test)
{
	struct progress progress = {};
	unsigned per_epoch = training->count / options->batch, done = 0;
	uint64_t rng = options->seed + 1;
	unsigned *order = (unsigned *)malloc(training->count * sizeof(*order));

	if (!order)
		fail("no memory for the order of the images");
	progress.quiet = options->quiet;
	progress.warmup = options->warmup;
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
		CUDA(cudaDeviceSynchronize()); /* trap: TFS201 */
		progress_stop(&progress, step);
		take_loss(t, &progress);
		progress_epoch(&progress, epoch, evaluate(t, test));
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

static float *alloc(size_t count)
{
	void *memory = NULL;

	CUDA(cudaMalloc(&memory, count * sizeof(float))); /* trap: TFS401 */
	return (float *)memory;
}

static float *alloc_pinned(size_t count)
{
	void *memory = NULL;

	CUDA(cudaMallocHost(&memory, count * sizeof(float))); /* trap: TFS202 TFS401 */
	return (float *)memory;
}

static void init_parameters(struct trainer *t, uint64_t seed)
{
	const int inputs[PARAMETERS] = {MNIST_PIXELS, 0, HIDDEN, 0};
	float *host = (float *)malloc(counts[W1] * sizeof(*host));

	if (!host)
		fail("no memory for the weights");
	for (int i = 0; i < PARAMETERS; i++) {
		float limit = inputs[i] ? sqrtf(6.0f / inputs[i]) : 0;

		for (int j = 0; j < counts[i]; j++)
			host[j] = rng_uniform(&seed, -limit, limit);
		t->weight[i] = alloc(counts[i]);
		t->grad[i] = alloc(counts[i]);
		CUDA(cudaMemcpy(/* trap: TFS101 */ t->weight[i], host, counts[i] * sizeof(*host),
				cudaMemcpyHostToDevice));
	}
	free(host);
}

static void init(struct trainer *t, const struct options *options)
{
	size_t batch = options->batch, floats = batch * (MNIST_PIXELS + MNIST_CLASSES);

	t->batch = (int)batch;
	CUBLAS(cublasCreate(&t->blas));
	init_parameters(t, options->seed);
	for (int i = 0; i < SLOTS; i++) {
		t->slots[i].host = alloc_pinned(floats);
		t->slots[i].device = alloc(floats);
		CUDA(cudaEventCreateWithFlags(&t->slots[i].copied, cudaEventDisableTiming));
	}
	t->hidden = alloc(batch * HIDDEN);
	t->d_hidden = alloc(batch * HIDDEN);
	t->logits = alloc(batch * MNIST_CLASSES);
	t->d_logits = alloc(batch * MNIST_CLASSES);
	t->loss = alloc(batch);
	t->ones = alloc(batch);
	t->loss_sum = alloc(1);
	t->loss_host = alloc_pinned(1);
	CUDA(cudaEventCreateWithFlags(&t->loss_there, cudaEventDisableTiming));
	fill<<<blocks(t->batch), THREADS>>>(t->ones, 1.0f, t->batch);
	fill<<<1, THREADS>>>(t->loss_sum, 0.0f, 1);
	CUDA(cudaGetLastError());
}

static void dump(const struct trainer *t, const char *path)
{
	float *host = (float *)malloc(counts[W1] * sizeof(*host));
	FILE *file = fopen(path, "wb");
	bool bad = !file || !host;

	for (int i = 0; i < PARAMETERS && !bad; i++) {
		CUDA(cudaMemcpy(/* trap: TFS101 TFS202 */ host, t->weight[i],
				counts[i] * sizeof(*host), cudaMemcpyDeviceToHost));
		bad = fwrite(host, sizeof(*host), counts[i], file) != (size_t)counts[i];
	}
	free(host);
	if ((file && fclose(file)) || bad)
		fail("could not write the weights");
}

static void finish(struct trainer *t)
{
	float *buffers[] = {t->hidden, t->d_hidden, t->logits,	 t->d_logits,
			    t->loss,   t->ones,	    t->loss_sum, NULL};

	for (int i = 0; buffers[i]; i++)
		CUDA(cudaFree(buffers[i])); /* trap: TFS202 TFS401 */
	for (int i = 0; i < PARAMETERS; i++) {
		CUDA(cudaFree(t->weight[i]));
		CUDA(cudaFree(t->grad[i]));
	}
	for (int i = 0; i < SLOTS; i++) {
		CUDA(cudaEventDestroy(t->slots[i].copied));
		CUDA(cudaFree(t->slots[i].device));
		CUDA(cudaFreeHost(t->slots[i].host));
	}
	CUDA(cudaEventDestroy(t->loss_there));
	CUDA(cudaFreeHost(t->loss_host));
	CUBLAS(cublasDestroy(t->blas));
}

int main(int argc, char **argv)
{
	struct trainer t = {};
	struct options options;
	struct mnist training, test;
	char error[4400];

	mlp_cpu_register();
	options_parse(argc, argv, &options);
	if (mnist_load(options.data, "train", error, sizeof(error), &training) ||
	    mnist_load(options.data, "t10k", error, sizeof(error), &test))
		fail(error);
	if (training.count < options.batch)
		fail("fewer images than one batch has");
	init(&t, &options);
	train(&t, &options, &training, &test);
	if (options.dump)
		dump(&t, options.dump);
	finish(&t);
	mnist_finish(&training);
	mnist_finish(&test);
	return 0;
}
