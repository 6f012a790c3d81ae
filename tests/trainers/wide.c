/* SPDX-License-Identifier: MIT */
/*
 * A wider net on coloured images, in three sizes of input per step (large: 38 MB, medium: 1.6 MB,
 * tiny: 49 KB) and three styles: naive has the habits of lenet_naive.c; rewritable is the same
 * with those things put right by hand that rewrites put right; tuned has none of them left. The
 * batches lie ready in host memory, as loader threads leave them; "--loaders N" keeps N threads
 * busy as those would be. Made to be measured on hardware (tests/gpu).
 */

#include <getopt.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "rng.h"
#include "wide.h"

enum { MOST_LOADERS = 64, LOADER_BYTES = 16 << 20 };

static const struct wide_style styles[] = {
	{"naive", false, false, false, false, false},
	{"rewritable", true, true, true, false, false},
	{"tuned", true, true, true, true, true},
};

struct options {
	const struct wide_size *size;
	const struct wide_style *style;
	unsigned steps, warmup, loaders;
	uint64_t seed;
	bool deterministic, quiet;
	const char *dump;
};

static float *host_alloc(const struct wide *t, size_t floats)
{
	void *memory = NULL;

	if (t->style->pinned)
		CUDA(cudaMallocHost(&memory, floats * sizeof(float)));
	else
		memory = malloc(floats * sizeof(float));
	if (!memory)
		fail("no memory for a batch");
	return memory;
}

/* Each class is a pattern of its own, under noise. */
static void fill_batches(struct wide *t, uint64_t seed)
{
	const struct wide_size *size = &t->net.size;
	const size_t floats = wide_image_floats(size), batch = (size_t)size->batch;

	for (unsigned b = 0; b < WIDE_BATCHES; b++) {
		t->images[b] = host_alloc(t, batch * floats);
		t->onehot[b] = host_alloc(t, batch * WIDE_CLASSES);
		memset(t->onehot[b], 0, batch * WIDE_CLASSES * sizeof(float));
		for (size_t i = 0; i < batch; i++) {
			const uint32_t class = rng_below(&seed, WIDE_CLASSES);
			float *image = t->images[b] + i * floats;

			t->onehot[b][i * WIDE_CLASSES + class] = 1;
			for (size_t j = 0; j < floats; j++)
				image[j] = rng_uniform(&seed, -0.5f, 0.5f) +
					   ((j / (4 + class)) % 2 ? 0.5f : -0.5f);
		}
	}
}

static void init(struct wide *t, const struct options *options)
{
	const struct wide_style *style = options->style;
	const size_t batch = (size_t)options->size->batch;
	cudaStream_t stream = NULL;
	void *host;

	t->style = style;
	if (style->overlaps) {
		CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
		CUDA(cudaStreamCreateWithFlags(&t->copy_stream, cudaStreamNonBlocking));
	}
	wide_init(&t->net, options->size, stream, options->seed, options->deterministic);
	wide_choose(&t->net, style->searched, style->fused, options->deterministic);
	for (unsigned i = 0; i < WIDE_SLOTS; i++) {
		struct wide_slot *slot = &t->slots[i];

		slot->images = wide_alloc(batch * wide_image_floats(options->size));
		slot->onehot = wide_alloc(batch * WIDE_CLASSES);
		CUDA(cudaEventCreateWithFlags(&slot->copied, cudaEventDisableTiming));
		CUDA(cudaEventCreateWithFlags(&slot->used, cudaEventDisableTiming));
	}
	CUDA(cudaMallocHost(&host, sizeof(float)));
	t->loss_host = host;
	CUDA(cudaMemsetAsync(t->net.loss, 0, sizeof(float), stream));
	CUDA(cudaEventCreateWithFlags(&t->loss_there, cudaEventDisableTiming));
	fill_batches(t, options->seed + 1);
	/* What follows may run on streams that do not wait for the default one. */
	CUDA(cudaDeviceSynchronize());
}

static void finish(struct wide *t)
{
	for (unsigned i = 0; i < WIDE_BATCHES; i++) {
		if (t->style->pinned) {
			CUDA(cudaFreeHost(t->images[i]));
			CUDA(cudaFreeHost(t->onehot[i]));
		} else {
			free(t->images[i]);
			free(t->onehot[i]);
		}
	}
	for (unsigned i = 0; i < WIDE_SLOTS; i++) {
		CUDA(cudaFree(t->slots[i].images));
		CUDA(cudaFree(t->slots[i].onehot));
		CUDA(cudaEventDestroy(t->slots[i].copied));
		CUDA(cudaEventDestroy(t->slots[i].used));
	}
	CUDA(cudaEventDestroy(t->loss_there));
	CUDA(cudaFreeHost(t->loss_host));
	wide_finish(&t->net);
	if (t->style->overlaps) {
		CUDA(cudaStreamDestroy(t->copy_stream));
		CUDA(cudaStreamDestroy(t->net.stream));
	}
}

