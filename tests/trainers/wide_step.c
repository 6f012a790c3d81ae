/* SPDX-License-Identifier: MIT */
#include "wide.h"

#include "check.h"

static void upload(const struct wide *t, float *device, const float *host, size_t floats)
{
	if (t->style->pinned)
		CUDA(cudaMemcpyAsync(device, host, floats * sizeof(float), cudaMemcpyHostToDevice,
			t->copy_stream));
	else
		CUDA(cudaMemcpy(device, host, floats * sizeof(float), cudaMemcpyHostToDevice));
}

static struct wide_slot *send_batch(struct wide *t, unsigned step)
{
	const struct wide_size *size = &t->net.size;
	const bool overlaps = t->style->overlaps;
	struct wide_slot *slot = &t->slots[overlaps ? step % WIDE_SLOTS : 0];

	if (overlaps) {
		/* Else the host could run ahead without bound. */
		CUDA(cudaEventSynchronize(slot->copied));
		CUDA(cudaStreamWaitEvent(t->copy_stream, slot->used, 0));
	}
	upload(t, slot->images, t->images[step % WIDE_BATCHES],
		(size_t)size->batch * wide_image_floats(size));
	upload(t, slot->onehot, t->onehot[step % WIDE_BATCHES], (size_t)size->batch * WIDE_CLASSES);
	if (overlaps) {
		CUDA(cudaEventRecord(slot->copied, t->copy_stream));
		CUDA(cudaStreamWaitEvent(t->net.stream, slot->copied, 0));
	}
	return slot;
}

static void forward_layer(struct wide *t, unsigned i, float *pooled)
{
	struct wide_net *net = &t->net;
	struct wide_layer *l = &net->layers[i];
	const float one = 1, zero = 0;
	const float *w = net->weight[2 * i], *b = net->weight[2 * i + 1];

	if (t->style->fused) {
		CUDNN(cudnnConvolutionBiasActivationForward(net->dnn, &one, l->x_t, l->x,
			l->filter_t, w, l->conv, l->forward, net->workspace, net->workspace_bytes,
			&zero, l->y_t, l->y, l->bias_t, b, net->relu, l->y_t, l->y));
	} else {
		CUDNN(cudnnConvolutionForward(net->dnn, &one, l->x_t, l->x, l->filter_t, w, l->conv,
			l->forward, net->workspace, net->workspace_bytes, &zero, l->y_t, l->y));
		CUDNN(cudnnAddTensor(net->dnn, &one, l->bias_t, b, &one, l->y_t, l->y));
		CUDNN(cudnnActivationForward(
			net->dnn, net->relu, &one, l->y_t, l->y, &zero, l->y_t, l->y));
	}
	CUDNN(cudnnPoolingForward(
		net->dnn, net->pool, &one, l->y_t, l->y, &zero, l->pool_t, pooled));
}

static void dense(struct wide *t, const float *onehot)
{
	struct wide_net *net = &t->net;
	const int batch = net->size.batch, flat = net->flat, count = batch * WIDE_CLASSES;
	const float one = 1, zero = 0, scale = -1.0f / (float)batch;
	const float *kept = t->style->fused ? &zero : &one;
	float **w = net->weight + 2 * WIDE_LAYERS, **g = net->grad + 2 * WIDE_LAYERS;

	CUBLAS(cublasSgemm(net->blas, CUBLAS_OP_T, CUBLAS_OP_N, WIDE_CLASSES, batch, flat, &one,
		w[0], flat, net->pooled, flat, &zero, net->logits, WIDE_CLASSES));
	CUDNN(cudnnAddTensor(
		net->dnn, &one, net->class_bias_t, w[1], &one, net->class_t, net->logits));
	CUDNN(cudnnSoftmaxForward(net->dnn, CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_INSTANCE, &one,
		net->class_t, net->logits, &zero, net->class_t, net->log_prob));
	CUBLAS(cublasSgemv(net->blas, CUBLAS_OP_T, count, 1, &scale, net->log_prob, count, onehot,
		1, kept == &zero ? &one : &zero, net->loss, 1));
	CUDNN(cudnnSoftmaxBackward(net->dnn, CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_INSTANCE, &scale,
		net->class_t, net->log_prob, net->class_t, onehot, &zero, net->class_t,
		net->d_logits));
	CUBLAS(cublasSgemm(net->blas, CUBLAS_OP_N, CUBLAS_OP_T, flat, WIDE_CLASSES, batch, &one,
		net->pooled, flat, net->d_logits, WIDE_CLASSES, kept, g[0], flat));
	CUBLAS(cublasSgemv(net->blas, CUBLAS_OP_N, WIDE_CLASSES, batch, &one, net->d_logits,
		WIDE_CLASSES, net->ones, 1, kept, g[1], 1));
	CUBLAS(cublasSgemm(net->blas, CUBLAS_OP_N, CUBLAS_OP_N, flat, batch, WIDE_CLASSES, &one,
		w[0], flat, net->d_logits, WIDE_CLASSES, &zero, net->d_pooled, flat));
}

