/* SPDX-License-Identifier: MIT */
/* What collectives take, and that the kernels of all ranks end with the last one to come. */
#include "profile_case.h"

#include <nccl.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define RANKS 2
#define MIB ((size_t)1 << 20)
#define ROOM (256 * MIB)
#define LATE_NS 5000000
#define DONE(call) TEST_EQ(call, ncclSuccess)

static ncclComm_t comms[RANKS];
static cudaStream_t streams[RANKS];
static char *memory[RANKS];
/* In shown time: the newest collective and the newest other kernel of each device. */
static struct span shown[RANKS], other[RANKS];
static dim3 blocks[RANKS]; /* of the newest collective */

static void hear_collective(const struct tfsim_fact *fact)
{
	const struct span span = {fact->start_ns, fact->end_ns};

	if (fact->kind != TFSIM_FACT_KERNEL)
		return;
	if (strncmp(fact->name, "tfsim_nccl", 10) == 0) {
		shown[fact->device] = span;
		blocks[fact->device] = fact->grid;
	} else {
		other[fact->device] = span;
	}
}

/* In microseconds. */
static double lasted(int rank)
{
	return (double)(shown[rank].end_ns - shown[rank].start_ns) / 1e3;
}

static double apart_us(uint64_t a_ns, uint64_t b_ns)
{
	return (double)(a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns) / 1e3;
}

enum call { ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, BROADCAST, PAIR };

/* `bytes` is the size that NCCL's tests would name. */
static void enqueue(int rank, enum call call, size_t bytes)
{
	const size_t part = bytes / RANKS;
	char *in = memory[rank], *out = in + ROOM;
	ncclComm_t comm = comms[rank];
	cudaStream_t stream = streams[rank];

	switch (call) {
	case ALL_REDUCE:
		DONE(ncclAllReduce(in, out, bytes, ncclInt8, ncclSum, comm, stream));
		break;
	case ALL_GATHER:
		DONE(ncclAllGather(in, out, part, ncclInt8, comm, stream));
		break;
	case REDUCE_SCATTER:
		DONE(ncclReduceScatter(in, out, part, ncclInt8, ncclSum, comm, stream));
		break;
	case BROADCAST:
		DONE(ncclBroadcast(in, out, bytes, ncclInt8, 0, comm, stream));
		break;
	case PAIR:
		if (rank == 0)
			DONE(ncclSend(in, bytes, ncclInt8, 1, comm, stream));
		else
			DONE(ncclRecv(out, bytes, ncclInt8, 0, comm, stream));
		break;
	}
}

static void finish(void)
{
	for (int r = 0; r < RANKS; r++) {
		OK(cudaSetDevice(r));
		OK(cudaDeviceSynchronize());
	}
}

/* Of the rank that came last. */
static double alone(enum call call, size_t bytes)
{
	double us = 1e9;

	for (int r = 0; r < RANKS; r++)
		enqueue(r, call, bytes);
	finish();
	for (int r = 0; r < RANKS; r++)
		us = lasted(r) < us ? lasted(r) : us;
	return us;
}

/* Eight blocks, whatever it moves: few of the device's processors. */
static void check_blocks(void)
{
	for (enum call call = ALL_REDUCE; call <= PAIR; call++) {
		alone(call, 4096);
		for (int r = 0; r < RANKS; r++) {
			TEST_EQ(blocks[r].x, 8);
			TEST_EQ(blocks[r].y, 1);
			TEST_EQ(blocks[r].z, 1);
		}
	}
}

/* Bus bandwidth in bytes per microsecond, from two sizes: the latency falls out. */
static double rate(enum call call, double factor)
{
	double least = 1e9, most = 0;

	for (int i = 0; i < 9; i++) {
		const double us = alone(call, ROOM), less = alone(call, ROOM / 2);
		const double bus = factor * (double)(ROOM / 2) / (us - less);

		least = bus < least ? bus : least;
		most = bus > most ? bus : most;
	}
	/* A latency that is drawn lies between 10 and 60 us. */
	TEST_TRUE(most < least * 1.5);
	return (least + most) / 2;
}

static void check_rates(double bus)
{
	TEST_IN(100 * rate(ALL_REDUCE, 1) / bus, 85, 115);
	TEST_IN(100 * rate(ALL_GATHER, 0.5) / bus, 75, 125);
	TEST_IN(100 * rate(REDUCE_SCATTER, 0.5) / bus, 75, 125);
	TEST_IN(100 * rate(BROADCAST, 1) / bus, 85, 115);
	TEST_IN(100 * rate(PAIR, 1) / bus, 85, 115);
	TEST_IN(alone(ALL_REDUCE, 4), 8, 100);
}

