/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_TRAINERS_RESNET_NAIVE_H
#define TFS_TESTS_TRAINERS_RESNET_NAIVE_H

/* The parts of resnet_naive.c's step. */

#include <stdio.h>

#include "loader.h"
#include "resnet.h"

struct naive {
	struct resnet net;
	unsigned passes;        /* in a step */
	unsigned batch;         /* images in a step */
	float *images, *onehot; /* of a step */
	float *input;           /* of a pass */
	float *loss;            /* likewise, on the device */
};

/* What --part does, in a step before the batch is copied and behind it; its memory is its own. All
 * may be NULL. */
struct naive_part {
	void (*init)(struct naive *t);
	void (*before)(void);
	void (*behind)(struct naive *t, const struct loader_slot *batch);
	void (*finish)(struct naive *t);
};

extern const struct naive_part naive_habits, naive_full, naive_attend, naive_pixels, naive_anew,
	naive_layout, naive_memory, naive_disk;

/* Training waits until the weights are in the file. */
void naive_save(const struct naive *t, FILE *file);

/* Copies a step's batch to the device, whole or row by row. */
void naive_copy_batch(struct naive *t, const struct loader_slot *batch);
void naive_copy_rows(struct naive *t, const struct loader_slot *batch);

/* One pass over RESNET_IMAGES images: gradients are added to what is there. */
void naive_forward(struct naive *t, const float *images);
/* The pass's share of the step's loss. */
float naive_read_loss(struct naive *t, const float *onehot);
void naive_backward(struct naive *t, const float *images, const float *onehot);

#endif
