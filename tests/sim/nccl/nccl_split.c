/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/nccl/nccl_comm.h"

/* Whether rank `a` of the parent comes before `b` in their new communicator; false for itself. */
static bool before(const struct tfs_nccl_split *splits, int a, int b)
{
	return splits[a].key != splits[b].key ? splits[a].key < splits[b].key : a < b;
}

/* Gives the ranks of the first one's color their new communicator. */
static void unite(struct tfs_nccl_split *splits, int n, int first)
{
	int color = splits[first].color, size = 0;
	ncclUniqueId id;

	pncclGetUniqueId(&id);
	for (int r = first; r < n; r++)
		size += splits[r].child && splits[r].color == color;
	for (int r = first; r < n; r++) {
		ncclComm_t child = splits[r].child;

		if (!child || splits[r].color != color)
			continue;
		child->nranks = size;
		child->clique = tfs_nccl_clique_join(&id, size);
		child->rank = 0;
		for (int other = first; other < n; other++)
			child->rank += splits[other].color == color && before(splits, other, r);
	}
	for (int r = first; r < n; r++)
		if (splits[r].color == color)
			splits[r].child = NULL;
}

/* The last rank to come does it for all. */
static void divide(struct tfs_nccl_split *splits, int n)
{
	for (int r = 0; r < n; r++)
		if (splits[r].child)
			unite(splits, n, r);
}

void tfs_nccl_split_wait(struct tfs_nccl_clique *q, uint64_t number)
{
	pthread_mutex_lock(&q->lock);
	while (q->splits_done <= number)
		pthread_cond_wait(&q->moved, &q->lock);
	pthread_mutex_unlock(&q->lock);
}

/* Of `wanted` ranks; this one joins with mine. Waits, unless a group does so later. */
static ncclResult_t take_part(ncclComm_t comm, int wanted, const struct tfs_nccl_split *mine)
{
	struct tfs_nccl_clique *q = comm->clique;
	struct tfs_nccl_split *all = NULL;
	uint64_t number;

	pthread_mutex_lock(&q->lock);
	if (!q->splits)
		q->splits = malloc((size_t)q->nranks * sizeof(*q->splits));
	if (!q->splits || (q->splits_here && !q->splits[comm->rank].absent)) {
		ncclResult_t rc = q->splits ? ncclInvalidUsage : ncclSystemError;

		pthread_mutex_unlock(&q->lock);
		return rc;
	}
	for (int r = 0; r < q->nranks && q->splits_here == 0; r++)
		q->splits[r] = (struct tfs_nccl_split){.absent = true, .color = -1};
	number = q->splits_done;
	q->splits[comm->rank] = *mine;
	if (++q->splits_here == wanted) {
		all = q->splits;
		q->splits = NULL;
		q->splits_here = 0;
	}
	pthread_mutex_unlock(&q->lock);
	if (all) {
		divide(all, q->nranks);
		free(all);
		pthread_mutex_lock(&q->lock);
		q->splits_done++;
		pthread_cond_broadcast(&q->moved);
		pthread_mutex_unlock(&q->lock);
	} else if (!tfs_nccl_group_wait(q, number)) {
		tfs_nccl_split_wait(q, number);
	}
	return ncclSuccess;
}

/* A communicator that take_part() completes. */
static ncclComm_t child_of(ncclComm_t comm)
{
	ncclComm_t child = calloc(1, sizeof(*child));

	if (child) {
		child->device = comm->device;
		child->refs = 1;
	}
	return child;
}

TFS_NCCL_API ncclResult_t pncclCommSplit(
	ncclComm_t comm, int color, int key, ncclComm_t *newcomm, ncclConfig_t *config)
{
	struct tfs_nccl_split mine = {.color = color, .key = key};
	ncclResult_t rc;

	(void)config;
	if (!comm || !newcomm || (color < 0 && color != NCCL_SPLIT_NOCOLOR))
		return ncclInvalidArgument;
	if (color != NCCL_SPLIT_NOCOLOR) {
		mine.child = child_of(comm);
		if (!mine.child)
			return ncclSystemError;
	}
	*newcomm = mine.child;
	rc = take_part(comm, comm->nranks, &mine);
	if (rc != ncclSuccess) {
		*newcomm = NULL;
		free(mine.child);
	}
	return rc;
}

TFS_NCCL_ALIAS(ncclCommSplit);

/* How many ranks stay; negative when the list is wrong or names this one. */
static int staying(ncclComm_t comm, const int *excluded, int count)
{
	for (int i = 0; i < count; i++) {
		if (excluded[i] < 0 || excluded[i] >= comm->nranks || excluded[i] == comm->rank)
			return -1;
		for (int j = 0; j < i; j++)
			if (excluded[j] == excluded[i])
				return -1;
	}
	return comm->nranks - count;
}

TFS_NCCL_API ncclResult_t pncclCommShrink(ncclComm_t comm, int *excludeRanksList,
	int excludeRanksCount, ncclComm_t *newcomm, ncclConfig_t *config, int shrinkFlags)
{
	struct tfs_nccl_split mine = {0};
	ncclResult_t rc;
	int left;

	(void)config;
	if (!comm || !newcomm || !excludeRanksList || excludeRanksCount < 1)
		return ncclInvalidArgument;
	left = staying(comm, excludeRanksList, excludeRanksCount);
	if (left < 1)
		return ncclInvalidArgument;
	if (shrinkFlags & NCCL_SHRINK_ABORT)
		tfs_nccl_clique_abort(comm->clique);
	mine.key = comm->rank;
	mine.child = child_of(comm);
	if (!mine.child)
		return ncclSystemError;
	*newcomm = mine.child;
	rc = take_part(comm, left, &mine);
	if (rc != ncclSuccess) {
		*newcomm = NULL;
		free(mine.child);
	}
	return rc;
}

TFS_NCCL_ALIAS(ncclCommShrink);
