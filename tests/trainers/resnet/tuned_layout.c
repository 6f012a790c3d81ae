/* SPDX-License-Identifier: MIT */
#include "tuned.h"

#include "check.h"

/* What naive_layout.c does, where the colours are. */
static void step(struct tuned *t, const struct tuned_slot *slot)
{
	const float darker = 0.9f;

	CUBLAS(cublasSscal(t->net.blas, (int)(t->batch * IMAGE_FLOATS), &darker, slot->device,
		1)); /* trap: TFS606 */
}

const struct tuned_part tuned_layout = {.behind = step};