static atomic_bool loaders_stop;

static void *loader(void *unused)
{
	char *from = malloc(LOADER_BYTES), *to = malloc(LOADER_BYTES);

	(void)unused;
	if (!from || !to)
		fail("no memory for a loader thread");
	memset(from, 1, LOADER_BYTES);
	while (!atomic_load(&loaders_stop))
		memcpy(to, from, LOADER_BYTES);
	free(from);
	free(to);
	return NULL;
}

static void train(struct wide *t, const struct options *options)
{
	struct progress progress = {
		.quiet = options->quiet, .warmup = options->warmup, .accuracy = -1};
	pthread_t threads[MOST_LOADERS];

	for (unsigned i = 0; i < options->loaders; i++) {
		if (pthread_create(&threads[i], NULL, loader, NULL))
			fail("no loader thread");
	}
	progress_start(&progress);
	for (unsigned step = 0; step < options->steps; step++) {
		progress_step(&progress);
		wide_step(t, &progress, step);
	}
	CUDA(cudaDeviceSynchronize());
	progress_stop(&progress, options->steps);
	wide_step_last(t, &progress, options->steps);
	atomic_store(&loaders_stop, true);
	for (unsigned i = 0; i < options->loaders; i++)
		pthread_join(threads[i], NULL);
	progress_end(&progress);
}

static void dump(const struct wide *t, const char *path)
{
	const size_t floats = t->net.block_floats;
	float *host = malloc(floats * sizeof(*host));
	FILE *file = fopen(path, "wb");

	if (!host || !file)
		fail("cannot write the weights");
	CUDA(cudaMemcpy(host, t->net.all_weights, floats * sizeof(*host), cudaMemcpyDeviceToHost));
	if (fwrite(host, sizeof(*host), floats, file) != floats || fclose(file))
		fail("cannot write the weights");
	free(host);
}

static const char usage[] =
	"  --size large|medium|tiny          input of 38 MB, 1.6 MB, 49 KB per step (medium)\n"
	"  --style naive|rewritable|tuned    (naive)\n"
	"  --steps N          (default 200)\n"
	"  --warmup N         leave the first N steps out of the time of a step\n"
	"  --loaders N        threads that keep as many cores and the memory busy\n"
	"  --seed N           of the weights and the images (default 1)\n"
	"  --deterministic    the same bits in every run\n"
	"  --quiet            print results only\n"
	"  --dump FILE        write the final weights\n";

static __attribute__((noreturn)) void misuse(const char *what)
{
	fprintf(stderr, "wide: %s\n%s", what, usage);
	exit(2);
}

static unsigned number(const char *text, unsigned most)
{
	char *rest;
	unsigned long value = strtoul(text, &rest, 10);

	if (*text < '0' || *text > '9' || *rest || value > most)
		misuse("no such number");
	return (unsigned)value;
}

static const struct wide_style *find_style(const char *name)
{
	for (unsigned i = 0; i < sizeof(styles) / sizeof(*styles); i++) {
		if (!strcmp(styles[i].name, name))
			return &styles[i];
	}
	misuse("no such style");
}

static void parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{"size", required_argument, NULL, 'z'},
		{"style", required_argument, NULL, 'y'},
		{"steps", required_argument, NULL, 'n'},
		{"warmup", required_argument, NULL, 'u'},
		{"loaders", required_argument, NULL, 'l'},
		{"seed", required_argument, NULL, 's'},
		{"deterministic", no_argument, NULL, 'D'},
		{"quiet", no_argument, NULL, 'q'},
		{"dump", required_argument, NULL, 'o'},
		{NULL, 0, NULL, 0},
	};
	int letter;

	while ((letter = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (letter) {
		case 'z':
			o->size = wide_size_find(optarg);
			break;
		case 'y':
			o->style = find_style(optarg);
			break;
		case 'n':
			o->steps = number(optarg, INT_MAX);
			break;
		case 'u':
			o->warmup = number(optarg, INT_MAX);
			break;
		case 'l':
			o->loaders = number(optarg, MOST_LOADERS);
			break;
		case 's':
			o->seed = number(optarg, UINT_MAX);
			break;
		case 'D':
			o->deterministic = true;
			break;
		case 'q':
			o->quiet = true;
			break;
		case 'o':
			o->dump = optarg;
			break;
		default:
			misuse("no such option");
		}
	}
	if (!o->size || optind < argc)
		misuse(o->size ? "too many arguments" : "no such size");
}

int main(int argc, char **argv)
{
	static struct wide t;
	struct options options = {.steps = 200, .seed = 1};

	options.size = wide_size_find("medium");
	options.style = &styles[0];
	parse(argc, argv, &options);
	init(&t, &options);
	train(&t, &options);
	if (options.dump)
		dump(&t, options.dump);
	finish(&t);
	return 0;
}
