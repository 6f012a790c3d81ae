/* SPDX-License-Identifier: MIT */
#include "images.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "rng.h"

enum {
	LOW_BITS = 3, /* of a difference, written as they are; the rest is counted in ones */
	PACKED_MOST = IMAGE_STORED * 5, /* bytes of an image, at worst */
	NOISE = 24,
};

/* A class is a grating, upright or lying, of one of five widths, in a colour of its own. */
static void draw(unsigned label, uint64_t *rng, uint8_t *out)
{
	const float width = 5.0f + 2.5f * (float)(label % 5), turn = 6.2831853f;
	const float phase = rng_uniform(rng, 0, turn), strength = rng_uniform(rng, 30, 60);

	for (unsigned c = 0; c < IMAGE_COLOURS; c++) {
		const float tint = 24.0f * cosf((float)label + 2.0f * (float)c);

		for (unsigned i = 0; i < IMAGE_STORED_SIDE * IMAGE_STORED_SIDE; i++) {
			unsigned at = label < 5 ? i % IMAGE_STORED_SIDE : i / IMAGE_STORED_SIDE;
			float wave = sinf(turn * (float)at / width + phase);

			*out++ = (uint8_t)(128 + tint + strength * wave +
					   rng_uniform(rng, -NOISE, NOISE));
		}
	}
}

struct bits {
	uint8_t *bytes;
	size_t at; /* in bits */
};

static void put_bit(struct bits *bits, unsigned bit)
{
	bits->bytes[bits->at / 8] |= (uint8_t)(bit << bits->at % 8);
	bits->at++;
}

static unsigned get_bit(struct bits *bits)
{
	unsigned bit = bits->bytes[bits->at / 8] >> bits->at % 8 & 1u;

	bits->at++;
	return bit;
}

/* What a sample is likely to be, by those before it. */
static uint8_t guess(const uint8_t *image, unsigned i)
{
	unsigned left = i % IMAGE_STORED_SIDE ? image[i - 1] : 128;
	unsigned above = i >= IMAGE_STORED_SIDE ? image[i - IMAGE_STORED_SIDE] : left;

	return (uint8_t)((left + above) / 2);
}

static size_t pack(const uint8_t *image, uint8_t *out)
{
	struct bits bits = {.bytes = out};

	for (unsigned i = 0; i < IMAGE_STORED; i++) {
		uint8_t apart = (uint8_t)(image[i] - guess(image, i));
		unsigned value = apart < 128 ? 2u * apart : 2u * (255u - apart) + 1;

		for (unsigned j = 0; j < value >> LOW_BITS; j++)
			put_bit(&bits, 1);
		put_bit(&bits, 0);
		for (unsigned j = 0; j < LOW_BITS; j++)
			put_bit(&bits, value >> j & 1u);
	}
	return (bits.at + 7) / 8;
}

static void unpack(uint8_t *packed, uint8_t *out)
{
	struct bits bits = {.bytes = packed};

	for (unsigned i = 0; i < IMAGE_STORED; i++) {
		unsigned value = 0;

		while (get_bit(&bits))
			value++;
		value <<= LOW_BITS;
		for (unsigned j = 0; j < LOW_BITS; j++)
			value |= get_bit(&bits) << j;
		value = value & 1 ? 255 - value / 2 : value / 2;
		out[i] = (uint8_t)(guess(out, i) + value);
	}
}

void images_init(struct images *images, unsigned count, uint64_t seed)
{
	uint8_t image[IMAGE_STORED], *shrunk;
	size_t at = 0;

	*images = (struct images){.count = count};
	images->packed = calloc(count, PACKED_MOST);
	images->starts = malloc((count + 1) * sizeof(*images->starts));
	images->labels = malloc(count);
	if (!images->packed || !images->starts || !images->labels)
		fail("no memory for the images");
	for (unsigned i = 0; i < count; i++) {
		images->labels[i] = (uint8_t)rng_below(&seed, IMAGE_CLASSES);
		draw(images->labels[i], &seed, image);
		images->starts[i] = at;
		at += pack(image, images->packed + at);
	}
	images->starts[count] = at;
	shrunk = realloc(images->packed, at);
	if (shrunk)
		images->packed = shrunk;
}

void images_finish(struct images *images)
{
	free(images->unpacked);
	free(images->labels);
	free(images->starts);
	free(images->packed);
}

void images_keep(struct images *images)
{
	images->unpacked = malloc((size_t)images->count * IMAGE_STORED);
	if (!images->unpacked)
		fail("no memory for the unpacked images");
	for (unsigned i = 0; i < images->count; i++)
		unpack(images->packed + images->starts[i],
			images->unpacked + (size_t)i * IMAGE_STORED);
}

void images_cut(const struct images *images, unsigned index, struct image_cut cut, float *out)
{
	uint8_t own[IMAGE_STORED];
	const uint8_t *image = own;

	if (images->unpacked)
		image = images->unpacked + (size_t)index * IMAGE_STORED;
	else
		unpack(images->packed + images->starts[index], own);
	for (unsigned c = 0; c < IMAGE_COLOURS; c++) {
		for (unsigned i = 0; i < IMAGE_SIDE * IMAGE_SIDE; i++) {
			unsigned x = i % IMAGE_SIDE, y = cut.y + i / IMAGE_SIDE * 2;
			const uint8_t *four;
			int sum;

			x = cut.x + 2 * (cut.flip ? IMAGE_SIDE - 1 - x : x);
			four = image + (c * IMAGE_STORED_SIDE + y) * IMAGE_STORED_SIDE + x;
			sum = four[0] + four[1] + four[IMAGE_STORED_SIDE] +
			      four[IMAGE_STORED_SIDE + 1];
			*out++ = (float)(sum - 4 * 128) / 256.0f;
		}
	}
}