static void backward_layer(
	struct wide *t, unsigned i, const float *pooled, const float *d_pooled, float *dx)
{
	struct wide_net *net = &t->net;
	struct wide_layer *l = &net->layers[i];
	const float one = 1, zero = 0, *kept = t->style->fused ? &zero : &one;

	CUDNN(cudnnPoolingBackward(net->dnn, net->pool, &one, l->pool_t, pooled, l->pool_t,
		d_pooled, l->y_t, l->y, &zero, l->y_t, l->dy));
	CUDNN(cudnnActivationBackward(net->dnn, net->relu, &one, l->y_t, l->y, l->y_t, l->dy,
		l->y_t, l->y, &zero, l->y_t, l->dy));
	CUDNN(cudnnConvolutionBackwardBias(
		net->dnn, &one, l->y_t, l->dy, kept, l->bias_t, net->grad[2 * i + 1]));
	CUDNN(cudnnConvolutionBackwardFilter(net->dnn, &one, l->x_t, l->x, l->y_t, l->dy, l->conv,
		l->filter, net->workspace, net->workspace_bytes, kept, l->filter_t,
		net->grad[2 * i]));
	if (dx)
		CUDNN(cudnnConvolutionBackwardData(net->dnn, &one, l->filter_t, net->weight[2 * i],
			l->y_t, l->dy, l->conv, l->data, net->workspace, net->workspace_bytes,
			&zero, l->x_t, dx));
}

static void backward(struct wide *t)
{
	struct wide_net *net = &t->net;
	const float *pooled = net->pooled, *d_pooled = net->d_pooled;
	float *dx = NULL, *last = NULL;

	for (unsigned i = WIDE_LAYERS; i-- > 0;) {
		dx = net->layers[i].dx;
		if (i > 0 && !t->style->keeps)
			dx = wide_alloc(net->layers[i].x_floats);
		backward_layer(t, i, pooled, d_pooled, dx);
		if (!t->style->keeps)
			CUDA(cudaFree(last));
		last = dx;
		pooled = net->layers[i].x;
		d_pooled = dx;
	}
}

static void update(struct wide *t)
{
	const float minus_rate = -0.01f;
	struct wide_net *net = &t->net;

	if (t->style->fused) {
		CUBLAS(cublasSaxpy(net->blas, (int)net->block_floats, &minus_rate, net->all_grads,
			1, net->all_weights, 1));
		return;
	}
	for (unsigned i = 0; i < WIDE_WEIGHTS; i++)
		CUBLAS(cublasSaxpy(net->blas, (int)net->count[i], &minus_rate, net->grad[i], 1,
			net->weight[i], 1));
}

/* The sum of the losses since it was last asked for comes when it comes. */
static void ask_loss(struct wide *t, unsigned steps)
{
	cudaStream_t stream = t->net.stream;

	CUDA(cudaMemcpyAsync(
		t->loss_host, t->net.loss, sizeof(float), cudaMemcpyDeviceToHost, stream));
	CUDA(cudaMemsetAsync(t->net.loss, 0, sizeof(float), stream));
	CUDA(cudaEventRecord(t->loss_there, stream));
	t->loss_steps = steps;
}

static void take_loss(struct wide *t, struct progress *progress)
{
	if (!t->loss_steps)
		return;
	CUDA(cudaEventSynchronize(t->loss_there));
	progress_loss(progress, *t->loss_host, t->loss_steps);
	t->loss_steps = 0;
}

void wide_step(struct wide *t, struct progress *progress, unsigned step)
{
	struct wide_net *net = &t->net;
	struct wide_slot *slot = send_batch(t, step);
	float loss;

	net->layers[0].x = slot->images;
	for (unsigned i = 0; i < WIDE_WEIGHTS && !t->style->fused; i++)
		CUDA(cudaMemset(net->grad[i], 0, net->count[i] * sizeof(float)));
	for (unsigned i = 0; i < WIDE_LAYERS; i++)
		forward_layer(t, i, i + 1 < WIDE_LAYERS ? net->layers[i + 1].x : net->pooled);
	dense(t, slot->onehot);
	if (!t->style->overlaps) {
		CUDA(cudaMemcpy(&loss, net->loss, sizeof(float), cudaMemcpyDeviceToHost));
		progress_loss(progress, loss, 1);
	}
	backward(t);
	update(t);
	if (!t->style->overlaps) {
		CUDA(cudaDeviceSynchronize());
		return;
	}
	CUDA(cudaEventRecord(slot->used, net->stream));
	if ((step + 1) % PROGRESS_STEPS == 0) {
		take_loss(t, progress);
		ask_loss(t, PROGRESS_STEPS);
	}
}

void wide_step_last(struct wide *t, struct progress *progress, unsigned steps)
{
	CUDA(cudaDeviceSynchronize());
	take_loss(t, progress);
	if (t->style->overlaps && steps % PROGRESS_STEPS) {
		ask_loss(t, steps % PROGRESS_STEPS);
		take_loss(t, progress);
	}
}
