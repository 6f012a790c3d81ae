/* SPDX-License-Identifier: MIT */
#include "naive.h"

#include "check.h"

/* Not inlined: its two callers must be told apart by their stacks, not by their copies of it. */
static __attribute__((noinline)) void upload(float *device, const float *host, size_t bytes)
{
	/* expect: TFS101 x1 72KiB legacy 117..276us */
	/* With --part disk: all of its 3 ms but what the device still has to do meanwhile. */
	/* gpu: TFS701 x1 legacy 1.6..3ms */
	CUDA(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
}

void naive_copy_batch(struct naive *t, const struct loader_slot *batch)
{
	upload(t->images, batch->images, t->batch * IMAGE_FLOATS * sizeof(float));
	/* trap: TFS101 */
	upload(t->onehot, batch->onehot, t->batch * IMAGE_CLASSES * sizeof(float));
}
