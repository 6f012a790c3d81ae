/* SPDX-License-Identifier: MIT */
#include <nccl.h>

#include "shim/hook.h"
#include "shim/memory.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_nccl

TFS_PLAIN_HOOK(ncclResult_t, ncclGetUniqueId, (ncclUniqueId * uniqueId), (uniqueId))
TFS_PLAIN_HOOK(ncclResult_t, ncclCommInitRank,
	(ncclComm_t * comm, int nranks, ncclUniqueId commId, int rank),
	(comm, nranks, commId, rank))
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
	X(ncclCommInitAll, handle)                                                                 \
	X(ncclCommDestroy, handle)                                                                 \
	X(ncclCommAbort, handle)                                                                   \
	X(ncclCommRegister, handle)                                                                \
	X(ncclGroupStart, group)                                                                   \
	X(ncclGroupEnd, group)

TFS_FAMILY(nccl_communicator, FUNCTIONS);
