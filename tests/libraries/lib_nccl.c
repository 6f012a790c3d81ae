/* SPDX-License-Identifier: MIT */
/* NCCL over the devices of one process: every collective, groups, threads, point to point. */
#include <nccl.h>
#include <pthread.h>

#include "tests/libraries/lib_check.h"

enum { MAX = 4, COUNT = 1000 };

static int ranks;
static ncclComm_t comms[MAX];
static cudaStream_t streams[MAX];
static float *in[MAX], *out[MAX];

/* What rank holds at place i: distinct, and exact in any order of addition. */
static float value(int rank, size_t i)
{
	return (float)((int)(i % 17) - 8 + 3 * rank);
}

static void fill(void)
{
	float host[COUNT * MAX];

	for (int r = 0; r < ranks; r++) {
		for (size_t i = 0; i < COUNT * (size_t)ranks; i++)
			host[i] = value(r, i);
		LIB_EQ(cudaSetDevice(r), 0);
		LIB_EQ(cudaMemcpy(in[r], host, sizeof(host), cudaMemcpyHostToDevice), 0);
		for (size_t i = 0; i < COUNT * (size_t)ranks; i++)
			host[i] = -1000.0f;
		LIB_EQ(cudaMemcpy(out[r], host, sizeof(host), cudaMemcpyHostToDevice), 0);
	}
}

static double total(size_t i)
{
	double sum = 0;

	for (int r = 0; r < ranks; r++)
		sum += (double)value(r, i);
	return sum;
}

static void expect(const char *what, int rank, const float *buffer, size_t n,
	double (*want)(int rank, size_t i))
{
	float host[COUNT * MAX];
	double all[COUNT * MAX];
	char name[64];

	for (size_t i = 0; i < n; i++)
		all[i] = want(rank, i);
	LIB_EQ(cudaSetDevice(rank), 0);
	LIB_EQ(cudaStreamSynchronize(streams[rank]), 0);
	LIB_EQ(cudaMemcpy(host, buffer, n * sizeof(float), cudaMemcpyDeviceToHost), 0);
	snprintf(name, sizeof(name), "%s, rank %d", what, rank);
	lib_near(name, host, all, n, 0);
}

static double want_sum(int rank, size_t i)
{
	(void)rank;
	return total(i);
}

static double want_mean(int rank, size_t i)
{
	(void)rank;
	return total(i) / ranks;
}

static double want_last(int rank, size_t i)
{
	(void)rank;
	return (double)value(ranks - 1, i);
}

static double want_gathered(int rank, size_t i)
{
	(void)rank;
	return (double)value((int)(i / COUNT), i % COUNT);
}

static double want_part(int rank, size_t i)
{
	return total(i + (size_t)rank * COUNT);
}

static double want_neighbour(int rank, size_t i)
{
	return (double)value((rank + ranks - 1) % ranks, i);
}

static double want_exchanged(int rank, size_t i)
{
	return (double)value((int)(i / COUNT), i % COUNT + (size_t)rank * COUNT);
}

static double want_scaled(int rank, size_t i)
{
	double sum = 0;

	(void)rank;
	for (int r = 0; r < ranks; r++)
		sum += 2.0 * (double)value(r, i);
	return sum;
}

