/* SPDX-License-Identifier: MIT */
#include "naive.h"

#include "check.h"

/*
 * As many small copies as a batch has planes. The host is in each for 136 us, of which the device
 * is at work for 34, whatever the copy holds: 72 times the rest is gained where it does not wait
 * for them.
 */
void naive_copy_rows(struct naive *t, const struct loader_slot *batch)
{
	const size_t plane = IMAGE_SIDE * IMAGE_SIDE;

	for (size_t i = 0; i < t->batch * IMAGE_COLOURS; i++)
		/* expect: TFS101 x72 72KiB legacy 6.5..8.2ms */
		/* expect: TFS104 x72 72KiB legacy 6.5..8.2ms */
		CUDA(cudaMemcpy(t->images + i * plane, batch->images + i * plane,
			plane * sizeof(float), cudaMemcpyHostToDevice));
	CUDA(cudaMemcpy(/* trap: TFS101 */ t->onehot, batch->onehot,
		t->batch * IMAGE_CLASSES * sizeof(float), cudaMemcpyHostToDevice));
}
