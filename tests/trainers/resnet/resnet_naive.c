/* SPDX-License-Identifier: MIT */
/*
 * A residual net as a competent beginner trains it: right, and slow in the usual ways.
 */

#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "naive.h"
#include "progress.h"

static float train_step(struct naive *t, const struct loader_slot *batch, bool rows, float rate)
{
	struct resnet *net = &t->net;
	const float minus_rate = -rate;
	float loss = 0;

	if (rows)
		naive_copy_rows(t, batch);
	else
		naive_copy_batch(t, batch);
	for (unsigned i = 0; i < net->parameters; i++)
		CUDA(cudaMemset(net->grad[i], 0, net->count[i] * sizeof(float)));
	for (unsigned pass = 0; pass < t->passes; pass++) {
		const float *images = t->images + pass * RESNET_IMAGES * IMAGE_FLOATS;
		const float *onehot = t->onehot + pass * RESNET_IMAGES * IMAGE_CLASSES;

		naive_forward(t, images);
		loss += naive_read_loss(t, onehot);
		naive_backward(t, images, onehot);
		CUDA(cudaDeviceSynchronize());
	}
	for (unsigned i = 0; i < net->parameters; i++)
		CUBLAS(cublasSaxpy(net->blas, (int)net->count[i], &minus_rate, net->grad[i], 1,
			net->weight[i], 1));
	return loss;
}

/* The share of the set that the net gets right. */
static float validate(struct naive *t, const struct images *set)
{
	static const struct image_cut middle = {IMAGE_SHIFTS / 2, IMAGE_SHIFTS / 2, false};
	static float images[RESNET_IMAGES * IMAGE_FLOATS];
	static float logits[RESNET_IMAGES * IMAGE_CLASSES];
	unsigned right = 0;

	for (unsigned at = 0; at < set->count; at += RESNET_IMAGES) {
		for (unsigned i = 0; i < RESNET_IMAGES; i++)
			images_cut(set, at + i, middle, images + i * IMAGE_FLOATS);
		CUDA(cudaMemcpy(t->images, images, sizeof(images), cudaMemcpyHostToDevice));
		resnet_infer(&t->net, t->images);
		CUDA(cudaMemcpy(logits, t->net.logits, sizeof(logits), cudaMemcpyDeviceToHost));
		right += resnet_count_right(set, at, RESNET_IMAGES, logits, t->net.classes);
	}
	return (float)right / (float)set->count;
}

/* Training waits until the weights are in the file. */
static void write_checkpoint(struct naive *t, FILE *file)
{
	const struct resnet *net = &t->net;
	float *host = malloc(net->block_floats * sizeof(*host));
	bool bad = !host;

	rewind(file);
	for (unsigned i = 0; i < net->parameters && !bad; i++) {
		size_t count = net->count[i];

		CUDA(cudaMemcpy(
			host, net->weight[i], count * sizeof(float), cudaMemcpyDeviceToHost));
		bad = fwrite(host, sizeof(float), count, file) != count;
	}
	if (bad || fflush(file))
		fail("could not write a checkpoint");
	free(host);
}

static void train(struct naive *t, const struct resnet_settings *settings, struct loader *loader,
	const struct images *validation)
{
	struct progress progress = {.quiet = settings->quiet, .warmup = settings->warmup};
	FILE *file = settings->checkpoint ? fopen(settings->checkpoint, "wb") : tmpfile();

	if (!file)
		fail("no file for checkpoints");
	progress_start(&progress);
	for (unsigned step = 0; step < settings->steps; step++) {
		const float rate = 0.2f;
		float loss;

		progress_step(&progress);
		loss = train_step(t, loader_take(loader, step), settings->rows, rate);
		loader_give(loader);
		progress_loss(&progress, loss, 1);
		if ((step + 1) % RESNET_VALIDATE_STEPS == 0)
			progress_epoch(
				&progress, step / RESNET_VALIDATE_STEPS, validate(t, validation));
		if ((step + 1) % RESNET_CHECKPOINT_STEPS == 0)
			write_checkpoint(t, file);
	}
	CUDA(cudaDeviceSynchronize());
	progress_stop(&progress, settings->steps);
	progress_epoch(&progress, settings->steps / RESNET_VALIDATE_STEPS, validate(t, validation));
	progress_end(&progress);
	fclose(file);
}

static void choose_algorithms(struct resnet *net)
{
	struct conv_layer *l;

	for (unsigned i = 0; (l = resnet_conv(net, i)); i++) {
		l->forward = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
		l->data = CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;
		l->filter = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;
	}
	resnet_work(net);
}

int main(int argc, char **argv)
{
	struct resnet_form form = {
		.biased = true, .row = RESNET_MAPS + 1, .classes = IMAGE_CLASSES};
	static struct naive t;
	struct resnet_settings settings;
	struct images training, validation;
	struct loader loader = {.set = &training, .row = IMAGE_CLASSES, .slot_count = 1};

	resnet_settings_parse(argc, argv, &settings);
	t.passes = settings.passes;
	t.batch = loader.batch = settings.passes * RESNET_IMAGES;
	images_init(&training, RESNET_TRAINING, settings.seed);
	images_init(&validation, RESNET_VALIDATION, settings.seed + 1000);
	resnet_init(&t.net, &form, settings.seed, 0);
	choose_algorithms(&t.net);
	t.images = resnet_alloc(t.batch * IMAGE_FLOATS);
	t.onehot = resnet_alloc(t.batch * IMAGE_CLASSES);
	t.loss = resnet_alloc(1);
	loader.seed = settings.seed;
	loader.slots[0].images = malloc(t.batch * IMAGE_FLOATS * sizeof(float));
	loader.slots[0].onehot = malloc(t.batch * IMAGE_CLASSES * sizeof(float));
	if (!loader.slots[0].images || !loader.slots[0].onehot)
		fail("no memory for a batch");
	loader_start(&loader, settings.threads ? settings.threads : 1);

	train(&t, &settings, &loader, &validation);
	loader_stop(&loader);
	if (settings.dump)
		resnet_dump(&t.net, settings.dump);
	free(loader.slots[0].onehot);
	free(loader.slots[0].images);
	CUDA(cudaFree(t.loss));
	CUDA(cudaFree(t.onehot));
	CUDA(cudaFree(t.images));
	resnet_finish(&t.net);
	images_finish(&training);
	images_finish(&validation);
	return 0;
}
