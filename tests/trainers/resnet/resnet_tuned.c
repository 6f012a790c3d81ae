/* SPDX-License-Identifier: MIT */
/*
 * The same net with none of resnet_naive.c's habits: images are unpacked once, loader threads keep
 * some batches ahead, which go through pinned memory on a stream of their own; no bias before a
 * batch norm; the second convolution of a block adds what came in; gradients are written, and added
 * to in the second pass only; searched algorithms; one update; products whose sides are multiples
 * of 8. Losses, validation and checkpoints leave the device in their own time and are looked at
 * some steps later. What remains only looks like a finding ("trap:").
 */

#include <stdlib.h>

#include "check.h"
#include "progress.h"
#include "tuned.h"

/* Reports are looked at so many steps after they were asked for. */
enum { LATER = 5 };
/* What the disk of --part disk takes for a batch. */
enum { DISK_NS = 3000000 };

static const struct tuned_part *part_of(enum resnet_part part)
{
	static const struct tuned_part *const parts[RESNET_PARTS] = {
		[RESNET_HABITS] = &tuned_habits,
		[RESNET_FULL] = &tuned_full,
		[RESNET_ATTEND] = &tuned_attend,
		[RESNET_PIXELS] = &tuned_pixels,
		[RESNET_LAYOUT] = &tuned_layout,
		[RESNET_ANEW] = &tuned_anew,
		[RESNET_MEMORY] = &tuned_memory};

	return parts[part];
}

static void train_step(struct tuned *t, const struct resnet_settings *settings)
{
	const struct tuned_part *part = part_of(settings->part);
	struct tuned_slot *slot = tuned_send(t, t->step);

	if (part)
		part->behind(t, slot);
	if (settings->part == RESNET_GRAPH)
		tuned_graph(t, slot);
	else
		tuned_compute(t, slot);
	CUDA(cudaEventRecord(slot->used, t->net.stream));
	t->step++;
}

static void report(struct tuned *t, unsigned done, const struct resnet_settings *settings,
	const struct images *validation, FILE *file, struct progress *progress)
{
	const unsigned checkpoint = resnet_checkpoint_steps(settings);

	if (done % PROGRESS_STEPS == 0) {
		tuned_take_loss(t, progress);
		tuned_ask_loss(t, PROGRESS_STEPS);
	}
	if (done % RESNET_VALIDATE_STEPS == 0)
		tuned_ask_validation(t, done);
	else if (done % RESNET_VALIDATE_STEPS == LATER)
		tuned_take_validation(t, validation, progress);
	if (done % checkpoint == 0)
		tuned_ask_checkpoint(t, done);
	else if (done % checkpoint == LATER)
		tuned_take_checkpoint(t, file);
}

static void train(
	struct tuned *t, const struct resnet_settings *settings, const struct images *validation)
{
	struct progress progress = {.quiet = settings->quiet, .warmup = settings->warmup};
	FILE *file = settings->checkpoint ? fopen(settings->checkpoint, "wb") : tmpfile();
	unsigned rest = settings->steps % PROGRESS_STEPS;

	if (!file)
		fail("no file for checkpoints");
	progress_start(&progress);
	for (unsigned step = 0; step < settings->steps; step++) {
		progress_step(&progress);
		train_step(t, settings);
		report(t, step + 1, settings, validation, file, &progress);
	}
	CUDA(cudaStreamSynchronize(t->net.stream)); /* trap: TFS201 */
	progress_stop(&progress, settings->steps);
	tuned_take_loss(t, &progress);
	if (rest)
		tuned_ask_loss(t, rest);
	tuned_take_loss(t, &progress);
	tuned_take_validation(t, validation, &progress);
	tuned_take_checkpoint(t, file);
	tuned_ask_validation(t, settings->steps + RESNET_VALIDATE_STEPS);
	tuned_take_validation(t, validation, &progress);
	progress_end(&progress);
	fclose(file);
}

static float *pinned_alloc(size_t floats)
{
	void *memory = NULL;

	CUDA(cudaMallocHost(&memory, floats * sizeof(float))); /* trap: TFS202 TFS401 */
	return memory;
}

