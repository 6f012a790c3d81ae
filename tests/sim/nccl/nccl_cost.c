/* SPDX-License-Identifier: MIT */
#include "tests/sim/nccl/nccl_comm.h"

/*
 * Bytes that cross the bus for each rank. NCCL's tests count them so, from the size of the whole
 * output of an all-gather and the whole input of a reduce-scatter, which are `ranks` times what the
 * calls give.
 */
static uint64_t traffic(enum tfs_nccl_what what, uint64_t bytes, uint64_t ranks)
{
	switch (what) {
	case TFS_NCCL_ALL_REDUCE:
		return bytes * 2 * (ranks - 1) / ranks;
	case TFS_NCCL_ALL_GATHER:
	case TFS_NCCL_REDUCE_SCATTER:
	case TFS_NCCL_ALL_TO_ALL:
	case TFS_NCCL_GATHER:
	case TFS_NCCL_SCATTER:
		return bytes * (ranks - 1);
	default:
		return ranks > 1 ? bytes : 0;
	}
}

uint64_t tfs_nccl_cost_ns(enum tfs_nccl_what what, uint64_t bytes, int ranks, bool typical)
{
	return tfsim_cost_collective(traffic(what, bytes, (uint64_t)ranks), typical);
}
