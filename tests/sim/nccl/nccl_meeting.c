/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/nccl/nccl_comm.h"

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Ranks are combined in their order, whoever comes last: results are the same bits every time. */
static void reduce(const struct tfs_nccl_op *ops, int n, size_t skip, size_t count, void *acc)
{
	const struct tfs_nccl_op *o = &ops[0];
	size_t size = tfs_nccl_size(o->type);
	ncclRedOp_t op = o->factor.used ? ncclSum : o->op;
	char *scaled = o->factor.used ? malloc(count * size) : NULL;

	for (int r = 0; r < n; r++) {
		const void *x = (const char *)ops[r].send + skip * size;

		if (scaled) {
			memcpy(scaled, x, count * size);
			tfs_nccl_scale(o->type, scaled, count, &ops[r].factor);
			x = scaled;
		}
		if (r == 0)
			memcpy(acc, x, count * size);
		else
			tfs_nccl_combine(o->type, op, acc, x, count);
	}
	if (op == ncclAvg)
		tfs_nccl_divide(o->type, acc, count, n);
	free(scaled);
}

/* Outputs may be the inputs: everything is computed before anything is written. */
static void all_reduce(const struct tfs_nccl_op *ops, int n)
{
	size_t bytes = ops[0].count * tfs_nccl_size(ops[0].type);
	void *acc = malloc(bytes ? bytes : 1);

	if (!acc)
		return;
	reduce(ops, n, 0, ops[0].count, acc);
	for (int r = 0; r < n; r++)
		if (ops[0].what == TFS_NCCL_ALL_REDUCE || r == ops[0].peer)
			memcpy(ops[r].recv, acc, bytes);
	free(acc);
}

static void reduce_scatter(const struct tfs_nccl_op *ops, int n)
{
	size_t bytes = ops[0].count * tfs_nccl_size(ops[0].type);
	char *acc = malloc(bytes ? bytes * (size_t)n : 1);

	if (!acc)
		return;
	reduce(ops, n, 0, ops[0].count * (size_t)n, acc);
	for (int r = 0; r < n; r++)
		memcpy(ops[r].recv, acc + (size_t)r * bytes, bytes);
	free(acc);
}

static void gather(const struct tfs_nccl_op *ops, int n, bool all)
{
	size_t bytes = ops[0].count * tfs_nccl_size(ops[0].type);

	for (int to = 0; to < n; to++) {
		if (!all && to != ops[0].peer)
			continue;
		for (int from = 0; from < n; from++)
			memmove((char *)ops[to].recv + (size_t)from * bytes, ops[from].send, bytes);
	}
}

static void scatter(const struct tfs_nccl_op *ops, int n)
{
	size_t bytes = ops[0].count * tfs_nccl_size(ops[0].type);

	for (int to = 0; to < n; to++)
		memmove(ops[to].recv, (const char *)ops[ops[0].peer].send + (size_t)to * bytes,
			bytes);
}

static void all_to_all(const struct tfs_nccl_op *ops, int n)
{
	size_t bytes = ops[0].count * tfs_nccl_size(ops[0].type);

	for (int to = 0; to < n; to++)
		for (int from = 0; from < n; from++)
			memmove((char *)ops[to].recv + (size_t)from * bytes,
				(const char *)ops[from].send + (size_t)to * bytes, bytes);
}

static void compute(const struct tfs_nccl_op *ops, int n)
{
	size_t bytes = ops[0].count * tfs_nccl_size(ops[0].type);

	switch (ops[0].what) {
	case TFS_NCCL_ALL_REDUCE:
	case TFS_NCCL_REDUCE:
		all_reduce(ops, n);
		break;
	case TFS_NCCL_BROADCAST:
		for (int r = 0; r < n; r++)
			memmove(ops[r].recv, ops[ops[0].peer].send, bytes);
		break;
	case TFS_NCCL_ALL_GATHER:
		gather(ops, n, true);
		break;
	case TFS_NCCL_GATHER:
		gather(ops, n, false);
		break;
	case TFS_NCCL_SCATTER:
		scatter(ops, n);
		break;
	case TFS_NCCL_ALL_TO_ALL:
		all_to_all(ops, n);
		break;
	case TFS_NCCL_REDUCE_SCATTER:
		reduce_scatter(ops, n);
		break;
	default:
		break;
	}
}

static bool agree(const struct tfs_nccl_op *ops, int n)
{
	for (int r = 1; r < n; r++)
		if (ops[r].what != ops[0].what || ops[r].count != ops[0].count ||
			ops[r].type != ops[0].type || ops[r].op != ops[0].op ||
			ops[r].peer != ops[0].peer)
			return false;
	return true;
}