static void *be_late(void *rank)
{
	const int r = (int)(intptr_t)rank;

	OK(cudaSetDevice(r));
	launch(streams[r], LATE_NS, 4000);
	enqueue(r, ALL_REDUCE, 4);
	return NULL;
}

static void *be_early(void *rank)
{
	const int r = (int)(intptr_t)rank;

	OK(cudaSetDevice(r));
	enqueue(r, ALL_REDUCE, 4);
	return NULL;
}

/* Two ranks as threads; one has 5 ms of other work in front of the collective. */
static void check_late(void)
{
	pthread_t early, late;

	TEST_EQ(pthread_create(&early, NULL, be_early, (void *)0), 0);
	pthread_join(early, NULL);
	TEST_EQ(pthread_create(&late, NULL, be_late, (void *)1), 0);
	pthread_join(late, NULL);
	finish();
	TEST_TRUE(lasted(0) >= LATE_NS / 1e3);
	TEST_TRUE(lasted(1) < 100);
	TEST_IN(apart_us(shown[0].end_ns, shown[1].end_ns), 0, 3);
}

/* The sender waits for its receiver, and the other way round. */
static void check_late_pair(int late)
{
	enqueue(!late, PAIR, 4);
	OK(cudaSetDevice(late));
	launch(streams[late], LATE_NS, 4000);
	enqueue(late, PAIR, 4);
	finish();
	TEST_TRUE(lasted(!late) >= LATE_NS / 1e3);
	TEST_TRUE(lasted(late) < 100);
	TEST_IN(apart_us(shown[0].end_ns, shown[1].end_ns), 0, 60);
}

/* Enqueued while the collective waits: it begins when that is over. */
static void check_behind(void)
{
	enqueue(0, ALL_REDUCE, 4);
	usleep(5000);
	OK(cudaSetDevice(0));
	launch(streams[0], 1000, 1);
	OK(cudaSetDevice(1));
	launch(streams[1], LATE_NS, 4000);
	enqueue(1, ALL_REDUCE, 4);
	finish();
	TEST_TRUE(lasted(0) >= LATE_NS / 1e3);
	TEST_TRUE(other[0].start_ns >= shown[0].end_ns);
}

/* In a graph what comes after a collective is as late as that. */
static void check_graph(void)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	OK(cudaSetDevice(0));
	OK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeThreadLocal));
	enqueue(0, ALL_REDUCE, 4);
	launch(streams[0], 1000, 1);
	OK(cudaStreamEndCapture(streams[0], &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphLaunch(exec, streams[0]));
	OK(cudaSetDevice(1));
	launch(streams[1], LATE_NS, 4000);
	enqueue(1, ALL_REDUCE, 4);
	finish();
	TEST_TRUE(lasted(0) >= LATE_NS / 1e3);
	TEST_IN(apart_us(shown[0].end_ns, shown[1].end_ns), 0, 3);
	TEST_TRUE(other[0].start_ns >= shown[0].end_ns);
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
}

/* Without computing, ranks meet, and what receives stays as it was. */
static void check_untouched(void)
{
	for (int r = 0; r < RANKS; r++) {
		memory[r][0] = 1;
		memory[r][ROOM] = 7;
	}
	for (int r = 0; r < RANKS; r++)
		enqueue(r, ALL_REDUCE, 1);
	finish();
	for (int r = 0; r < RANKS; r++)
		TEST_EQ(memory[r][ROOM], 7);
}

int main(int argc, char **argv)
{
	static const struct tfsim_sink sink = {.fact = hear_collective};
	const int devices[RANKS] = {0, 1};

	tfsim_sink_set(&sink);
	DONE(ncclCommInitAll(comms, RANKS, devices));
	for (int r = 0; r < RANKS; r++) {
		OK(cudaSetDevice(r));
		OK(cudaStreamCreateWithFlags(&streams[r], cudaStreamNonBlocking));
		OK(cudaMalloc((void **)&memory[r], 2 * ROOM));
		launch(streams[r], 1000, 1);
	}
	finish();
	check_rates(argc > 1 && strcmp(argv[1], "h100") == 0 ? 360e3 : 230e3);
	check_late();
	check_late_pair(0);
	check_late_pair(1);
	check_behind();
	check_graph();
	check_untouched();
	check_blocks();
	for (int r = 0; r < RANKS; r++)
		DONE(ncclCommDestroy(comms[r]));
	return test_result();
}
