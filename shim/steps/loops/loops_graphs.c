/* SPDX-License-Identifier: MIT */
/*
 * Graphs: what one does is logged, call by call, whenever it is launched, as if it came from where
 * that is done.
 */
#include <string.h>

#include "shim/steps/loops/graphs.h"
#include "shim/steps/loops/loops_log.h"

/* False where there is no room. */
static bool log_work(struct tfs_loops *loops, uint32_t launch, const uint64_t *frames,
	uint32_t count, const struct tfs_graphs_work *work)
{
	const uint32_t id = (launch * UINT32_C(2654435769) ^ work->site) | UINT32_C(1) << 31;
	const uint32_t site = tfs_log_site(loops, id, work->site, frames, count);

	if (site == 0 || !tfs_log_room(loops, work->count))
		return false;
	loops->calls[loops->call_count++] =
		(struct tfs_log_call){.site = site - 1, .first = loops->operand_count};
	for (uint32_t i = 0; i < work->count; i++) {
		const uint64_t operand = work->operands[i];

		loops->operands[loops->operand_count++] = operand;
		loops->updates |= (operand & TFS_LOG_READS) != 0 && (operand & TFS_LOG_WRITES) != 0;
	}
	loops->calls[loops->call_count].first = loops->operand_count;
	tfs_log_note_moves(loops, &loops->calls[loops->call_count - 1]);
	return true;
}

uint32_t tfs_loops_launched(struct tfs_loops *loops, uint32_t site, const uint64_t *frames,
	uint32_t count, const struct tfs_graphs *graphs, uint64_t executable)
{
	struct tfs_graphs_work work;
	uint64_t cursor = 0;
	uint32_t logged = 0;

	while (!loops->found && count > 0 && tfs_graphs_next(graphs, executable, &cursor, &work) &&
		log_work(loops, site, frames, count, &work))
		logged++;
	return logged;
}
