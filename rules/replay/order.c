/* SPDX-License-Identifier: MIT */
#include "rules/replay/order.h"

#include <stdlib.h>

/* FNV-1a, over whole numbers. */
#define HASH_START UINT64_C(0xcbf29ce484222325)
#define HASH_FACTOR UINT64_C(0x100000001b3)

static uint64_t hash(uint64_t value, uint64_t number)
{
	return (value ^ number) * HASH_FACTOR;
}

static bool find_threads(struct tfs_order *order, const struct tfs_graph *graph)
{
	order->launches = calloc((size_t)graph->thread_count + 1, sizeof(*order->launches));
	order->threads = calloc((size_t)graph->thread_count + 1, sizeof(*order->threads));
	if (!order->launches || !order->threads)
		return false;
	for (size_t i = 0; i < graph->calls_count; i++)
		if (graph->calls[i].ops)
			order->launches[graph->calls[i].thread] = true;
	order->launches[graph->main_thread] = true;
	for (uint32_t i = 0; i < graph->thread_count; i++)
		if (order->launches[i])
			order->threads[order->count++] = i;
	return true;
}

/* What the threads did in a step so far. */
struct turns {
	uint64_t hash;
	uint64_t calls; /* in this turn */
	uint32_t thread;
};

/* Counts the steps whose turns, and calls in each turn, are those of the step before. */
static void find_turns(struct tfs_order *order, const struct tfs_graph *graph)
{
	struct turns turns = {.hash = HASH_START, .thread = TFS_NONE};
	uint64_t last = 0;
	size_t mark = 1, same = 0, steps = 0;

	for (size_t i = 0; i < graph->calls_count; i++) {
		const struct tfs_graph_call *call = &graph->calls[i];

		for (; mark < graph->marks_count && graph->marks[mark] <= call->start_ns; mark++) {
			const uint64_t now = hash(turns.hash, turns.calls);

			same += steps++ && now == last;
			last = now;
			turns = (struct turns){.hash = HASH_START, .thread = TFS_NONE};
		}
		/* What else they call varies: they ask for events, or grow a pool. */
		if (!call->ops)
			continue;
		if (call->thread != turns.thread) {
			turns.hash = hash(hash(turns.hash, turns.calls), call->thread);
			turns.thread = call->thread;
			turns.calls = 0;
		}
		turns.calls++;
	}
	order->compared = steps > 1 ? steps - 1 : 0;
	order->regular = same;
}

/* Counts the calls that begin while another thread's latest is still going on. */
static bool find_beside(struct tfs_order *order, const struct tfs_graph *graph)
{
	double *ends = calloc((size_t)graph->thread_count + 1, sizeof(*ends));
	size_t calls = 0, beside = 0;

	if (!ends)
		return false;
	for (size_t i = 0; i < graph->calls_count; i++) {
		const struct tfs_graph_call *call = &graph->calls[i];
		bool any = false;

		if (!order->launches[call->thread])
			continue;
		for (uint32_t j = 0; j < order->count; j++)
			any |= order->threads[j] != call->thread &&
			       ends[order->threads[j]] > call->start_ns;
		ends[call->thread] = call->end_ns;
		beside += any;
		calls++;
	}
	order->beside = calls ? (double)beside / (double)calls : 0;
	free(ends);
	return true;
}

struct tfs_order *tfs_order_create(const struct tfs_graph *graph)
{
	struct tfs_order *order = calloc(1, sizeof(*order));

	if (!order)
		return NULL;
	if (!find_threads(order, graph) || !find_beside(order, graph)) {
		tfs_order_destroy(order);
		return NULL;
	}
	find_turns(order, graph);
	return order;
}

void tfs_order_destroy(struct tfs_order *order)
{
	if (!order)
		return;
	free(order->threads);
	free(order->launches);
	free(order);
}
