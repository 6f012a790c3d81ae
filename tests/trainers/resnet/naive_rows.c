/* SPDX-License-Identifier: MIT */
#include "naive.h"

#include "check.h"

/*
 * As many small copies as a batch has planes. Copies of so few bytes that wait take as long from
 * pinned memory, so that pinning alone gains nothing: what one copy of all gains is TFS104's.
 */
void naive_copy_rows(struct naive *t, const struct loader_slot *batch)
{
	const size_t plane = IMAGE_SIDE * IMAGE_SIDE;

	for (size_t i = 0; i < t->batch * IMAGE_COLOURS; i++)
		/* expect: TFS101 x72 72KiB legacy 0us */
		CUDA(cudaMemcpy(t->images + i * plane, batch->images + i * plane,
			plane * sizeof(float), cudaMemcpyHostToDevice));
	CUDA(cudaMemcpy(/* trap: TFS101 */ t->onehot, batch->onehot,
		t->batch * IMAGE_CLASSES * sizeof(float), cudaMemcpyHostToDevice));
}
