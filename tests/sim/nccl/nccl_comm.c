/* SPDX-License-Identifier: MIT */
#include "tests/sim/nccl/nccl_comm.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What a unique id holds; ids of another process are recognized by their process number. */
struct identity {
	char magic[8];
	uint64_t process, number, time;
};

static const char magic[8] = "tfsim-1";
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tfs_nccl_clique *list;

TFS_NCCL_API ncclResult_t pncclGetUniqueId(ncclUniqueId *uniqueId)
{
	static _Atomic uint64_t count;
	struct identity id = {.process = (uint64_t)getpid(), .time = tfsim_now_ns()};

	if (!uniqueId)
		return ncclInvalidArgument;
	memcpy(id.magic, magic, sizeof(magic));
	id.number = atomic_fetch_add(&count, 1) + 1;
	memset(uniqueId, 0, sizeof(*uniqueId));
	memcpy(uniqueId, &id, sizeof(id));
	return ncclSuccess;
}

TFS_NCCL_ALIAS(ncclGetUniqueId);

static struct tfs_nccl_clique *clique_create(const ncclUniqueId *id, int nranks)
{
	struct tfs_nccl_clique *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	q->ops = calloc((size_t)nranks, sizeof(*q->ops));
	q->arrivals = calloc((size_t)nranks, sizeof(*q->arrivals));
	q->box = calloc((size_t)nranks * (size_t)nranks, sizeof(struct tfs_nccl_letter *));
	if (!q->ops || !q->arrivals || !q->box) {
		free(q->ops);
		free(q->arrivals);
		free(q->box);
		free(q);
		return NULL;
	}
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->moved, NULL);
	q->id = *id;
	q->nranks = nranks;
	q->next = list;
	list = q;
	return q;
}

struct tfs_nccl_clique *tfs_nccl_clique_join(const ncclUniqueId *id, int nranks)
{
	struct tfs_nccl_clique *q;

	pthread_mutex_lock(&list_lock);
	for (q = list; q; q = q->next)
		if (!memcmp(&q->id, id, sizeof(*id)))
			break;
	if (!q)
		q = clique_create(id, nranks);
	if (q && (q->nranks != nranks || q->joined == nranks))
		q = NULL;
	if (q) {
		q->refs++;
		pthread_mutex_lock(&q->lock);
		q->joined++;
		pthread_cond_broadcast(&q->moved);
		pthread_mutex_unlock(&q->lock);
	}
	pthread_mutex_unlock(&list_lock);
	return q;
}

void tfs_nccl_clique_wait(struct tfs_nccl_clique *q)
{
	pthread_mutex_lock(&q->lock);
	while (q->joined < q->nranks && !q->aborted)
		pthread_cond_wait(&q->moved, &q->lock);
	pthread_mutex_unlock(&q->lock);
}

void tfs_nccl_clique_abort(struct tfs_nccl_clique *q)
{
	pthread_mutex_lock(&q->lock);
	q->aborted = true;
	pthread_cond_broadcast(&q->moved);
	pthread_mutex_unlock(&q->lock);
}

void tfs_nccl_clique_leave(struct tfs_nccl_clique *q)
{
	struct tfs_nccl_clique **at;

	pthread_mutex_lock(&list_lock);
	if (--q->refs > 0) {
		pthread_mutex_unlock(&list_lock);
		return;
	}
	for (at = &list; *at != q; at = &(*at)->next)
		continue;
	*at = q->next;
	pthread_mutex_unlock(&list_lock);
	pthread_cond_destroy(&q->moved);
	pthread_mutex_destroy(&q->lock);
	free(q->splits);
	free(q->ops);
	free(q->arrivals);
	free(q->box);
	free(q);
}

void tfs_nccl_comm_unref(ncclComm_t comm)
{
	struct tfs_nccl_clique *q = comm->clique;
	bool last;

	pthread_mutex_lock(&q->lock);
	last = --comm->refs == 0;
	pthread_mutex_unlock(&q->lock);
	if (!last)
		return;
	tfs_nccl_clique_leave(q);
	free(comm);
}

static ncclResult_t join(ncclComm_t *out, const ncclUniqueId *id, int nranks, int rank, int device)
{
	struct identity who;
	ncclComm_t comm;

	memcpy(&who, id, sizeof(who));
	if (memcmp(who.magic, magic, sizeof(magic)))
		return ncclInvalidArgument;
	if (who.process != (uint64_t)getpid()) {
		tfsim_not_supported("ncclCommInitRank over several processes");
		return ncclSystemError;
	}
	comm = calloc(1, sizeof(*comm));
	if (!comm)
		return ncclSystemError;
	comm->clique = tfs_nccl_clique_join(id, nranks);
	if (!comm->clique) {
		free(comm);
		return ncclInvalidUsage;
	}
	comm->rank = rank;
	comm->nranks = nranks;
	comm->device = device;
	comm->refs = 1;
	*out = comm;
	return ncclSuccess;
}

