/* SPDX-License-Identifier: MIT */
/*
 * digits DIR [TRAIN [TEST [SEED]]]: writes a set of drawn digits to DIR, in the four files and the
 * format of MNIST. The same arguments give the same bytes. Each digit is a few strokes whose
 * points, place, size, slant, turn, thickness and ink vary, on a noisy ground.
 */

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "rng.h"

enum { SIDE = 28, STROKES = 6, PIECES = 7, POINTS = STROKES * (PIECES + 1) };

/* A quadratic curve in a box of 100 by 100, y downwards: start, control point, end. */
struct stroke {
	signed char x[3], y[3];
};

static const struct stroke shapes[10][STROKES] = {
	{{{50, 95, 90}, {5, 5, 50}}, {{90, 95, 50}, {50, 95, 95}}, {{50, 5, 10}, {95, 95, 50}},
		{{10, 5, 50}, {50, 5, 5}}},
	{{{33, 44, 55}, {24, 17, 5}}, {{55, 54, 52}, {5, 50, 95}}},
	{{{12, 20, 52}, {28, 2, 5}}, {{52, 95, 78}, {5, 10, 45}}, {{78, 60, 10}, {45, 70, 95}},
		{{10, 50, 90}, {95, 94, 93}}},
	{{{15, 60, 78}, {12, -5, 22}}, {{78, 82, 42}, {22, 48, 47}}, {{42, 95, 85}, {47, 48, 75}},
		{{85, 65, 12}, {75, 108, 85}}},
	{{{62, 36, 10}, {5, 35, 65}}, {{10, 50, 92}, {65, 64, 63}}, {{68, 67, 64}, {30, 60, 96}}},
	{{{82, 55, 25}, {7, 7, 7}}, {{25, 23, 20}, {7, 25, 45}}, {{20, 85, 82}, {45, 30, 65}},
		{{82, 75, 12}, {65, 105, 88}}},
	{{{75, 15, 15}, {5, 25, 65}}, {{15, 15, 50}, {65, 97, 95}}, {{50, 88, 82}, {95, 92, 65}},
		{{82, 70, 17}, {65, 40, 65}}},
	{{{10, 50, 88}, {8, 7, 7}}, {{88, 55, 40}, {7, 50, 96}}},
	{{{50, 10, 20}, {50, 40, 20}}, {{20, 50, 80}, {20, -10, 20}}, {{80, 90, 50}, {20, 40, 50}},
		{{50, 100, 82}, {50, 65, 85}}, {{82, 50, 18}, {85, 108, 85}},
		{{18, 0, 50}, {85, 65, 50}}},
	{{{25, 85, 85}, {95, 75, 35}}, {{85, 85, 50}, {35, 3, 5}}, {{50, 12, 18}, {5, 8, 35}},
		{{18, 30, 83}, {35, 60, 35}}},
};

/* Where a point of the box comes to lie in the image. */
struct placing {
	float xx, xy, yx, yy, dx, dy;
};

static struct placing place(uint64_t *rng)
{
	float half = rng_uniform(rng, -0.13f, 0.13f); /* tangent of half the turn */
	float cosine = (1 - half * half) / (1 + half * half);
	float sine = 2 * half / (1 + half * half);
	float width = rng_uniform(rng, 0.11f, 0.17f);
	float height = rng_uniform(rng, 0.165f, 0.21f);
	float slant = rng_uniform(rng, -0.25f, 0.25f);
	struct placing p;

	p.xx = cosine * width;
	p.xy = (cosine * -slant - sine) * height;
	p.yx = sine * width;
	p.yy = (sine * -slant + cosine) * height;
	p.dx = 13.5f + rng_uniform(rng, -2.0f, 2.0f);
	p.dy = 13.5f + rng_uniform(rng, -2.0f, 2.0f);
	return p;
}

/* Flattens the strokes of a digit; a stroke's first point has first[] set. Returns the count. */
static unsigned trace(uint64_t *rng, unsigned digit, float x[POINTS], float y[POINTS],
	unsigned char first[POINTS])
{
	struct placing p = place(rng);
	unsigned count = 0;

	for (unsigned s = 0; s < STROKES; s++) {
		const struct stroke *stroke = &shapes[digit][s];
		float px[3], py[3];

		if (!stroke->x[0] && !stroke->x[1] && !stroke->x[2])
			break;
		for (unsigned i = 0; i < 3; i++) {
			float bx = stroke->x[i] - 50 + rng_uniform(rng, -7, 7);
			float by = stroke->y[i] - 50 + rng_uniform(rng, -7, 7);

			px[i] = p.xx * bx + p.xy * by + p.dx;
			py[i] = p.yx * bx + p.yy * by + p.dy;
		}
		for (unsigned i = 0; i <= PIECES; i++, count++) {
			float t = (float)i / PIECES, u = 1 - t;

			x[count] = u * u * px[0] + 2 * u * t * px[1] + t * t * px[2];
			y[count] = u * u * py[0] + 2 * u * t * py[1] + t * t * py[2];
			first[count] = i == 0;
		}
	}
	return count;
}

