/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_TRAINERS_WIDE_H
#define TFS_TESTS_TRAINERS_WIDE_H

/* What wide.c sets up and wide_step.c computes with. Every failure ends the program. */

#include "progress.h"
#include "wide_net.h"

enum { WIDE_BATCHES = 4, WIDE_SLOTS = 2 };

struct wide_style {
	const char *name;
	bool pinned;   /* batches in pinned memory */
	bool searched; /* algorithms */
	bool keeps;    /* buffers, from step to step */
	bool fused;    /* bias and ReLU with the convolution; gradients written, one update */
	bool overlaps; /* copies the next batch while it computes; nothing in the loop waits */
};

struct wide_slot {
	float *images, *onehot; /* on the device */
	cudaEvent_t copied, used;
};

struct wide {
	struct wide_net net;
	const struct wide_style *style;
	cudaStream_t copy_stream;
	float *images[WIDE_BATCHES], *onehot[WIDE_BATCHES]; /* on the host */
	struct wide_slot slots[WIDE_SLOTS];
	float *loss_host;
	cudaEvent_t loss_there;
	unsigned loss_steps; /* that the loss under way sums up */
};

/* One step, counted from 0. */
void wide_step(struct wide *t, struct progress *progress, unsigned step);

/* After the last step: waits for the device and takes the losses that are still under way. */
void wide_step_last(struct wide *t, struct progress *progress, unsigned steps);

#endif
