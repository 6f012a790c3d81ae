/* SPDX-License-Identifier: MIT */
#include <nccl.h>
#include <string.h>

#include "shim/env.h"
#include "shim/hook.h"
#include "shim/memory.h"
#include "shim/spin.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_nccl

TFS_PLAIN_HOOK(ncclResult_t, ncclGetUniqueId, (ncclUniqueId * uniqueId), (uniqueId))
/* Of the largest communicator so far. One process may hold several of its ranks. */
static struct {
	struct tfs_spin lock;
	ncclUniqueId id;
	int ranks;
	uint32_t here;
} world = {.ranks = 1};

static void note_rank(int ranks, const ncclUniqueId *id, int rank)
{
	bool first = false;

	tfs_spin_lock(&world.lock);
	if (ranks > world.ranks) {
		world.ranks = ranks;
		world.id = *id;
		world.here = 1;
		first = true;
	} else if (ranks == world.ranks && memcmp(id, &world.id, sizeof(*id)) == 0) {
		world.here++;
	}
	const uint32_t here = world.here;
	tfs_spin_unlock(&world.lock);
	if (first)
		tfs_recorder_rank((uint32_t)rank);
	/* Processes, not ranks. */
	if (here != 0 && (uint32_t)ranks >= here)
		tfs_env_ranks((uint32_t)ranks - here + 1);
}

TFS_HOOK(ncclResult_t, ncclCommInitRank, (ncclComm_t * comm, int ranks, ncclUniqueId id, int rank))
{
	struct tfs_frame frame = TFS_ENTER(ncclCommInitRank);
	const ncclResult_t status = TFS_REAL(ncclCommInitRank)(comm, ranks, id, rank);

	if (status == ncclSuccess)
		note_rank(ranks, &id, rank);
	tfs_hook_plain(&frame, (uint32_t)status);
	return status;
}

/* A non-blocking one answers that it is in progress. */
TFS_HOOK(ncclResult_t, ncclCommInitRankConfig,
	(ncclComm_t * comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t *config))
{
	struct tfs_frame frame = TFS_ENTER(ncclCommInitRankConfig);
	const ncclResult_t status = TFS_REAL(ncclCommInitRankConfig)(comm, ranks, id, rank, config);

	if (status == ncclSuccess || status == ncclInProgress)
		note_rank(ranks, &id, rank);
	tfs_hook_plain(&frame, (uint32_t)status);
	return status;
}
TFS_PLAIN_HOOK(ncclResult_t, ncclCommInitAll, (ncclComm_t * comm, int ndev, const int *devlist),
	(comm, ndev, devlist))
TFS_PLAIN_HOOK(ncclResult_t, ncclCommDestroy, (ncclComm_t comm), (comm))
TFS_PLAIN_HOOK(ncclResult_t, ncclCommAbort, (ncclComm_t comm), (comm))
TFS_HOOK(ncclResult_t, ncclCommRegister,
	(const ncclComm_t comm, void *address, size_t bytes, void **handle))
{
	struct tfs_frame frame = TFS_ENTER(ncclCommRegister);
	const ncclResult_t status = TFS_REAL(ncclCommRegister)(comm, address, bytes, handle);

	tfs_memory_mark((uint64_t)(uintptr_t)address, TFS_RANGE_SHARED);
	tfs_hook_plain(&frame, (uint32_t)status);
	return status;
}
TFS_PLAIN_HOOK(ncclResult_t, ncclGroupStart, (void), ())
TFS_PLAIN_HOOK(ncclResult_t, ncclGroupEnd, (void), ())

#define FUNCTIONS(X)                                                                               \
	X(ncclGetUniqueId, handle)                                                                 \
	X(ncclCommInitRank, handle)                                                                \
	X(ncclCommInitRankConfig, handle)                                                          \
	X(ncclCommInitAll, handle)                                                                 \
	X(ncclCommDestroy, handle)                                                                 \
	X(ncclCommAbort, handle)                                                                   \
	X(ncclCommRegister, handle)                                                                \
	X(ncclGroupStart, group)                                                                   \
	X(ncclGroupEnd, group)

TFS_FAMILY(nccl_communicator, FUNCTIONS);
