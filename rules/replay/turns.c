/* SPDX-License-Identifier: MIT */
#include "rules/replay/turns.h"

#include <stdlib.h>

/* What begins so soon behind another operation waited for its engine. */
#define NEAR_NS 10000.0

struct turn {
	double start_ns;
	double end_ns;
	uint32_t engine;
	uint32_t op; /* in the order of the calls */
};

static int compare(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	if (x->engine != y->engine)
		return x->engine < y->engine ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->op > y->op) - (x->op < y->op);
}

static struct turn *sort(const struct tfs_graph *graph)
{
	struct turn *turns = malloc((graph->ops_count + 1) * sizeof(*turns));

	for (uint32_t i = 0; turns && i < graph->ops_count; i++) {
		const struct tfs_graph_op *op = &graph->ops[i];

		turns[i] = (struct turn){op->start_ns, op->end_ns, op->engine, i};
	}
	if (turns)
		qsort(turns, graph->ops_count, sizeof(*turns), compare);
	return turns;
}

double *tfs_turns_find(const struct tfs_graph *graph)
{
	double *before = malloc((graph->ops_count + 1) * sizeof(*before)), past = 0;
	struct turn *turns = sort(graph);
	const struct turn *last = NULL; /* of those that began before, the one that ended last */

	if (!turns || !before) {
		free(turns);
		free(before);
		return NULL;
	}
	for (size_t i = 0; i < graph->ops_count; i++) {
		const struct turn *turn = &turns[i];
		const bool first = !last || last->engine != turn->engine;
		const double gap = first ? -1 : turn->start_ns - last->end_ns;

		before[turn->op] = -1;
		if (turn->engine < graph->engine_count && last && last->op > turn->op && gap >= 0 &&
			gap <= NEAR_NS) {
			before[turn->op] = last->end_ns;
			before[last->op] = past;
		}
		if (first || turn->end_ns >= last->end_ns) {
			past = first ? 0 : last->end_ns;
			last = turn;
		}
	}
	free(turns);
	return before;
}
