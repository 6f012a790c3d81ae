/* SPDX-License-Identifier: MIT */
#include "mnist.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rng.h"

/* MNIST's own mean and deviation; the drawn digits are close to it. */
static const float mean = 0.1307f, deviation = 0.3081f;

static unsigned word_at(const unsigned char *bytes)
{
	return (unsigned)bytes[0] << 24 | (unsigned)bytes[1] << 16 | (unsigned)bytes[2] << 8 |
	       bytes[3];
}

/* Opens a file and checks its head: magic, then sizes; the first size is the count. */
static FILE *open_idx(
	const char *path, unsigned magic, char *error, size_t error_size, unsigned *out_count)
{
	unsigned dimensions = magic & 0xff;
	unsigned char head[16];
	size_t want = 4 + 4 * (size_t)dimensions;
	FILE *file = fopen(path, "rb");

	if (!file) {
		snprintf(error, error_size, "%s: %s", path, strerror(errno));
		return NULL;
	}
	if (fread(head, 1, want, file) != want) {
		snprintf(error, error_size, "%s: too short for its %zu-byte head", path, want);
		goto bad;
	}
	if (word_at(head) != magic) {
		snprintf(error, error_size, "%s: magic is 0x%08x, not 0x%08x%s", path,
			word_at(head), magic,
			head[0] == 0x1f && head[1] == 0x8b ? " (compressed: gunzip it)" : "");
		goto bad;
	}
	for (unsigned i = 1; i < dimensions; i++) {
		unsigned size = word_at(head + 4 + 4 * i);

		if (size != MNIST_SIDE) {
			snprintf(error, error_size, "%s: images are %u wide or high, not %d", path,
				size, MNIST_SIDE);
			goto bad;
		}
	}
	*out_count = word_at(head + 4);
	if (*out_count > 0 && *out_count <= 10000000)
		return file;
	snprintf(error, error_size, "%s: states %u items", path, *out_count);
bad:
	fclose(file);
	return NULL;
}

/* The body of a file, size bytes, in memory of the caller; closes the file. */
static unsigned char *read_body(
	FILE *file, const char *path, size_t size, char *error, size_t error_size)
{
	unsigned char *body = malloc(size);
	size_t got = body ? fread(body, 1, size, file) : 0;

	fclose(file);
	if (body && got == size)
		return body;
	if (!body)
		snprintf(error, error_size, "%s: no memory for %zu bytes", path, size);
	else
		snprintf(error, error_size, "%s: truncated: %zu of %zu bytes after the head", path,
			got, size);
	free(body);
	return NULL;
}

static unsigned char *load(const char *folder, const char *part, const char *kind, unsigned magic,
	size_t item_size, char *error, size_t error_size, unsigned *out_count)
{
	char path[4096];
	FILE *file;

	if (snprintf(path, sizeof(path), "%s/%s-%s-ubyte", folder, part, kind) >=
		(int)sizeof(path)) {
		snprintf(error, error_size, "%.64s…: name too long", folder);
		return NULL;
	}
	file = open_idx(path, magic, error, error_size, out_count);
	if (!file)
		return NULL;
	return read_body(file, path, *out_count * item_size, error, error_size);
}

int mnist_load(
	const char *folder, const char *part, char *error, size_t error_size, struct mnist *out_set)
{
	unsigned images = 0, labels = 0;
	unsigned char *label = NULL;
	float *rows = NULL;
	unsigned char *pixels =
		load(folder, part, "images-idx3", 0x803, MNIST_PIXELS, error, error_size, &images);

	if (!pixels)
		return -1;
	label = load(folder, part, "labels-idx1", 0x801, 1, error, error_size, &labels);
	if (!label)
		goto bad;
	if (images != labels) {
		snprintf(error, error_size, "%s: %s has %u images but %u labels", folder, part,
			images, labels);
		goto bad;
	}
	for (unsigned i = 0; i < labels; i++) {
		if (label[i] >= MNIST_CLASSES) {
			snprintf(error, error_size, "%s: %s label %u is %u", folder, part, i,
				label[i]);
			goto bad;
		}
	}
	rows = malloc(images * (size_t)MNIST_PIXELS * sizeof(*rows));
	if (!rows) {
		snprintf(error, error_size, "%s: no memory for %u images", folder, images);
		goto bad;
	}
	for (size_t i = 0; i < images * (size_t)MNIST_PIXELS; i++)
		rows[i] = (pixels[i] / 255.0f - mean) / deviation;
	free(pixels);
	out_set->count = images;
	out_set->images = rows;
	out_set->labels = label;
	return 0;
bad:
	free(label);
	free(pixels);
	return -1;
}

void mnist_finish(struct mnist *set)
{
	free(set->images);
	free(set->labels);
	memset(set, 0, sizeof(*set));
}

void mnist_shuffle(uint64_t *rng, unsigned count, unsigned *out_order)
{
	for (unsigned i = 0; i < count; i++) {
		unsigned j = rng_below(rng, i + 1);

		out_order[i] = out_order[j];
		out_order[j] = i;
	}
}

void mnist_batch(const struct mnist *set, const unsigned *order, unsigned batch, float *out_images,
	float *out_onehot)
{
	memset(out_onehot, 0, batch * (size_t)MNIST_CLASSES * sizeof(*out_onehot));
	for (size_t i = 0; i < batch; i++) {
		size_t item = order[i] % set->count;

		memcpy(out_images + i * MNIST_PIXELS, set->images + item * MNIST_PIXELS,
			MNIST_PIXELS * sizeof(*out_images));
		out_onehot[i * MNIST_CLASSES + set->labels[item]] = 1;
	}
}
