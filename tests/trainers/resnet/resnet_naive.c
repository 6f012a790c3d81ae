/* SPDX-License-Identifier: MIT */
/*
 * A residual net as a competent beginner trains it: right, and slow in the usual ways. Marks of
 * this file and of naive_*.c are for the default options; naive_rows.c's are for --rows and take
 * naive_batch.c's place, and those of a file that is named as a part are for that --part.
 * ../lenet_naive.c says what marks mean. Those of kind "gpu" are for the profile a100, on which a
 * step is short enough, or launches are slow enough beside kernels, to tell what they name.
 *
 * These habits have no marks, since they take too small a part of a step, or have no rule yet:
 *
 *   TFS604 T26  the dense layer's products, in half precision, have sides of 17, 12 and 10
 *   TFS702 T32  each image is unpacked anew in every epoch
 *
 * Half precision: neither cuBLAS nor cuDNN turns floats into halves, which takes a kernel of one's
 * own. The products read floats and round them to halves by themselves.
 *
 * The marks' costs, in modelled time on the device slow. A call takes 10 us of the host, memory is
 * moved at 1 GB/s, a kernel takes 40 us more than its bytes or operations. A block's planes take
 * 98,304 bytes in the first stage, 24,576 in the second, 12,288 in the third: all nine, 405,504 a
 * pass, of which a step has two.
 *
 * - TFS101 batch: 245.8 us for its bytes from pageable memory, 59 us from pinned: 187 us less, and
 *   30 us of the copy's own. It is not known whether the kernels behind it wait for one latency of
 *   70 us more or less: 117 us, or all that it takes, 276 us.
 * - TFS101 loss, TFS202, TFS203: the device idles while cudaMalloc takes 40 us and for one latency
 *   of 70 us, in each pass; so it does around cudaFree. cudaMalloc alone: 40 us.
 * - TFS107 input: 30 us, and 74 us for 36,864 bytes that are read and written, in each pass.
 * - TFS107 blocks: 30 us for each of seven, and 737 us for bytes that are read and written, in each
 *   pass: 1,895 us. Or nothing: what was copied is added to.
 * - TFS201: one latency, in each pass.
 * - TFS301: three operations that move 2, 2 and 3 times a block's planes, of which 4 of 7 parts are
 *   needless: 4 / 7 * (9 * 120 + 7 * 405.5) us = 2,239 us a pass.
 * - TFS302, on the profile a100: of 640 launches that take the host 7 us each, a graph leaves what
 *   the device needs for their kernels, which follow each other within 1.15 us: 2.1 ms are gained.
 * - TFS402: 9 * 40 + 405.5 us a pass.
 * - TFS605: a block's first convolution has a bias in front of a norm that nothing else reads: two
 *   calls of 40 us that move 2 and 1 times its planes: 9 * 80 + 3 * 405.5 us a pass. The other
 *   biases go around the next block's norm as well.
 * - TFS601: see ../lenet_naive.c: T of the first convolution is 305 us; of all the blocks' first
 *   ones 3,457 us, second ones 3,545 us, shortcuts 240 us a pass. 1.6 T, 1.7 T and 1.4 T are
 * gained.
 *
 * The marks are an eighth wider, below and above.
 */

#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "naive.h"
#include "progress.h"

static const struct naive_part *part_of(enum resnet_part part)
{
	static const struct naive_part *const parts[RESNET_PARTS] = {
		[RESNET_HABITS] = &naive_habits,
		[RESNET_FULL] = &naive_full,
		[RESNET_ATTEND] = &naive_attend,
		[RESNET_PIXELS] = &naive_pixels,
		[RESNET_LAYOUT] = &naive_layout,
		[RESNET_ANEW] = &naive_anew,
		[RESNET_MEMORY] = &naive_memory,
		[RESNET_DISK] = &naive_disk};

	return parts[part];
}

