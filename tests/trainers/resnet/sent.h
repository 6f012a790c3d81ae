/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_TRAINERS_RESNET_SENT_H
#define TFS_TESTS_TRAINERS_RESNET_SENT_H

/*
 * Host data that goes to the device one step ahead, beside computing: two pinned buffers and two of
 * the device by turns, on a stream of its own, with events for what waits for what.
 */

#include <cuda_runtime_api.h>
#include <stddef.h>

struct sent {
	cudaStream_t stream;
	float *host[2]; /* pinned */
	float *device[2];
	cudaEvent_t copied[2], used[2];
	size_t floats;
	unsigned next; /* of the buffers */
};

void sent_init(struct sent *sent, size_t floats);
void sent_finish(struct sent *sent);

/* A buffer to fill, which nothing reads any more; and sends it off. */
float *sent_fill(struct sent *sent);
void sent_go(struct sent *sent);

/* What was sent before the latest, for work of the stream, and when that is all of it. */
float *sent_take(struct sent *sent, cudaStream_t stream);
void sent_give(struct sent *sent, cudaStream_t stream);

#endif
