/* SPDX-License-Identifier: MIT */
#include "tuned.h"

#include "check.h"

/* With --part graph: what graphs do to pinned memory, and which products are in them, is not seen.
 */
/* unmeasured: TFS105 TFS106 TFS306 */
void tuned_graph(struct tuned *t, const struct tuned_slot *slot)
{
	cudaGraphExec_t *exec = &t->graphs[slot - t->slots];
	cudaGraph_t graph;

	if (!*exec) {
		CUDA(cudaStreamBeginCapture(t->net.stream, cudaStreamCaptureModeThreadLocal));
		tuned_compute(t, slot);
		CUDA(cudaStreamEndCapture(t->net.stream, &graph));
		CUDA(cudaGraphInstantiate(/* trap: TFS307 */ exec, graph, 0));
		CUDA(cudaGraphDestroy(graph));
	}
	CUDA(cudaGraphLaunch(*exec, t->net.stream));
}
