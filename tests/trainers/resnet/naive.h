/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_TRAINERS_RESNET_NAIVE_H
#define TFS_TESTS_TRAINERS_RESNET_NAIVE_H

/* The parts of resnet_naive.c's step. */

#include "loader.h"
#include "resnet.h"

/* What --habits has besides. */
struct naive_habits {
	float *mean_host, *zeros_host; /* pinned, as large as a batch */
	float *mean, *squares;
	float *contrast; /* of a batch */
};

struct naive {
	struct resnet net;
	unsigned passes;        /* in a step */
	unsigned batch;         /* images in a step */
	float *images, *onehot; /* of a step */
	float *input;           /* of a pass */
	float *loss;            /* likewise, on the device */
	struct naive_habits habits;
};

/* Copies a step's batch to the device, whole or row by row. */
void naive_copy_batch(struct naive *t, const struct loader_slot *batch);
void naive_copy_rows(struct naive *t, const struct loader_slot *batch);

/* --habits: prepares the batch that was copied. */
void naive_habits_init(struct naive *t);
void naive_habits(struct naive *t);
void naive_habits_finish(struct naive *t);

/* One pass over RESNET_IMAGES images: gradients are added to what is there. */
void naive_forward(struct naive *t, const float *images);
/* The pass's share of the step's loss. */
float naive_read_loss(struct naive *t, const float *onehot);
void naive_backward(struct naive *t, const float *images, const float *onehot);

#endif
