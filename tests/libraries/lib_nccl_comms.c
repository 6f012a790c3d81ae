/* SPDX-License-Identifier: MIT */
/* NCCL: gather, scatter, the rules for calls in place, communicators made from others, and what
 * becomes of one that is revoked. */
#include <nccl.h>
#include <pthread.h>

#include "tests/libraries/lib_check.h"

enum { MAX = 4, COUNT = 100 };

static int ranks;
static ncclComm_t comms[MAX], parts[MAX];
static cudaStream_t streams[MAX];
static float *a[MAX], *b[MAX];

/* What rank holds at place i; ranks * COUNT places are used. */
static float value(int rank, size_t i)
{
	return (float)(1000 * rank + (int)i);
}

static void fill(void)
{
	float host[COUNT * MAX];

	for (int r = 0; r < ranks; r++) {
		for (size_t i = 0; i < COUNT * MAX; i++)
			host[i] = value(r, i);
		LIB_EQ(cudaSetDevice(r), 0);
		LIB_EQ(cudaMemcpy(a[r], host, sizeof(host), cudaMemcpyHostToDevice), 0);
		for (size_t i = 0; i < COUNT * MAX; i++)
			host[i] = -1;
		LIB_EQ(cudaMemcpy(b[r], host, sizeof(host), cudaMemcpyHostToDevice), 0);
	}
}

/* One part of rank's buffer holds what another rank had from a place on. */
static void expect(int line, int rank, const float *part, int from, size_t place)
{
	float host[COUNT];

	LIB_EQ(cudaSetDevice(rank), 0);
	LIB_EQ(cudaStreamSynchronize(streams[rank]), 0);
	LIB_EQ(cudaMemcpy(host, part, sizeof(host), cudaMemcpyDeviceToHost), 0);
	for (size_t i = 0; i < COUNT; i++)
		if (!lib_eq(__FILE__, line, "the part", (long long)host[i],
			    from < 0 ? -1 : (long long)value(from, place + i)))
			return;
}

#define EXPECT(rank, part, from, place) expect(__LINE__, rank, part, from, place)

/* Calls once for each rank, in a group. */
#define EACH(call)                                                                                 \
	do {                                                                                       \
		LIB_EQ(ncclGroupStart(), 0);                                                       \
		for (int r = 0; r < ranks; r++)                                                    \
			LIB_EQ(call, 0);                                                           \
		LIB_EQ(ncclGroupEnd(), 0);                                                         \
	} while (0)

static void check_rooted(void)
{
	int root = ranks - 1;

	fill();
	EACH(ncclGather(
		a[r], r == root ? b[r] : NULL, COUNT, ncclFloat, root, comms[r], streams[r]));
	for (int r = 0; r < ranks; r++) {
		EXPECT(root, b[root] + r * COUNT, r, 0);
		if (r != root)
			EXPECT(r, b[r], -1, 0);
	}
	fill();
	EACH(ncclScatter(
		r == root ? a[r] : NULL, b[r], COUNT, ncclFloat, root, comms[r], streams[r]));
	for (int r = 0; r < ranks; r++) {
		EXPECT(r, b[r], root, (size_t)r * COUNT);
		if (ranks > 1)
			EXPECT(r, b[r] + COUNT, -1, 0);
	}
	fill();
	EACH(ncclReduce(
		a[r], r == 0 ? b[r] : NULL, COUNT, ncclFloat, ncclMax, 0, comms[r], streams[r]));
	EXPECT(0, b[0], ranks - 1, 0);
	LIB_EQ(ncclGather(a[0], b[0], COUNT, ncclFloat, ranks, comms[0], streams[0]),
		ncclInvalidArgument);
}

