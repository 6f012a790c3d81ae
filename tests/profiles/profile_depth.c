/* SPDX-License-Identifier: MIT */
/*
 * How far the host runs ahead of the simulated device, in modelled time: a stream holds 1,022
 * operations, and who gives it one more waits until the oldest has ended, not for any later one.
 * Records of events and waits for them take no place, but may not be without number.
 */
#include "tests/sim/core/core.h"
#include "tests/test.h"

#define DEPTH 1022
#define MORE 64
/* So many records and waits may be pending. */
#define PASSING (16 * DEPTH)
/* Much more than the host needs for all the calls. */
#define COST_NS ((uint64_t)100000000)

static uint64_t kernel(cudaStream_t stream)
{
	const struct tfsim_work work = {.kind = TFSIM_KERNEL, .cost_ns = COST_NS};

	TEST_EQ(tfsim_enqueue(stream, &work), cudaSuccess);
	return tfsim_host_modelled_ns();
}

/* Kernels that have ended by this moment of a host that began at start_ns. */
static uint64_t ended(uint64_t start_ns, uint64_t now_ns)
{
	return (now_ns - start_ns) / COST_NS;
}

static void check_passing(void)
{
	cudaStream_t stream;
	cudaEvent_t event;
	uint64_t start_ns;

	TEST_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
	TEST_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
	TEST_EQ(cudaDeviceSynchronize(), cudaSuccess);
	start_ns = tfsim_host_modelled_ns();
	for (int i = 0; i < 8; i++)
		kernel(stream);
	for (int i = 0; i < PASSING / 2; i++) {
		TEST_EQ(cudaEventRecord(event, stream), cudaSuccess);
		TEST_EQ(cudaStreamWaitEvent(stream, event, 0), cudaSuccess);
	}
	TEST_TRUE(ended(start_ns, tfsim_host_modelled_ns()) < 8);
	for (int i = 0; i < PASSING / DEPTH; i++)
		TEST_EQ(cudaEventRecord(event, stream), cudaSuccess);
	TEST_EQ(ended(start_ns, tfsim_host_modelled_ns()), 8);
}

static void check_graphs(void)
{
	cudaGraphExec_t exec;
	cudaStream_t stream;
	cudaGraph_t graph;
	uint64_t start_ns;

	TEST_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
	TEST_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
	kernel(stream);
	TEST_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
	TEST_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
	TEST_EQ(cudaDeviceSynchronize(), cudaSuccess);
	start_ns = tfsim_host_modelled_ns();
	for (int i = 0; i < DEPTH; i++)
		TEST_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
	TEST_EQ(ended(start_ns, tfsim_host_modelled_ns()), 0);
	for (uint64_t i = 1; i <= MORE; i++) {
		TEST_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
		TEST_EQ(ended(start_ns, tfsim_host_modelled_ns()), i);
	}
}

int main(void)
{
	cudaStream_t stream;
	cudaEvent_t event;
	uint64_t start_ns, now_ns = 0;

	TEST_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
	TEST_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
	start_ns = tfsim_host_modelled_ns();
	for (int i = 0; i < DEPTH; i++) {
		now_ns = kernel(stream);
		TEST_EQ(cudaEventRecord(event, stream), cudaSuccess);
		TEST_EQ(cudaStreamWaitEvent(stream, event, 0), cudaSuccess);
	}
	TEST_EQ(ended(start_ns, now_ns), 0);
	for (uint64_t i = 1; i <= MORE; i++)
		TEST_EQ(ended(start_ns, kernel(stream)), i);
	check_passing();
	check_graphs();
	return test_result();
}