/* As on a GPU: the kernels that came early run until the last one is there, and all end with it. */
static void end_together(const struct tfs_nccl_clique *q)
{
	uint64_t latest_ns = 0;

	for (int r = 0; r < q->nranks; r++)
		latest_ns = later(latest_ns, q->arrivals[r].start_ns);
	for (int r = 0; r < q->nranks; r++)
		*q->arrivals[r].out_end_ns = latest_ns + q->arrivals[0].cost_ns;
}

void tfs_nccl_meet(ncclComm_t comm, const struct tfs_nccl_op *op, uint64_t cost_ns)
{
	struct tfs_nccl_clique *q = comm->clique;
	uint64_t meeting, end_ns = 0;

	pthread_mutex_lock(&q->lock);
	meeting = q->meeting;
	q->ops[comm->rank] = *op;
	q->arrivals[comm->rank] =
		(struct tfs_nccl_arrival){tfsim_running_start_ns(), cost_ns, &end_ns};
	/* Of a clique that was aborted, earlier arrivals are gone, and so may be their buffers. */
	if (!q->aborted && ++q->arrived == q->nranks) {
		/* The real library would hang or give garbage; the simulation says so. */
		if (!agree(q->ops, q->nranks))
			q->aborted = true;
		else if (tfsim_computes())
			compute(q->ops, q->nranks);
		end_together(q);
		q->arrived = 0;
		q->meeting++;
		pthread_cond_broadcast(&q->moved);
	}
	while (q->meeting == meeting && !q->aborted)
		pthread_cond_wait(&q->moved, &q->lock);
	if (q->aborted && !comm->revoked)
		comm->error = ncclInvalidUsage;
	pthread_mutex_unlock(&q->lock);
	tfsim_running_end(end_ns);
}

static struct tfs_nccl_letter **box(struct tfs_nccl_clique *q, int from, int to)
{
	return &q->box[from * q->nranks + to];
}

static void post(struct tfs_nccl_clique *q, int from, const struct tfs_nccl_op *op,
	struct tfs_nccl_letter *letter)
{
	struct tfs_nccl_letter **at = box(q, from, op->peer);

	letter->data = op->send;
	letter->bytes = op->count * tfs_nccl_size(op->type);
	letter->start_ns = tfsim_running_start_ns();
	letter->taken = false;
	letter->next = NULL;
	while (*at)
		at = &(*at)->next;
	*at = letter;
}

/* Returns when the sender's kernel began. */
static uint64_t take(struct tfs_nccl_clique *q, int to, const struct tfs_nccl_op *op)
{
	struct tfs_nccl_letter **at = box(q, op->peer, to);
	struct tfs_nccl_letter *letter;
	size_t bytes = op->count * tfs_nccl_size(op->type);
	uint64_t start_ns;

	while (!*at && !q->aborted)
		pthread_cond_wait(&q->moved, &q->lock);
	letter = *at;
	if (!letter)
		return 0;
	if (tfsim_computes())
		memmove(op->recv, letter->data, letter->bytes < bytes ? letter->bytes : bytes);
	*at = letter->next;
	start_ns = letter->start_ns;
	letter->start_ns = tfsim_running_start_ns();
	letter->taken = true;
	pthread_cond_broadcast(&q->moved);
	return start_ns;
}

/* All sends are offered before the first receive waits. */
void tfs_nccl_exchange(ncclComm_t comm, const struct tfs_nccl_op *ops, int n, uint64_t cost_ns)
{
	struct tfs_nccl_clique *q = comm->clique;
	uint64_t latest_ns = 0;
	struct tfs_nccl_letter *letters = calloc((size_t)n, sizeof(*letters));

	if (!letters)
		return;
	pthread_mutex_lock(&q->lock);
	for (int i = 0; i < n; i++)
		if (ops[i].what == TFS_NCCL_SEND)
			post(q, comm->rank, &ops[i], &letters[i]);
	pthread_cond_broadcast(&q->moved);
	for (int i = 0; i < n; i++)
		if (ops[i].what == TFS_NCCL_RECV)
			latest_ns = later(latest_ns, take(q, comm->rank, &ops[i]));
	for (int i = 0; i < n; i++) {
		while (ops[i].what == TFS_NCCL_SEND && !letters[i].taken && !q->aborted)
			pthread_cond_wait(&q->moved, &q->lock);
		latest_ns = later(latest_ns, letters[i].start_ns);
	}
	if (q->aborted) {
		/* Letters of this rank must not outlive it. */
		for (int to = 0; to < q->nranks; to++)
			*box(q, comm->rank, to) = NULL;
		if (!comm->revoked)
			comm->error = ncclInvalidUsage;
	}
	pthread_mutex_unlock(&q->lock);
	tfsim_running_end(latest_ns + cost_ns);
	free(letters);
}
