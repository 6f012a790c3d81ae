/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_TRAINERS_MNIST_H
#define TFS_TESTS_TRAINERS_MNIST_H

/*
 * MNIST's four files ("IDX": big-endian magic, counts, bytes) as arrays ready for training, and
 * the batches made of them. Used from one thread.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MNIST_SIDE = 28, MNIST_PIXELS = MNIST_SIDE * MNIST_SIDE, MNIST_CLASSES = 10 };

struct mnist {
	unsigned count;
	float *images; /* count rows of MNIST_PIXELS, around 0 */
	unsigned char *labels;
};

/*
 * Reads one part, "train" or "t10k", of the set in folder. The arrays are the caller's, to be
 * given back with mnist_finish(). Returns 0, or -1 with what is wrong, file name first, in error.
 */
int mnist_load(const char *folder, const char *part, char *error, size_t error_size,
	struct mnist *out_set);

/* Frees the arrays; a zeroed set is fine. */
void mnist_finish(struct mnist *set);

/* Writes a random order of 0 … count-1; the same state gives the same order. */
void mnist_shuffle(uint64_t *rng, unsigned count, unsigned *out_order);

/*
 * Copies the images named by order into rows, and their labels as one-hot rows of MNIST_CLASSES.
 * Indices wrap at the set's end.
 */
void mnist_batch(const struct mnist *set, const unsigned *order, unsigned batch, float *out_images,
	float *out_onehot);

#ifdef __cplusplus
}
#endif

#endif
