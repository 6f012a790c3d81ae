/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/nccl_comm.h"

/* One call inside a group; the group is the thread's, nothing reaches a stream before its end. */
struct call {
	ncclComm_t comm;
	cudaStream_t stream;
	struct tfs_nccl_op op;
	bool queued;
};

static __thread struct {
	int depth;
	struct call *calls;
	int n, room;
	ncclComm_t *fresh; /* communicators that wait for their clique */
	int fresh_n, fresh_room;
	ncclResult_t error;
} group;

/* What a stream's thread gets; ops follow. */
struct work {
	ncclComm_t comm;
	int n;
	bool point_to_point;
	struct tfs_nccl_op *ops; /* owned */
};

static void run(void *args)
{
	const struct work *w = args;

	if (w->point_to_point)
		tfs_nccl_exchange(w->comm, w->ops, w->n);
	else
		tfs_nccl_meet(w->comm, w->ops);
}

static void drop(void *args)
{
	struct work *w = args;

	tfs_nccl_comm_unref(w->comm);
	free(w->ops);
}

static const char *const names[TFS_NCCL_KINDS] = {
	[TFS_NCCL_ALL_REDUCE] = "tfsim_nccl_all_reduce",
	[TFS_NCCL_REDUCE] = "tfsim_nccl_reduce",
	[TFS_NCCL_BROADCAST] = "tfsim_nccl_broadcast",
	[TFS_NCCL_ALL_GATHER] = "tfsim_nccl_all_gather",
	[TFS_NCCL_REDUCE_SCATTER] = "tfsim_nccl_reduce_scatter",
	[TFS_NCCL_ALL_TO_ALL] = "tfsim_nccl_all_to_all",
	[TFS_NCCL_GATHER] = "tfsim_nccl_gather",
	[TFS_NCCL_SCATTER] = "tfsim_nccl_scatter",
	[TFS_NCCL_SEND] = "tfsim_nccl_send_recv",
	[TFS_NCCL_RECV] = "tfsim_nccl_send_recv",
};

/* Bytes that one rank puts on the wire. */
static uint64_t traffic(const struct tfs_nccl_op *o, int n)
{
	uint64_t bytes = (uint64_t)o->count * tfs_nccl_size(o->type);

	switch (o->what) {
	case TFS_NCCL_ALL_REDUCE:
		return bytes * 2 * (uint64_t)(n - 1) / (uint64_t)n;
	case TFS_NCCL_ALL_GATHER:
	case TFS_NCCL_REDUCE_SCATTER:
	case TFS_NCCL_ALL_TO_ALL:
	case TFS_NCCL_GATHER:
	case TFS_NCCL_SCATTER:
		return bytes * (uint64_t)(n - 1);
	default:
		return n > 1 ? bytes : 0;
	}
}

static ncclResult_t enqueue(
	ncclComm_t comm, cudaStream_t stream, const struct tfs_nccl_op *ops, int n)
{
	struct work args = {comm, n, ops[0].what >= TFS_NCCL_SEND, NULL};
	struct tfsim_work w = {.kind = TFSIM_KERNEL, .name = names[ops[0].what], .run = run};
	int before = tfsim_device_current();
	unsigned context = tfsim_context_current();
	uint64_t bytes = 0;
	cudaError_t error;

	args.ops = malloc((size_t)n * sizeof(*ops));
	if (!args.ops)
		return ncclSystemError;
	memcpy(args.ops, ops, (size_t)n * sizeof(*ops));
	for (int i = 0; i < n; i++)
		bytes += traffic(&ops[i], comm->nranks);
	pthread_mutex_lock(&comm->clique->lock);
	comm->refs++;
	pthread_mutex_unlock(&comm->clique->lock);
	w.args = &args;
	w.args_size = sizeof(args);
	w.drop = drop;
	w.cost_ns = tfsim_cost_copy(bytes, TFSIM_DEVICE, TFSIM_DEVICE) + tfsim_cost_ns(6000);
	w.grid = (dim3){8, 1, 1};
	w.block = (dim3){512, 1, 1};
	/* The default streams are those of the communicator's device. */
	tfsim_device_set(comm->device);
	error = tfsim_enqueue(stream, &w);
	tfsim_context_set(before, context);
	return error ? ncclUnhandledCudaError : ncclSuccess;
}

/* Point-to-point calls of one communicator and stream become one kernel, as they may be cyclic. */
static ncclResult_t enqueue_pairs(int first)
{
	struct call *c = &group.calls[first];
	struct tfs_nccl_op *ops = calloc((size_t)(group.n - first), sizeof(*ops));
	ncclResult_t rc;
	int n = 0;

	if (!ops)
		return ncclSystemError;
	for (int i = first; i < group.n; i++) {
		struct call *other = &group.calls[i];

		if (other->comm != c->comm || other->stream != c->stream ||
			other->op.what < TFS_NCCL_SEND)
			continue;
		ops[n++] = other->op;
		other->queued = true;
	}
	rc = enqueue(c->comm, c->stream, ops, n);
	free(ops);
	return rc;
}

static bool grow(void **array, int n, int *room, size_t size)
{
	void *bigger;
	int wanted = *room ? *room * 2 : 16;

	if (n < *room)
		return true;
	bigger = realloc(*array, (size_t)wanted * size);
	if (!bigger)
		return false;
	*array = bigger;
	*room = wanted;
	return true;
}

ncclResult_t tfs_nccl_submit(ncclComm_t comm, cudaStream_t stream, const struct tfs_nccl_op *op)
{
	void *calls = group.calls;

	if (group.depth == 0)
		return enqueue(comm, stream, op, 1);
	if (!grow(&calls, group.n, &group.room, sizeof(struct call)))
		return ncclSystemError;
	group.calls = calls;
	group.calls[group.n++] = (struct call){comm, stream, *op, false};
	return ncclSuccess;
}

bool tfs_nccl_group_comm(ncclComm_t comm)
{
	void *fresh = group.fresh;

	if (group.depth == 0)
		return false;
	if (!grow(&fresh, group.fresh_n, &group.fresh_room, sizeof(ncclComm_t)))
		return false;
	group.fresh = fresh;
	group.fresh[group.fresh_n++] = comm;
	return true;
}

TFS_NCCL_API ncclResult_t pncclGroupStart(void)
{
	group.depth++;
	return ncclSuccess;
}

TFS_NCCL_ALIAS(ncclGroupStart);

TFS_NCCL_API ncclResult_t pncclGroupEnd(void)
{
	ncclResult_t rc = ncclSuccess;

	if (group.depth == 0)
		return ncclInvalidUsage;
	if (--group.depth > 0)
		return ncclSuccess;
	for (int i = 0; i < group.fresh_n; i++)
		tfs_nccl_clique_wait(group.fresh[i]->clique);
	for (int i = 0; i < group.n && rc == ncclSuccess; i++) {
		struct call *c = &group.calls[i];

		if (c->op.what >= TFS_NCCL_SEND)
			rc = c->queued ? ncclSuccess : enqueue_pairs(i);
		else
			rc = enqueue(c->comm, c->stream, &c->op, 1);
	}
	group.fresh_n = 0;
	group.n = 0;
	return rc;
}

TFS_NCCL_ALIAS(ncclGroupEnd);