static float distance_to_piece(float px, float py, const float *x, const float *y)
{
	float dx = x[1] - x[0], dy = y[1] - y[0];
	float length = dx * dx + dy * dy;
	float t = length > 0 ? ((px - x[0]) * dx + (py - y[0]) * dy) / length : 0;

	t = t < 0 ? 0 : t > 1 ? 1 : t;
	dx = px - x[0] - t * dx;
	dy = py - y[0] - t * dy;
	return sqrtf(dx * dx + dy * dy);
}

static void draw(uint64_t *rng, unsigned digit, unsigned char image[SIDE * SIDE])
{
	float x[POINTS], y[POINTS];
	unsigned char first[POINTS];
	unsigned count = trace(rng, digit, x, y, first);
	float pen = rng_uniform(rng, 0.7f, 1.6f);
	float ink = rng_uniform(rng, 150, 255);

	for (unsigned row = 0; row < SIDE; row++) {
		for (unsigned column = 0; column < SIDE; column++) {
			float nearest = SIDE, level;

			for (unsigned i = 1; i < count; i++) {
				float d = first[i] ? SIDE
						   : distance_to_piece((float)column, (float)row,
							     &x[i - 1], &y[i - 1]);

				nearest = d < nearest ? d : nearest;
			}
			level = pen + 0.5f - nearest;
			level = ink * (level < 0 ? 0 : level > 1 ? 1 : level);
			level += rng_uniform(rng, -40, 40);
			image[row * SIDE + column] = level < 0     ? 0
						     : level > 255 ? 255
								   : (unsigned char)level;
		}
	}
}

static void put_word(FILE *file, uint32_t word)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		putc((int)(word >> shift & 0xff), file);
}

static FILE *open_file(const char *folder, const char *part, const char *kind)
{
	char path[4096];
	FILE *file;

	if (snprintf(path, sizeof(path), "%s/%s-%s-ubyte", folder, part, kind) >=
		(int)sizeof(path)) {
		fprintf(stderr, "digits: %s: name too long\n", folder);
		return NULL;
	}
	file = fopen(path, "wb");
	if (!file)
		fprintf(stderr, "digits: %s: %s\n", path, strerror(errno));
	return file;
}

static int write_part(const char *folder, const char *part, unsigned count, uint64_t seed)
{
	FILE *images = open_file(folder, part, "images-idx3");
	FILE *labels = images ? open_file(folder, part, "labels-idx1") : NULL;
	int bad = 1;

	if (!labels)
		goto out;
	put_word(images, 0x803);
	put_word(images, count);
	put_word(images, SIDE);
	put_word(images, SIDE);
	put_word(labels, 0x801);
	put_word(labels, count);
	for (unsigned i = 0; i < count; i++) {
		unsigned char image[SIDE * SIDE];
		unsigned digit = rng_below(&seed, 10);

		draw(&seed, digit, image);
		fwrite(image, 1, sizeof(image), images);
		putc((int)digit, labels);
	}
	bad = ferror(images) || ferror(labels);
out:
	if (labels && fclose(labels))
		bad = 1;
	if (images && fclose(images))
		bad = 1;
	if (bad)
		fprintf(stderr, "digits: %s: could not write the %s part\n", folder, part);
	return bad;
}

int main(int argc, char **argv)
{
	unsigned train = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 6144;
	unsigned test = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 1024;
	uint64_t seed = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;

	if (argc < 2 || argc > 5 || argv[1][0] == '-' || !train || !test) {
		fprintf(stderr,
			"usage: digits DIR [TRAIN [TEST [SEED]]]\n"
			"writes drawn digits in MNIST's format, 6144 and 1024 by default\n");
		return 2;
	}
	if (mkdir(argv[1], 0777) && errno != EEXIST) {
		fprintf(stderr, "digits: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	return write_part(argv[1], "train", train, seed * 2) |
	       write_part(argv[1], "t10k", test, seed * 2 + 1);
}