static void check_reductions(void)
{
	ncclRedOp_t twice[MAX];
	float two = 2;

	fill();
	LIB_EQ(ncclGroupStart(), 0);
	for (int r = 0; r < ranks; r++)
		LIB_EQ(ncclAllReduce(
			       in[r], out[r], COUNT, ncclFloat, ncclSum, comms[r], streams[r]),
			0);
	LIB_EQ(ncclGroupEnd(), 0);
	for (int r = 0; r < ranks; r++)
		expect("all-reduce", r, out[r], COUNT, want_sum);
	LIB_EQ(ncclGroupStart(), 0);
	for (int r = 0; r < ranks; r++)
		LIB_EQ(ncclReduceScatter(
			       in[r], out[r], COUNT, ncclFloat, ncclSum, comms[r], streams[r]),
			0);
	for (int r = 0; r < ranks; r++)
		LIB_EQ(ncclAllReduce(in[r], in[r], COUNT, ncclFloat, ncclAvg, comms[r], streams[r]),
			0);
	LIB_EQ(ncclGroupEnd(), 0);
	for (int r = 0; r < ranks; r++) {
		expect("reduce-scatter", r, out[r], COUNT, want_part);
		expect("mean in place", r, in[r], COUNT, want_mean);
	}
	fill();
	LIB_EQ(ncclGroupStart(), 0);
	for (int r = 0; r < ranks; r++) {
		LIB_EQ(ncclRedOpCreatePreMulSum(
			       &twice[r], &two, ncclFloat, ncclScalarHostImmediate, comms[r]),
			0);
		LIB_EQ(ncclReduce(
			       in[r], out[r], COUNT, ncclFloat, twice[r], 0, comms[r], streams[r]),
			0);
	}
	LIB_EQ(ncclGroupEnd(), 0);
	expect("reduce with a factor", 0, out[0], COUNT, want_scaled);
}

static void check_moves(void)
{
	fill();
	LIB_EQ(ncclGroupStart(), 0);
	for (int r = 0; r < ranks; r++)
		LIB_EQ(ncclBroadcast(
			       in[r], out[r], COUNT, ncclFloat, ranks - 1, comms[r], streams[r]),
			0);
	LIB_EQ(ncclGroupEnd(), 0);
	for (int r = 0; r < ranks; r++)
		expect("broadcast", r, out[r], COUNT, want_last);
	LIB_EQ(ncclGroupStart(), 0);
	for (int r = 0; r < ranks; r++)
		LIB_EQ(ncclAllGather(in[r], out[r], COUNT, ncclFloat, comms[r], streams[r]), 0);
	LIB_EQ(ncclGroupEnd(), 0);
	for (int r = 0; r < ranks; r++)
		expect("all-gather", r, out[r], COUNT * (size_t)ranks, want_gathered);
	LIB_EQ(ncclGroupStart(), 0);
	for (int r = 0; r < ranks; r++)
		LIB_EQ(ncclAlltoAll(in[r], out[r], COUNT, ncclFloat, comms[r], streams[r]), 0);
	LIB_EQ(ncclGroupEnd(), 0);
	for (int r = 0; r < ranks; r++)
		expect("all-to-all", r, out[r], COUNT * (size_t)ranks, want_exchanged);
	/* A ring: each receives before its own send is taken. */
	LIB_EQ(ncclGroupStart(), 0);
	for (int r = 0; r < ranks; r++) {
		LIB_EQ(ncclRecv(out[r], COUNT, ncclFloat, (r + ranks - 1) % ranks, comms[r],
			       streams[r]),
			0);
		LIB_EQ(ncclSend(in[r], COUNT, ncclFloat, (r + 1) % ranks, comms[r], streams[r]), 0);
	}
	LIB_EQ(ncclGroupEnd(), 0);
	for (int r = 0; r < ranks; r++)
		expect("ring", r, out[r], COUNT, want_neighbour);
}

