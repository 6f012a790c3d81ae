/* SPDX-License-Identifier: MIT */
#include <nccl.h>

#include "shim/hook.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_nccl

TFS_PLAIN_HOOK(ncclResult_t, ncclGetUniqueId, (ncclUniqueId * uniqueId), (uniqueId))
TFS_PLAIN_HOOK(ncclResult_t, ncclCommInitRank,
	(ncclComm_t * comm, int nranks, ncclUniqueId commId, int rank),
	(comm, nranks, commId, rank))
TFS_PLAIN_HOOK(ncclResult_t, ncclCommInitAll, (ncclComm_t * comm, int ndev, const int *devlist),
	(comm, ndev, devlist))
TFS_PLAIN_HOOK(ncclResult_t, ncclCommDestroy, (ncclComm_t comm), (comm))
TFS_PLAIN_HOOK(ncclResult_t, ncclCommAbort, (ncclComm_t comm), (comm))
TFS_PLAIN_HOOK(ncclResult_t, ncclGroupStart, (void), ())
TFS_PLAIN_HOOK(ncclResult_t, ncclGroupEnd, (void), ())

#define FUNCTIONS(X)                                                                               \
	X(ncclGetUniqueId, handle)                                                                 \
	X(ncclCommInitRank, handle)                                                                \
	X(ncclCommInitAll, handle)                                                                 \
	X(ncclCommDestroy, handle)                                                                 \
	X(ncclCommAbort, handle)                                                                   \
	X(ncclGroupStart, group)                                                                   \
	X(ncclGroupEnd, group)

TFS_FAMILY(nccl_communicator, FUNCTIONS);
