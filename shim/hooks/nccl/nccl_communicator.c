/* SPDX-License-Identifier: MIT */
#include <nccl.h>
#include <string.h>

#include "shim/base/env.h"
#include "shim/base/spin.h"
#include "shim/hooks/notes.h"
#include "shim/record/hook.h"
#include "shim/state/memory.h"

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
	if (here != 0 && (uint32_t)ranks >= here) {
		const uint32_t known = tfs_options.ranks;

		tfs_env_ranks((uint32_t)ranks - here + 1);
		if (tfs_options.ranks != known)
			tfs_recorder_fact(TFS_FACT_processes, NULL, tfs_options.ranks, 0);
	}
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

/* Several ids for one communicator: the first tells it from others. */
TFS_HOOK(ncclResult_t, ncclCommInitRankScalable,
	(ncclComm_t * comm, int ranks, int rank, int id_count, ncclUniqueId *ids,
		ncclConfig_t *config))
{
	struct tfs_frame frame = TFS_ENTER(ncclCommInitRankScalable);
	const ncclResult_t status =
		TFS_REAL(ncclCommInitRankScalable)(comm, ranks, rank, id_count, ids, config);

	if (status == ncclSuccess || status == ncclInProgress)
		note_rank(ranks, ids, rank);
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

/* What other ranks are given a window into is theirs as well. */
TFS_HOOK(ncclResult_t, ncclCommWindowRegister,
	(ncclComm_t comm, void *address, size_t bytes, ncclWindow_t *window, int flags))
{
	struct tfs_frame frame = TFS_ENTER(ncclCommWindowRegister);
	const ncclResult_t status =
		TFS_REAL(ncclCommWindowRegister)(comm, address, bytes, window, flags);

	tfs_memory_mark((uint64_t)(uintptr_t)address, TFS_RANGE_SHARED);
	tfs_hook_plain(&frame, (uint32_t)status);
	return status;
}

/* Memory that network cards and other devices may reach. */
TFS_HOOK(ncclResult_t, ncclMemAlloc, (void **out, size_t bytes))
{
	struct tfs_frame frame = TFS_ENTER(ncclMemAlloc);
	const ncclResult_t status = TFS_REAL(ncclMemAlloc)(out, bytes);
	const bool good = status == ncclSuccess && frame.thread;

	tfs_note_alloc(&frame, status,
		(struct tfs_range){.address = good ? (uint64_t)(uintptr_t)*out : 0,
			.bytes = bytes,
			.kind = TFS_MEMORY_DEVICE,
			.flags = TFS_RANGE_SHARED});
	return status;
}

TFS_HOOK(ncclResult_t, ncclMemFree, (void *address))
{
	struct tfs_frame frame = TFS_ENTER(ncclMemFree);
	struct tfs_range was = {0};

	tfs_memory_remove((uint64_t)(uintptr_t)address, &was);
	const ncclResult_t status = TFS_REAL(ncclMemFree)(address);
	tfs_note_free(&frame, status, address, &was);
	return status;
}
TFS_PLAIN_HOOK(ncclResult_t, ncclGroupStart, (void), ())
TFS_PLAIN_HOOK(ncclResult_t, ncclGroupEnd, (void), ())

#define FUNCTIONS(X)                                                                               \
	X(ncclGetUniqueId, handle)                                                                 \
	X(ncclCommInitRank, handle_create)                                                         \
	X(ncclCommInitRankConfig, handle_create)                                                   \
	X(ncclCommInitRankScalable, handle_create)                                                 \
	X(ncclCommWindowRegister, handle)                                                          \
	X(ncclMemAlloc, alloc)                                                                     \
	X(ncclMemFree, free)                                                                       \
	X(ncclCommInitAll, handle_create)                                                          \
	X(ncclCommDestroy, handle_destroy)                                                         \
	X(ncclCommAbort, handle_destroy)                                                           \
	X(ncclCommRegister, handle)                                                                \
	X(ncclGroupStart, group)                                                                   \
	X(ncclGroupEnd, group)

FUNCTIONS(TFS_FUNCTION_ROW)