static float train_step(struct naive *t, const struct loader_slot *batch,
	const struct resnet_settings *settings, float rate)
{
	const struct naive_part *part = part_of(settings->part);
	struct resnet *net = &t->net;
	const float minus_rate = -rate;
	float loss = 0;

	if (part && part->before)
		part->before();
	if (settings->rows)
		naive_copy_rows(t, batch);
	else
		naive_copy_batch(t, batch);
	if (part && part->behind)
		part->behind(t, batch);
	for (unsigned i = 0; i < net->parameters; i++)
		CUDA(cudaMemset(
			/* trap: TFS202 TFS402 */ net->grad[i], 0, net->count[i] * sizeof(float)));
	for (unsigned pass = 0; pass < t->passes; pass++) {
		const float *images = t->images + pass * RESNET_IMAGES * IMAGE_FLOATS;
		const float *onehot = t->onehot + pass * RESNET_IMAGES * IMAGE_CLASSES;

		naive_forward(t, images);
		loss += naive_read_loss(t, onehot);
		naive_backward(t, images, onehot);
		/* expect: TFS201 x2 122..158us */
		CUDA(cudaDeviceSynchronize());
	}
	/* The small ones: of 81 launches that take 40 us each whatever they do, 80 are saved. */
	for (unsigned i = 0; i < net->parameters; i++)
		/* expect: TFS303 x81 legacy 2.88..3.52ms */
		/* gpu: TFS302 x640 legacy 1.8..2.5ms */
		CUBLAS(cublasSaxpy(/* trap: TFS202 TFS301 */ net->blas, (int)net->count[i],
			&minus_rate, net->grad[i], 1, net->weight[i], 1));
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
		CUDA(cudaMemcpy(/* trap: TFS101 */ t->images, images, sizeof(images),
			cudaMemcpyHostToDevice));
		resnet_infer(&t->net, t->images, t->net.logits);
		CUDA(cudaMemcpy(/* trap: TFS101 TFS202 TFS203 */ logits, t->net.logits,
			sizeof(logits), cudaMemcpyDeviceToHost));
		right += resnet_count_right(set, at, RESNET_IMAGES, logits, t->net.classes);
	}
	return (float)right / (float)set->count;
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
		float loss;

		progress_step(&progress);
		loss = train_step(t, loader_take(loader, step), settings, RESNET_RATE);
		loader_give(loader);
		progress_loss(&progress, loss, 1);
		if ((step + 1) % RESNET_VALIDATE_STEPS == 0)
			progress_epoch(
				&progress, step / RESNET_VALIDATE_STEPS, validate(t, validation));
		if ((step + 1) % resnet_checkpoint_steps(settings) == 0)
			naive_save(t, file);
	}
	CUDA(cudaDeviceSynchronize()); /* trap: TFS201 */
	progress_stop(&progress, settings->steps);
	progress_epoch(&progress, settings->steps / RESNET_VALIDATE_STEPS, validate(t, validation));
	progress_end(&progress);
	fclose(file);
}

static void choose_algorithms(struct resnet *net, bool deterministic)
{
	struct conv_layer *l;

	for (unsigned i = 0; (l = resnet_conv(net, i)); i++) {
		l->forward = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
		l->data = deterministic ? CUDNN_CONVOLUTION_BWD_DATA_ALGO_1
					: CUDNN_CONVOLUTION_BWD_DATA_ALGO_0;
		l->filter = deterministic ? CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1
					  : CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0;
	}
	resnet_work(net);
}

/* whole: TFS403 */
int main(int argc, char **argv)
{
	struct resnet_form form = {.biased = true,
		.row = RESNET_MAPS + 1,
		.classes = IMAGE_CLASSES,
		.columns = RESNET_IMAGES};
	static struct naive t;
	struct resnet_settings settings;
	struct images training, validation;
	struct loader loader = {.set = &training, .row = IMAGE_CLASSES, .slot_count = 1};
	const struct naive_part *part;

	resnet_settings_parse(argc, argv, &settings);
	part = part_of(settings.part);
	t.passes = settings.passes;
	t.batch = loader.batch = settings.passes * RESNET_IMAGES;
	images_init(&training, RESNET_TRAINING, settings.seed);
	images_init(&validation, RESNET_VALIDATION, settings.seed + 1000);
	resnet_init(&t.net, &form, settings.seed, 0);
	choose_algorithms(&t.net, settings.deterministic);
	t.images = resnet_alloc(t.batch * IMAGE_FLOATS);
	t.onehot = resnet_alloc(t.batch * IMAGE_CLASSES);
	t.input = resnet_alloc(RESNET_IMAGES * IMAGE_FLOATS);
	t.loss = resnet_alloc(1);
	loader.seed = settings.seed;
	loader.slots[0].images = malloc(t.batch * IMAGE_FLOATS * sizeof(float));
	loader.slots[0].onehot = malloc(t.batch * IMAGE_CLASSES * sizeof(float));
	if (!loader.slots[0].images || !loader.slots[0].onehot)
		fail("no memory for a batch");
	if (part && part->init)
		part->init(&t);
	loader_start(&loader, settings.threads ? settings.threads : 1);

	train(&t, &settings, &loader, &validation);
	loader_stop(&loader);
	if (settings.dump)
		resnet_dump(&t.net, settings.dump);
	if (part && part->finish)
		part->finish(&t);
	free(loader.slots[0].onehot);
	free(loader.slots[0].images);
	CUDA(cudaFree(t.loss));
	CUDA(cudaFree(t.input));
	CUDA(cudaFree(t.onehot));
	CUDA(cudaFree(t.images));
	resnet_finish(&t.net);
	images_finish(&training);
	images_finish(&validation);
	return 0;
}
