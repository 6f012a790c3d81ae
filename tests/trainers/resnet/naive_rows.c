/* SPDX-License-Identifier: MIT */
#include "naive.h"

#include "check.h"

/* As many small copies as a batch has planes and rows of labels. */
void naive_copy_rows(struct naive *t, const struct loader_slot *batch)
{
	const size_t plane = IMAGE_SIDE * IMAGE_SIDE;

	for (size_t i = 0; i < t->batch * IMAGE_COLOURS; i++)
		CUDA(cudaMemcpy(t->images + i * plane, batch->images + i * plane,
			plane * sizeof(float), cudaMemcpyHostToDevice));
	for (size_t i = 0; i < t->batch; i++)
		CUDA(cudaMemcpy(t->onehot + i * IMAGE_CLASSES, batch->onehot + i * IMAGE_CLASSES,
			IMAGE_CLASSES * sizeof(float), cudaMemcpyHostToDevice));
}
