/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_TRAINERS_RESNET_TUNED_H
#define TFS_TESTS_TRAINERS_RESNET_TUNED_H

/* The parts of resnet_tuned.c. */

#include <stdio.h>

#include "loader.h"
#include "resnet.h"

struct progress;

/* A batch on its way: images, then their labels. The host's half is the loader's slot. */
struct tuned_slot {
	float *host; /* pinned */
	float *device;
	cudaEvent_t copied; /* the host's half is free again, the device's is there */
	cudaEvent_t used;   /* the device's half is free again */
};

/* What leaves the device now and then, and is looked at some steps later. */
struct tuned_report {
	float *device, *host; /* pinned */
	cudaEvent_t there;
	unsigned steps; /* that it is of, 0: none is under way */
};

struct tuned {
	struct resnet net;
	unsigned passes; /* in a step */
	unsigned batch;  /* images in a step */
	cudaStream_t copy_stream, side_stream;
	struct loader loader;
	size_t batch_bytes;
	struct tuned_slot slots[LOADER_SLOTS];
	struct tuned_report loss;       /* summed up since the last report */
	struct tuned_report validation; /* rows of the dense layer's results */
	struct tuned_report checkpoint; /* weights, as they were */
	cudaEvent_t copied_weights;
	float *validation_images; /* all of them, on the device */
	unsigned step;
	cudaGraphExec_t graphs[LOADER_SLOTS]; /* of all that is computed from a slot, or NULL */
};

/* What --part does, in a step behind the batch's copy; its memory is its own. `init` and `finish`
 * may be NULL. */
struct tuned_part {
	void (*init)(struct tuned *t);
	void (*behind)(struct tuned *t, const struct tuned_slot *slot);
	void (*finish)(struct tuned *t);
};

extern const struct tuned_part tuned_habits, tuned_full, tuned_attend, tuned_pixels, tuned_anew,
	tuned_layout, tuned_memory;

/* Chooses all algorithms by a measured search and allocates their workspace. */
void tuned_search(struct resnet *net, bool deterministic);

/* All of a step that is computed from a slot; as a graph, which is made once for each slot: the
 * rate is the same in all steps. */
void tuned_compute(struct tuned *t, const struct tuned_slot *slot);
void tuned_graph(struct tuned *t, const struct tuned_slot *slot);

/* Sends the next batch off; what it returns is on the device once the net's stream gets there. */
struct tuned_slot *tuned_send(struct tuned *t, unsigned step);

/* Ask for a report of what the steps have come to, and take the one under way. */
void tuned_ask_loss(struct tuned *t, unsigned steps);
void tuned_take_loss(struct tuned *t, struct progress *progress);
void tuned_ask_validation(struct tuned *t, unsigned steps);
void tuned_take_validation(struct tuned *t, const struct images *set, struct progress *progress);
void tuned_ask_checkpoint(struct tuned *t, unsigned steps);
void tuned_take_checkpoint(struct tuned *t, FILE *file);

#endif
