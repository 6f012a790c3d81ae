/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_NCCL_COMM_H
#define TFS_TESTS_SIM_NCCL_COMM_H

/*
 * The simulated NCCL: ranks are communicators of one process, each with its own simulated device.
 * The communicators made from one unique id share a clique, in which their device work meets: each
 * rank's kernel waits on its stream's thread until all ranks have theirs, and the last one
 * computes. A public function is a weak alias of its pncclX twin, as in the real library.
 */

#include <nccl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/sim/core/core.h"

#define TFS_NCCL_API __attribute__((visibility("default")))
/* Makes ncclX an alias of the pncclX that is defined in front of it. */
#define TFS_NCCL_ALIAS(name)                                                                       \
	extern __typeof__(p##name) name                                                            \
		__attribute__((weak, alias("p" #name), visibility("default")))

/* nccl.h declares these without prototypes. */
ncclResult_t pncclGroupStart(void);
ncclResult_t pncclGroupEnd(void);

enum tfs_nccl_what {
	TFS_NCCL_ALL_REDUCE,
	TFS_NCCL_REDUCE,
	TFS_NCCL_BROADCAST,
	TFS_NCCL_ALL_GATHER,
	TFS_NCCL_REDUCE_SCATTER,
	TFS_NCCL_ALL_TO_ALL,
	TFS_NCCL_GATHER,
	TFS_NCCL_SCATTER,
	TFS_NCCL_SEND,
	TFS_NCCL_RECV,
	TFS_NCCL_KINDS,
};

/* A user's pre-multiplied sum: the factor of one rank. */
struct tfs_nccl_factor {
	bool used;
	bool on_device;
	const void *where;
	double value;
};

/* One call of one rank. */
struct tfs_nccl_op {
	enum tfs_nccl_what what;
	const void *send;
	void *recv;
	size_t count; /* per rank where the call says so */
	ncclDataType_t type;
	ncclRedOp_t op;
	struct tfs_nccl_factor factor;
	int peer; /* or root */
};

/* A send that waits for its receiver. */
struct tfs_nccl_letter {
	const void *data;
	size_t bytes;
	uint64_t start_ns; /* of the sender's kernel; taken: of the receiver's */
	bool taken;
	struct tfs_nccl_letter *next;
};

/* What one rank brings to a division of its communicator. */
struct tfs_nccl_split {
	bool absent; /* has not come yet, or never will */
	int color;   /* negative: stays out */
	int key;
	ncclComm_t child; /* NULL for those that stay out */
};

/* A rank's kernel at a meeting: when it began, and where it wants to hear when all of them end. */
struct tfs_nccl_arrival {
	uint64_t start_ns, cost_ns;
	uint64_t *out_end_ns;
};

struct tfs_nccl_clique {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	ncclUniqueId id;
	int refs;
	int nranks, joined;
	bool aborted;
	int arrived;             /* ranks at the current meeting */
	uint64_t meeting;        /* its number */
	struct tfs_nccl_op *ops; /* nranks of them */
	struct tfs_nccl_arrival *arrivals;
	struct tfs_nccl_letter **box;  /* [from * nranks + to], oldest first */
	struct tfs_nccl_split *splits; /* nranks of them while a division gathers, else NULL */
	int splits_here;               /* ranks that have come to it */
	uint64_t splits_done;
	struct tfs_nccl_clique *next; /* in the list of all */
};

#define TFS_NCCL_FACTORS 16

struct ncclComm {
	struct tfs_nccl_clique *clique;
	int rank, nranks, device;
	int refs; /* its own and one for each piece of queued work; under the clique's lock */
	bool revoked;
	ncclResult_t error;
	struct tfs_nccl_factor factors[TFS_NCCL_FACTORS];
};

/* Bytes of an element, 0 for what is no type. */
size_t tfs_nccl_size(ncclDataType_t type);

/* acc = acc op x for n elements; the average is a sum until tfs_nccl_divide(). */
void tfs_nccl_combine(ncclDataType_t type, ncclRedOp_t op, void *acc, const void *x, size_t n);
void tfs_nccl_divide(ncclDataType_t type, void *acc, size_t n, int by);
/* acc *= the factor. */
void tfs_nccl_scale(ncclDataType_t type, void *acc, size_t n, const struct tfs_nccl_factor *f);

/* Finds or makes the clique of an id and takes a reference; NULL when sizes contradict. */
struct tfs_nccl_clique *tfs_nccl_clique_join(const ncclUniqueId *id, int nranks);
/* Waits until all ranks have joined. */
void tfs_nccl_clique_wait(struct tfs_nccl_clique *clique);
void tfs_nccl_clique_leave(struct tfs_nccl_clique *clique);
/* Ends what is in flight, and all that comes later, with an error. */
void tfs_nccl_clique_abort(struct tfs_nccl_clique *clique);
/* Waits until more than `number` divisions are done. */
void tfs_nccl_split_wait(struct tfs_nccl_clique *clique, uint64_t number);

/*
 * The duration of a collective on each of `ranks` devices, in final nanoseconds. bytes: count times
 * the element's size as the call gives them; the sum of the group's calls for point to point.
 */
uint64_t tfs_nccl_cost_ns(enum tfs_nccl_what what, uint64_t bytes, int ranks, bool typical);

/* Gives back one reference of a communicator. */
void tfs_nccl_comm_unref(ncclComm_t comm);

/*
 * On a stream's thread: one collective, or point-to-point calls that run at the same time. Such
 * kernels take cost_ns from when the last of those that they wait for has begun.
 */
void tfs_nccl_meet(ncclComm_t comm, const struct tfs_nccl_op *op, uint64_t cost_ns);
void tfs_nccl_exchange(ncclComm_t comm, const struct tfs_nccl_op *ops, int n, uint64_t cost_ns);

/* Adds a call to the thread's group, or enqueues it at once when there is none. */
ncclResult_t tfs_nccl_submit(ncclComm_t comm, cudaStream_t stream, const struct tfs_nccl_op *op);
/* Leaves a wait to the end of the thread's group; false when there is no group. */
bool tfs_nccl_group_comm(ncclComm_t comm);                                 /* for all ranks */
bool tfs_nccl_group_wait(struct tfs_nccl_clique *parent, uint64_t number); /* for a division */

#endif
