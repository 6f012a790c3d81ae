/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_TRAINERS_RESNET_LOADER_H
#define TFS_TESTS_TRAINERS_RESNET_LOADER_H

/*
 * Threads that make batches: each takes the next image of the order, unpacks it, shifts and flips
 * it, and puts it into the batch's slot. What a batch holds hangs on the seed alone, whichever
 * thread is where. The slots are the caller's memory; a batch's slot may be filled anew once the
 * caller has given the batch back.
 */

#include <pthread.h>

#include "images.h"

enum { LOADER_SLOTS = 4, LOADER_THREADS = 64 };

/* Images, and behind them their labels as rows with a one. */
struct loader_slot {
	float *images;
	float *onehot;
	unsigned filled; /* images */
};

struct loader {
	const struct images *set;
	unsigned batch; /* images */
	unsigned row;   /* floats of a label's row, IMAGE_CLASSES or more; the rest is 0 */
	unsigned slot_count;
	struct loader_slot slots[LOADER_SLOTS];
	uint64_t seed;
	unsigned disk_ns; /* each image comes from a disk that takes so long */

	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t threads[LOADER_THREADS];
	unsigned thread_count;
	unsigned begun; /* batches that were given out whole to the threads */
	unsigned next;  /* image of the batch after those */
	unsigned given; /* batches that came back */
	bool over;
	uint64_t rng;          /* of the order */
	unsigned *order, left; /* of the epoch: what is still to come lies in front */
};

/* Starts so many threads; set, batch, row, slots and seed are filled in. Exits on failure. */
void loader_start(struct loader *loader, unsigned threads);
/* Ends them, in the middle of what they do. */
void loader_stop(struct loader *loader);

/* Waits for batch n, counted from 0 and asked for in order. */
struct loader_slot *loader_take(struct loader *loader, unsigned n);
/* The oldest batch that was taken is done with. */
void loader_give(struct loader *loader);

#endif
