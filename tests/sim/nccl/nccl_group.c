/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/nccl/nccl_comm.h"

/* One call inside a group; the group is the thread's, nothing reaches a stream before its end. */
struct call {
	ncclComm_t comm;
	cudaStream_t stream;
	struct tfs_nccl_op op;
	bool queued;
};

/* What the end of the group waits for: all ranks of a new clique, or a division of one. */
struct pending {
	struct tfs_nccl_clique *clique;
	bool division;
	uint64_t number;
};

static __thread struct {
	int depth;
	struct call *calls;
	int n, room;
	struct pending *pending;
	int pending_n, pending_room;
} group;

/* What a stream's thread gets; ops follow. */
struct work {
	ncclComm_t comm;
	int n;
	bool point_to_point;
	uint64_t cost_ns;
	struct tfs_nccl_op *ops; /* owned */
};

static void run(void *args)
{
	const struct work *w = args;

	if (w->point_to_point)
		tfs_nccl_exchange(w->comm, w->ops, w->n, w->cost_ns);
	else
		tfs_nccl_meet(w->comm, w->ops, w->cost_ns);
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

static bool point_to_point(const struct tfs_nccl_op *o)
{
	return o->what >= TFS_NCCL_SEND;
}

static uint64_t bytes_of(const struct tfs_nccl_op *o)
{
	return (uint64_t)o->count * tfs_nccl_size(o->type);
}

static ncclResult_t enqueue(
	ncclComm_t comm, cudaStream_t stream, const struct tfs_nccl_op *ops, int n)
{
	struct work args = {.comm = comm, .n = n, .point_to_point = point_to_point(&ops[0])};
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
		bytes += bytes_of(&ops[i]);
	pthread_mutex_lock(&comm->clique->lock);
	comm->refs++;
	pthread_mutex_unlock(&comm->clique->lock);
	w.args = &args;
	w.args_size = sizeof(args);
	w.drop = drop;
	w.cost_ns = tfs_nccl_cost_ns(ops[0].what, bytes, comm->nranks, false);
	args.cost_ns = w.cost_ns;
	w.meets = comm->nranks > 1;
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
			!point_to_point(&other->op))
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

static bool postpone(struct pending what)
{
	void *pending = group.pending;

	if (group.depth == 0)
		return false;
	if (!grow(&pending, group.pending_n, &group.pending_room, sizeof(struct pending)))
		return false;
	group.pending = pending;
	group.pending[group.pending_n++] = what;
	return true;
}

bool tfs_nccl_group_comm(ncclComm_t comm)
{
	return postpone((struct pending){.clique = comm->clique});
}

bool tfs_nccl_group_wait(struct tfs_nccl_clique *parent, uint64_t number)
{
	return postpone((struct pending){.clique = parent, .division = true, .number = number});
}

TFS_NCCL_API ncclResult_t pncclGroupStart(void)
{
	group.depth++;
	return ncclSuccess;
}

TFS_NCCL_ALIAS(ncclGroupStart);

static void wait_pending(void)
{
	for (int i = 0; i < group.pending_n; i++) {
		const struct pending *p = &group.pending[i];

		if (p->division)
			tfs_nccl_split_wait(p->clique, p->number);
		else
			tfs_nccl_clique_wait(p->clique);
	}
	group.pending_n = 0;
}

TFS_NCCL_API ncclResult_t pncclGroupEnd(void)
{
	ncclResult_t rc = ncclSuccess;

	if (group.depth == 0)
		return ncclInvalidUsage;
	if (--group.depth > 0)
		return ncclSuccess;
	wait_pending();
	for (int i = 0; i < group.n && rc == ncclSuccess; i++) {
		struct call *c = &group.calls[i];

		if (point_to_point(&c->op))
			rc = c->queued ? ncclSuccess : enqueue_pairs(i);
		else
			rc = enqueue(c->comm, c->stream, &c->op, 1);
	}
	group.n = 0;
	return rc;
}

TFS_NCCL_ALIAS(ncclGroupEnd);

/* What the group would keep one communicator's device busy for. */
static uint64_t cost_of(ncclComm_t comm)
{
	uint64_t ns = 0, pairs = 0;

	for (int i = 0; i < group.n; i++) {
		const struct tfs_nccl_op *o = &group.calls[i].op;

		if (group.calls[i].comm != comm)
			continue;
		if (point_to_point(o))
			pairs += bytes_of(o);
		else
			ns += tfs_nccl_cost_ns(o->what, bytes_of(o), comm->nranks, true);
	}
	return ns + (pairs ? tfs_nccl_cost_ns(TFS_NCCL_SEND, pairs, comm->nranks, true) : 0);
}

/* Nothing of the group runs; the estimate is in microseconds. */
TFS_NCCL_API ncclResult_t pncclGroupSimulateEnd(ncclSimInfo_t *simInfo)
{
	static const ncclSimInfo_t valid = NCCL_SIM_INFO_INITIALIZER;
	uint64_t longest = 0;

	if (group.depth == 0)
		return ncclInvalidUsage;
	if (!simInfo || simInfo->magic != valid.magic || simInfo->size < sizeof(*simInfo))
		return ncclInvalidArgument;
	if (--group.depth > 0)
		return ncclSuccess;
	wait_pending();
	for (int i = 0; i < group.n; i++) {
		uint64_t ns = cost_of(group.calls[i].comm);

		longest = ns > longest ? ns : longest;
	}
	group.n = 0;
	simInfo->estimatedTime = (float)longest / 1000.0f;
	return ncclSuccess;
}

TFS_NCCL_ALIAS(ncclGroupSimulateEnd);