static void check_types(void)
{
	/* 1.5 and -2.25 in half and in bfloat16. */
	uint16_t bits[4] = {0x3e00, 0xc080, 0x3fc0, 0xc010}, got[4];
	uint16_t half_sum[MAX + 1][2] = {
		{0}, {0x3e00, 0xc080}, {0x4200, 0xc480}, {0x4480, 0xc6c0}, {0x4600, 0xc880}};
	uint16_t bfloat_sum[MAX + 1][2] = {
		{0}, {0x3fc0, 0xc010}, {0x4040, 0xc090}, {0x4090, 0xc0d8}, {0x40c0, 0xc110}};

	for (int r = 0; r < ranks; r++) {
		LIB_EQ(cudaSetDevice(r), 0);
		LIB_EQ(cudaMemcpy(in[r], bits, sizeof(bits), cudaMemcpyHostToDevice), 0);
	}
	LIB_EQ(ncclGroupStart(), 0);
	for (int r = 0; r < ranks; r++) {
		uint16_t *from = (uint16_t *)in[r], *to = (uint16_t *)out[r];

		LIB_EQ(ncclAllReduce(from, to, 2, ncclHalf, ncclSum, comms[r], streams[r]), 0);
		LIB_EQ(ncclAllReduce(
			       from + 2, to + 2, 2, ncclBfloat16, ncclSum, comms[r], streams[r]),
			0);
	}
	LIB_EQ(ncclGroupEnd(), 0);
	for (int r = 0; r < ranks; r++) {
		LIB_EQ(cudaSetDevice(r), 0);
		LIB_EQ(cudaStreamSynchronize(streams[r]), 0);
		LIB_EQ(cudaMemcpy(got, out[r], sizeof(got), cudaMemcpyDeviceToHost), 0);
		LIB_EQ(got[0], half_sum[ranks][0]);
		LIB_EQ(got[1], half_sum[ranks][1]);
		LIB_EQ(got[2], bfloat_sum[ranks][0]);
		LIB_EQ(got[3], bfloat_sum[ranks][1]);
	}
}

static ncclUniqueId shared_id;

static void *one_rank(void *arg)
{
	int r = (int)(intptr_t)arg, n = 0;
	ncclComm_t comm = NULL;

	LIB_EQ(cudaSetDevice(r), 0);
	LIB_EQ(ncclCommInitRank(&comm, ranks, shared_id, r), 0);
	LIB_EQ(ncclCommCount(comm, &n), 0);
	LIB_EQ(n, ranks);
	LIB_EQ(ncclCommUserRank(comm, &n), 0);
	LIB_EQ(n, r);
	LIB_EQ(ncclCommCuDevice(comm, &n), 0);
	LIB_EQ(n, r);
	for (int i = 0; i < 20; i++)
		LIB_EQ(ncclAllReduce(in[r], out[r], COUNT, ncclFloat, ncclSum, comm, streams[r]),
			0);
	LIB_EQ(cudaStreamSynchronize(streams[r]), 0);
	LIB_EQ(ncclCommDestroy(comm), 0);
	return NULL;
}

static void check_threads(void)
{
	pthread_t thread[MAX];

	fill();
	LIB_EQ(ncclGetUniqueId(&shared_id), 0);
	for (int r = 0; r < ranks; r++)
		LIB_EQ(pthread_create(&thread[r], NULL, one_rank, (void *)(intptr_t)r), 0);
	for (int r = 0; r < ranks; r++)
		pthread_join(thread[r], NULL);
	for (int r = 0; r < ranks; r++)
		expect("threads", r, out[r], COUNT, want_sum);
}

int main(void)
{
	int version = 0;

	LIB_EQ(cudaGetDeviceCount(&ranks), 0);
	if (ranks > MAX)
		ranks = MAX;
	LIB_EQ(ncclGetVersion(&version), 0);
	LIB_EQ(version, NCCL_VERSION_CODE);
	LIB_TRUE(strlen(ncclGetErrorString(ncclInvalidUsage)) > 0);
	if (!LIB_EQ(ncclCommInitAll(comms, ranks, NULL), 0))
		return lib_result();
	for (int r = 0; r < ranks; r++) {
		LIB_EQ(cudaSetDevice(r), 0);
		LIB_EQ(cudaStreamCreate(&streams[r]), 0);
		in[r] = lib_upload(NULL, COUNT * MAX);
		out[r] = lib_upload(NULL, COUNT * MAX);
	}
	check_reductions();
	check_moves();
	check_types();
	check_threads();
	LIB_EQ(ncclAllReduce(in[0], out[0], 1, ncclFloat, ncclSum, NULL, 0), ncclInvalidArgument);
	for (int r = 0; r < ranks; r++)
		LIB_EQ(ncclCommDestroy(comms[r]), 0);
	return lib_result();
}