/* By the header: where one buffer serves as both. */
static void check_in_place(void)
{
	int root = ranks - 1;

	fill();
	EACH(ncclAllGather(a[r] + r * COUNT, a[r], COUNT, ncclFloat, comms[r], streams[r]));
	for (int r = 0; r < ranks; r++)
		for (int from = 0; from < ranks; from++)
			EXPECT(r, a[r] + from * COUNT, from, (size_t)from * COUNT);
	fill();
	EACH(ncclReduceScatter(
		a[r], a[r] + r * COUNT, COUNT, ncclFloat, ncclMin, comms[r], streams[r]));
	for (int r = 0; r < ranks; r++)
		EXPECT(r, a[r] + r * COUNT, 0, (size_t)r * COUNT);
	fill();
	EACH(ncclGather(r == root ? a[r] + root * COUNT : a[r], a[r], COUNT, ncclFloat, root,
		comms[r], streams[r]));
	for (int r = 0; r < root; r++)
		EXPECT(root, a[root] + r * COUNT, r, 0);
	EXPECT(root, a[root] + root * COUNT, root, (size_t)root * COUNT);
	fill();
	EACH(ncclScatter(a[r], r == root ? a[r] + root * COUNT : b[r], COUNT, ncclFloat, root,
		comms[r], streams[r]));
	for (int r = 0; r < root; r++)
		EXPECT(r, b[r], root, (size_t)r * COUNT);
	EXPECT(root, a[root] + root * COUNT, root, (size_t)root * COUNT);
	fill();
	EACH(ncclBroadcast(a[r], a[r], COUNT, ncclFloat, root, comms[r], streams[r]));
	for (int r = 0; r < ranks; r++)
		EXPECT(r, a[r], root, 0);
}

/* Even ranks go together in reverse order, rank 1 stays out, others are alone. */
static int color_of(int r)
{
	return r == 1 ? NCCL_SPLIT_NOCOLOR : r % 2 ? r : 0;
}

static void check_parts(void)
{
	int evens = (ranks + 1) / 2;

	LIB_TRUE(!parts[1]);
	for (int r = 0; r < ranks; r++) {
		int n = 0, rank = -1, device = -1;

		if (r == 1 || !LIB_TRUE(parts[r]))
			continue;
		LIB_EQ(ncclCommCount(parts[r], &n), 0);
		LIB_EQ(n, r % 2 ? 1 : evens);
		LIB_EQ(ncclCommUserRank(parts[r], &rank), 0);
		LIB_EQ(rank, r % 2 ? 0 : evens - 1 - r / 2);
		LIB_EQ(ncclCommCuDevice(parts[r], &device), 0);
		LIB_EQ(device, r);
	}
	fill();
	LIB_EQ(ncclGroupStart(), 0);
	for (int r = 0; r < ranks; r++)
		if (parts[r])
			LIB_EQ(ncclAllGather(a[r], b[r], COUNT, ncclFloat, parts[r], streams[r]),
				0);
	LIB_EQ(ncclGroupEnd(), 0);
	for (int r = 0; r < ranks; r += 2)
		for (int i = 0; i < evens; i++)
			EXPECT(r, b[r] + i * COUNT, 2 * (evens - 1 - i), 0);
	for (int r = 0; r < ranks; r++)
		LIB_EQ(ncclCommDestroy(parts[r]), 0);
}

static void *split_one(void *arg)
{
	int r = (int)(intptr_t)arg;

	LIB_EQ(cudaSetDevice(r), 0);
	LIB_EQ(ncclCommSplit(comms[r], color_of(r), -r, &parts[r], NULL), 0);
	return NULL;
}

static void check_split(void)
{
	pthread_t thread[MAX];

	EACH(ncclCommSplit(comms[r], color_of(r), -r, &parts[r], NULL));
	check_parts();
	for (int r = 0; r < ranks; r++)
		LIB_EQ(pthread_create(&thread[r], NULL, split_one, (void *)(intptr_t)r), 0);
	for (int r = 0; r < ranks; r++)
		pthread_join(thread[r], NULL);
	check_parts();
	LIB_EQ(ncclCommSplit(comms[0], -5, 0, &parts[0], NULL), ncclInvalidArgument);
}

/* Without the first rank. */
static void check_shrink(int flags)
{
	int first = 0, n = 0, rank = -1;

	LIB_EQ(ncclGroupStart(), 0);
	for (int r = 1; r < ranks; r++)
		LIB_EQ(ncclCommShrink(comms[r], &first, 1, &parts[r], NULL, flags), 0);
	LIB_EQ(ncclGroupEnd(), 0);
	fill();
	LIB_EQ(ncclGroupStart(), 0);
	for (int r = 1; r < ranks; r++) {
		LIB_EQ(ncclCommCount(parts[r], &n), 0);
		LIB_EQ(n, ranks - 1);
		LIB_EQ(ncclCommUserRank(parts[r], &rank), 0);
		LIB_EQ(rank, r - 1);
		LIB_EQ(ncclAllReduce(a[r], b[r], COUNT, ncclFloat, ncclMin, parts[r], streams[r]),
			0);
	}
	LIB_EQ(ncclGroupEnd(), 0);
	for (int r = 1; r < ranks; r++) {
		EXPECT(r, b[r], 1, 0);
		LIB_EQ(ncclCommDestroy(parts[r]), 0);
	}
	LIB_EQ(ncclCommShrink(comms[0], &first, 1, &parts[0], NULL, flags), ncclInvalidArgument);
}