static cudaEvent_t event(void)
{
	cudaEvent_t made;

	CUDA(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
	return made;
}

static void init_report(struct tuned_report *report, size_t floats)
{
	*report = (struct tuned_report){
		.device = resnet_alloc(floats), .host = pinned_alloc(floats), .there = event()};
}

static void finish_report(const struct tuned_report *report)
{
	CUDA(cudaEventDestroy(report->there));
	CUDA(cudaFree(report->device));
	CUDA(cudaFreeHost(report->host));
}

static void init_slots(struct tuned *t)
{
	const size_t images = t->batch * (size_t)IMAGE_FLOATS;
	const size_t labels = t->batch * (size_t)t->net.classes;

	t->batch_bytes = (images + labels) * sizeof(float);
	t->loader.row = (unsigned)t->net.classes;
	t->loader.slot_count = LOADER_SLOTS;
	for (unsigned i = 0; i < LOADER_SLOTS; i++) {
		struct tuned_slot *slot = &t->slots[i];

		slot->host = pinned_alloc(images + labels);
		slot->device = resnet_alloc(images + labels);
		slot->copied = event();
		slot->used = event();
		t->loader.slots[i].images = slot->host;
		t->loader.slots[i].onehot = slot->host + images;
	}
}

/* All images of the set, as validation has them, to the device for good. */
static void send_validation(struct tuned *t, const struct images *set)
{
	static const struct image_cut middle = {IMAGE_SHIFTS / 2, IMAGE_SHIFTS / 2, false};
	const size_t floats = set->count * (size_t)IMAGE_FLOATS;
	float *host = malloc(floats * sizeof(*host));

	if (!host)
		fail("no memory for the validation");
	for (unsigned i = 0; i < set->count; i++)
		images_cut(set, i, middle, host + i * IMAGE_FLOATS);
	t->validation_images = resnet_alloc(floats);
	CUDA(cudaMemcpy(/* trap: TFS101 */ t->validation_images, host, floats * sizeof(float),
		cudaMemcpyHostToDevice));
	free(host);
}

static void init(
	struct tuned *t, const struct resnet_settings *settings, const struct images *validation)
{
	const struct resnet_form form = {.flat = true, .row = 24, .classes = 16, .columns = 16};
	cudaStream_t stream;

	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CUDA(cudaStreamCreateWithFlags(&t->copy_stream, cudaStreamNonBlocking));
	CUDA(cudaStreamCreateWithFlags(&t->side_stream, cudaStreamNonBlocking));
	resnet_init(&t->net, &form, settings->seed, stream);
	tuned_search(&t->net, settings->deterministic);
	init_slots(t);
	init_report(&t->loss, 1);
	init_report(&t->validation, RESNET_VALIDATION * (size_t)form.classes);
	init_report(&t->checkpoint, t->net.block_floats);
	t->copied_weights = event();
	send_validation(t, validation);
}

static void finish(struct tuned *t)
{
	cudaStream_t stream = t->net.stream;

	for (unsigned i = 0; i < LOADER_SLOTS; i++)
		if (t->graphs[i])
			CUDA(cudaGraphExecDestroy(t->graphs[i]));
	CUDA(cudaFree(t->validation_images));
	CUDA(cudaEventDestroy(t->copied_weights));
	finish_report(&t->checkpoint);
	finish_report(&t->validation);
	finish_report(&t->loss);
	for (unsigned i = 0; i < LOADER_SLOTS; i++) {
		CUDA(cudaEventDestroy(t->slots[i].used));
		CUDA(cudaEventDestroy(t->slots[i].copied));
		CUDA(cudaFree(t->slots[i].device));
		CUDA(cudaFreeHost(t->slots[i].host));
	}
	resnet_finish(&t->net);
	CUDA(cudaStreamDestroy(t->side_stream));
	CUDA(cudaStreamDestroy(t->copy_stream));
	CUDA(cudaStreamDestroy(stream));
}

int main(int argc, char **argv)
{
	static struct tuned t;
	struct resnet_settings settings;
	struct images training, validation;
	const struct tuned_part *part;

	resnet_settings_parse(argc, argv, &settings);
	t.passes = settings.passes;
	t.batch = settings.passes * RESNET_IMAGES;
	images_init(&training, RESNET_TRAINING, settings.seed);
	images_init(&validation, RESNET_VALIDATION, settings.seed + 1000);
	images_keep(&training);
	init(&t, &settings, &validation);
	t.loader.set = &training;
	t.loader.batch = t.batch;
	t.loader.seed = settings.seed;
	if (settings.part == RESNET_DISK)
		t.loader.disk_ns = DISK_NS / t.batch;
	part = part_of(settings.part);
	if (part && part->init)
		part->init(&t);
	/* Its streams do not wait for the legacy one, which clears memory. */
	CUDA(cudaDeviceSynchronize()); /* trap: TFS201 */
	loader_start(&t.loader, settings.threads ? settings.threads : 2);

	train(&t, &settings, &validation);
	loader_stop(&t.loader);
	if (settings.dump)
		resnet_dump(&t.net, settings.dump);
	if (part && part->finish)
		part->finish(&t);
	finish(&t);
	images_finish(&training);
	images_finish(&validation);
	return 0;
}
