/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_TRAINERS_RESNET_IMAGES_H
#define TFS_TESTS_TRAINERS_RESNET_IMAGES_H

/*
 * Coloured images of ten classes, made from a seed and kept packed as a file format would: each
 * sample as its difference from its neighbours, in as many bits as it needs. Unpacking takes the
 * host a tenth of a millisecond or two. What the net sees is a cut of it at half the size, shifted
 * and flipped.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	IMAGE_COLOURS = 3,
	IMAGE_STORED_SIDE = 48,
	IMAGE_CUT_SIDE = 32, /* of the stored ones */
	IMAGE_SIDE = 16,     /* as the net sees them */
	IMAGE_CLASSES = 10,
	IMAGE_STORED = IMAGE_COLOURS * IMAGE_STORED_SIDE * IMAGE_STORED_SIDE,
	IMAGE_FLOATS = IMAGE_COLOURS * IMAGE_SIDE * IMAGE_SIDE,
	IMAGE_SHIFTS = IMAGE_STORED_SIDE - IMAGE_CUT_SIDE + 1,
};

struct images {
	unsigned count;
	uint8_t *packed;
	size_t *starts; /* of each image in packed, and the end */
	uint8_t *labels;
	uint8_t *unpacked; /* all images, once somebody has asked for that; else NULL */
};

struct image_cut {
	unsigned x, y; /* below IMAGE_SHIFTS */
	bool flip;
};

/* Makes count images; exits where there is no memory. */
void images_init(struct images *images, unsigned count, uint64_t seed);
void images_finish(struct images *images);

/* Unpacks all of them for good, so that images_cut() need not. */
void images_keep(struct images *images);

/* One image as the net sees it: IMAGE_FLOATS values around 0. Any number of threads. */
void images_cut(const struct images *images, unsigned index, struct image_cut cut, float *out);

#endif