static void check_estimate(void)
{
	ncclSimInfo_t small = NCCL_SIM_INFO_INITIALIZER, large = small, wrong = {0};

	fill();
	LIB_EQ(ncclGroupSimulateEnd(&small), ncclInvalidUsage);
	for (int step = 0; step < 2; step++) {
		LIB_EQ(ncclGroupStart(), 0);
		for (int r = 0; r < ranks; r++)
			LIB_EQ(ncclAllReduce(a[r], b[r], step ? COUNT * MAX : 1, ncclFloat, ncclSum,
				       comms[r], streams[r]),
				0);
		LIB_EQ(ncclGroupSimulateEnd(&wrong), ncclInvalidArgument);
		LIB_EQ(ncclGroupSimulateEnd(step ? &large : &small), 0);
	}
	LIB_TRUE(small.estimatedTime > 0 && large.estimatedTime > small.estimatedTime);
	for (int r = 0; r < ranks; r++)
		EXPECT(r, b[r], -1, 0);
}

/* Rank 0's work waits for ranks that never come, until the communicator is revoked. */
static void check_revoke(void)
{
	ncclResult_t error = ncclInternalError;

	LIB_EQ(cudaSetDevice(0), 0);
	LIB_EQ(ncclAllReduce(a[0], b[0], COUNT, ncclFloat, ncclSum, comms[0], streams[0]), 0);
	LIB_EQ(cudaStreamQuery(streams[0]), cudaErrorNotReady);
	LIB_EQ(ncclCommRevoke(comms[0], 1), ncclInvalidArgument);
	LIB_EQ(ncclCommRevoke(comms[0], NCCL_REVOKE_DEFAULT), 0);
	LIB_EQ(cudaStreamSynchronize(streams[0]), 0);
	LIB_EQ(ncclCommGetAsyncError(comms[0], &error), 0);
	LIB_EQ(error, ncclSuccess);
	LIB_EQ(ncclAllReduce(a[0], b[0], COUNT, ncclFloat, ncclSum, comms[0], streams[0]),
		ncclInvalidUsage);
	LIB_EQ(ncclCommFinalize(comms[0]), ncclInvalidUsage);
	/* Those that come after all find no partner, nor the operands of the one that has left. */
	fill();
	for (int r = 1; r < ranks; r++) {
		LIB_EQ(cudaSetDevice(r), 0);
		LIB_EQ(ncclAllReduce(a[r], b[r], COUNT, ncclFloat, ncclSum, comms[r], streams[r]),
			0);
		LIB_EQ(cudaStreamSynchronize(streams[r]), 0);
		LIB_EQ(ncclCommGetAsyncError(comms[r], &error), 0);
		LIB_EQ(error, ncclInvalidUsage);
	}
	EXPECT(0, b[0], -1, 0);
	/* It can still be divided. */
	check_shrink(NCCL_SHRINK_ABORT);
}

int main(void)
{
	LIB_EQ(cudaGetDeviceCount(&ranks), 0);
	if (ranks > MAX)
		ranks = MAX;
	if (!LIB_TRUE(ranks > 1) || !LIB_EQ(ncclCommInitAll(comms, ranks, NULL), 0))
		return lib_result();
	for (int r = 0; r < ranks; r++) {
		LIB_EQ(cudaSetDevice(r), 0);
		LIB_EQ(cudaStreamCreate(&streams[r]), 0);
		a[r] = lib_upload(NULL, COUNT * MAX);
		b[r] = lib_upload(NULL, COUNT * MAX);
	}
	check_rooted();
	check_in_place();
	check_split();
	check_shrink(NCCL_SHRINK_DEFAULT);
	check_estimate();
	check_revoke();
	for (int r = 0; r < ranks; r++)
		LIB_EQ(ncclCommDestroy(comms[r]), 0);
	return lib_result();
}