TFS_NCCL_API ncclResult_t pncclCommInitRank(
	ncclComm_t *comm, int nranks, ncclUniqueId commId, int rank)
{
	ncclComm_t made;
	ncclResult_t rc;

	if (!comm || nranks < 1 || rank < 0 || rank >= nranks)
		return ncclInvalidArgument;
	rc = join(&made, &commId, nranks, rank, tfsim_device_current());
	if (rc)
		return rc;
	*comm = made;
	if (!tfs_nccl_group_comm(made))
		tfs_nccl_clique_wait(made->clique);
	return ncclSuccess;
}

TFS_NCCL_ALIAS(ncclCommInitRank);

TFS_NCCL_API ncclResult_t pncclCommInitRankConfig(
	ncclComm_t *comm, int nranks, ncclUniqueId commId, int rank, ncclConfig_t *config)
{
	/* Every choice a configuration can ask for may be ignored, blocking or not included. */
	(void)config;
	return pncclCommInitRank(comm, nranks, commId, rank);
}

TFS_NCCL_ALIAS(ncclCommInitRankConfig);

TFS_NCCL_API ncclResult_t pncclCommInitRankScalable(ncclComm_t *newcomm, int nranks, int myrank,
	int nId, ncclUniqueId *commIds, ncclConfig_t *config)
{
	if (!commIds || nId < 1)
		return ncclInvalidArgument;
	return pncclCommInitRankConfig(newcomm, nranks, commIds[0], myrank, config);
}

TFS_NCCL_ALIAS(ncclCommInitRankScalable);

static bool devices_valid(int ndev, const int *devlist)
{
	for (int i = 0; i < ndev; i++) {
		int device = devlist ? devlist[i] : i;

		if (device < 0 || device >= tfsim_device_count())
			return false;
		for (int j = 0; devlist && j < i; j++)
			if (devlist[j] == device)
				return false;
	}
	return ndev > 0;
}

TFS_NCCL_API ncclResult_t pncclCommInitAll(ncclComm_t *comm, int ndev, const int *devlist)
{
	ncclUniqueId id;
	ncclResult_t rc;

	if (!comm || ndev < 1)
		return ncclInvalidArgument;
	if (!devices_valid(ndev, devlist))
		return ncclUnhandledCudaError;
	rc = pncclGetUniqueId(&id);
	for (int i = 0; i < ndev && rc == ncclSuccess; i++)
		rc = join(&comm[i], &id, ndev, i, devlist ? devlist[i] : i);
	return rc;
}

TFS_NCCL_ALIAS(ncclCommInitAll);

TFS_NCCL_API ncclResult_t pncclCommFinalize(ncclComm_t comm)
{
	if (!comm)
		return ncclInvalidArgument;
	return comm->revoked ? ncclInvalidUsage : ncclSuccess;
}

TFS_NCCL_ALIAS(ncclCommFinalize);

/* Queued work keeps what it needs of the communicator. */
TFS_NCCL_API ncclResult_t pncclCommDestroy(ncclComm_t comm)
{
	if (comm)
		tfs_nccl_comm_unref(comm);
	return ncclSuccess;
}

TFS_NCCL_ALIAS(ncclCommDestroy);

TFS_NCCL_API ncclResult_t pncclCommAbort(ncclComm_t comm)
{
	if (!comm)
		return ncclSuccess;
	tfs_nccl_clique_abort(comm->clique);
	tfs_nccl_comm_unref(comm);
	return ncclSuccess;
}

TFS_NCCL_ALIAS(ncclCommAbort);

/* Ended on purpose, so the communicator itself is well; it takes no more work. */
TFS_NCCL_API ncclResult_t pncclCommRevoke(ncclComm_t comm, int revokeFlags)
{
	if (!comm || revokeFlags != NCCL_REVOKE_DEFAULT)
		return ncclInvalidArgument;
	pthread_mutex_lock(&comm->clique->lock);
	comm->revoked = true;
	pthread_mutex_unlock(&comm->clique->lock);
	tfs_nccl_clique_abort(comm->clique);
	return ncclSuccess;
}

TFS_NCCL_ALIAS(ncclCommRevoke);

TFS_NCCL_API ncclResult_t pncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *asyncError)
{
	if (!comm || !asyncError)
		return ncclInvalidArgument;
	pthread_mutex_lock(&comm->clique->lock);
	*asyncError = comm->error;
	pthread_mutex_unlock(&comm->clique->lock);
	return ncclSuccess;
}

TFS_NCCL_ALIAS(ncclCommGetAsyncError);

TFS_NCCL_API ncclResult_t pncclCommCount(const ncclComm_t comm, int *count)
{
	if (!comm || !count)
		return ncclInvalidArgument;
	*count = comm->nranks;
	return ncclSuccess;
}

TFS_NCCL_ALIAS(ncclCommCount);

TFS_NCCL_API ncclResult_t pncclCommUserRank(const ncclComm_t comm, int *rank)
{
	if (!comm || !rank)
		return ncclInvalidArgument;
	*rank = comm->rank;
	return ncclSuccess;
}

TFS_NCCL_ALIAS(ncclCommUserRank);

TFS_NCCL_API ncclResult_t pncclCommCuDevice(const ncclComm_t comm, int *device)
{
	if (!comm || !device)
		return ncclInvalidArgument;
	*device = comm->device;
	return ncclSuccess;
}

TFS_NCCL_ALIAS(ncclCommCuDevice);
