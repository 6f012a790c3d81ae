/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "naive.h"

#include "check.h"

/* The marks are for a checkpoint in 10 steps, of which each is 81 copies, between steps that are
 * recorded: whether these copies are what other rules look for is not seen. */
/* unmeasured: TFS102 TFS103 TFS104 TFS105 TFS106 TFS204 */
void naive_save(const struct naive *t, FILE *file)
{
	const struct resnet *net = &t->net;
	float *host = malloc(net->block_floats * sizeof(*host));
	bool bad = !host;

	rewind(file);
	for (unsigned i = 0; i < net->parameters && !bad; i++) {
		size_t count = net->count[i];

		/* gpu: TFS709 x8.1 4296B 0us */
		CUDA(cudaMemcpy(
			host, net->weight[i], count * sizeof(float), cudaMemcpyDeviceToHost));
		bad = fwrite(host, sizeof(float), count, file) != count;
	}
	if (bad || fflush(file))
		fail("could not write a checkpoint");
	free(host);
}
