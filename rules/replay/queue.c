/* SPDX-License-Identifier: MIT */
#include "rules/replay/queue.h"

#include <stdlib.h>

/* Real GPUs hold 1,003 to 1,023; a program that has fewer under way never filled a queue. */
#define USUAL_DEPTH 1022u
#define LEAST_DEPTH 1000u

/* What a stream was given, and what of that has ended. */
struct lane {
	double *ends;
	uint32_t given;
	uint32_t ended;
};

static double *share_out(struct lane *lanes, const struct tfs_graph *graph)
{
	double *ends = malloc((graph->ops_count + 1) * sizeof(*ends)), *next = ends;

	if (!ends)
		return NULL;
	for (size_t i = 0; i < graph->ops_count; i++)
		lanes[graph->ops[i].stream].given++;
	for (uint32_t i = 0; i < graph->stream_count; i++) {
		lanes[i].ends = next;
		next += lanes[i].given;
		lanes[i].given = 0;
	}
	return ends;
}

/* Operations under way when the call returned, of the stream that it gave the last one. */
static uint32_t under_way(
	struct lane *lanes, const struct tfs_graph *graph, const struct tfs_graph_call *call)
{
	struct lane *lane = &lanes[graph->ops[call->first_op + call->ops - 1].stream];

	for (uint32_t i = call->first_op; i < call->first_op + call->ops; i++) {
		struct lane *own = &lanes[graph->ops[i].stream];

		own->ends[own->given++] = graph->ops[i].end_ns;
	}
	while (lane->ended < lane->given && lane->ends[lane->ended] <= call->end_ns)
		lane->ended++;
	return lane->given - lane->ended;
}

uint32_t tfs_queue_depth(const struct tfs_graph *graph)
{
	struct lane *lanes = calloc((size_t)graph->stream_count + 1, sizeof(*lanes));
	double *ends = lanes ? share_out(lanes, graph) : NULL;
	uint32_t most = 0;

	for (size_t i = 0; ends && i < graph->calls_count; i++) {
		const uint32_t count =
			graph->calls[i].ops ? under_way(lanes, graph, &graph->calls[i]) : 0;

		most = count > most ? count : most;
	}
	free(lanes);
	free(ends);
	return !ends ? 0 : most >= LEAST_DEPTH ? most : USUAL_DEPTH;
}
