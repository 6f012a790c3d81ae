/* SPDX-License-Identifier: MIT */
/*
 * Graphs: what was captured is logged again, call by call, whenever it is launched, as if it came
 * from where that is done.
 */
#include "shim/steps/loops/loops_log.h"

static const struct tfs_log_graph *find(const struct tfs_loops *loops, uint64_t handle)
{
	const uint32_t kept =
		loops->graph_count < TFS_LOG_GRAPHS ? loops->graph_count : TFS_LOG_GRAPHS;

	/* A handle may come again: the latest is meant. */
	for (uint32_t i = 1; i <= kept; i++) {
		const struct tfs_log_graph *graph =
			&loops->graphs[(loops->graph_count - i) % TFS_LOG_GRAPHS];

		if (graph->handle == handle)
			return graph;
	}
	return NULL;
}

static void add(struct tfs_loops *loops, struct tfs_log_graph graph)
{
	if (graph.handle != 0 && graph.count != 0)
		loops->graphs[loops->graph_count++ % TFS_LOG_GRAPHS] = graph;
}

void tfs_loops_capture(struct tfs_loops *loops)
{
	loops->captured = loops->call_count;
}

void tfs_loops_captured(struct tfs_loops *loops, uint64_t graph)
{
	if (loops->captured <= loops->call_count)
		add(loops, (struct tfs_log_graph){
				   graph, loops->captured, loops->call_count - loops->captured});
	loops->captured = loops->call_count;
}

void tfs_loops_instantiated(struct tfs_loops *loops, uint64_t graph, uint64_t executable)
{
	const struct tfs_log_graph *made_of = find(loops, graph);

	if (made_of)
		add(loops, (struct tfs_log_graph){executable, made_of->first, made_of->count});
}

/* False where there is no room. */
static bool log_again(struct tfs_loops *loops, uint32_t launch, const uint64_t *frames,
	uint32_t count, uint32_t call)
{
	const struct tfs_log_call *before = &loops->calls[call];
	const uint32_t first = before->first, operands = before[1].first - first;
	const uint32_t id = (launch * UINT32_C(2654435769) ^ before->site) | UINT32_C(1) << 31;
	const uint32_t site = tfs_log_site(loops, id, frames, count);

	if (site == 0 || !tfs_log_room(loops, operands))
		return false;
	loops->calls[loops->call_count++] =
		(struct tfs_log_call){.site = site - 1, .first = loops->operand_count};
	for (uint32_t i = 0; i < operands; i++)
		loops->operands[loops->operand_count++] = loops->operands[first + i];
	loops->calls[loops->call_count].first = loops->operand_count;
	tfs_log_note_moves(loops, &loops->calls[loops->call_count - 1]);
	return true;
}

bool tfs_loops_launch(struct tfs_loops *loops, uint32_t site, const uint64_t *frames,
	uint32_t count, uint64_t executable)
{
	if (tfs_loops_feed(loops, site, frames, count, NULL, 0))
		return true;
	const struct tfs_log_graph *graph = loops->found ? NULL : find(loops, executable);
	if (!graph || count == 0)
		return false;
	const struct tfs_log_graph launched = *graph;
	for (uint32_t i = 0; i < launched.count; i++)
		if (!log_again(loops, site, frames, count, launched.first + i))
			return false;
	return tfs_log_look(loops);
}
