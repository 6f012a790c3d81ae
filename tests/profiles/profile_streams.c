/* SPDX-License-Identifier: MIT */
/* What binds a step, and what runs beside what: on the modelled timeline, like the figures. */
#include "profile_case.h"

#define STEPS 50
#define LAUNCHES 20
#define MIB ((size_t)1 << 20)

static cudaStream_t streams[4];
static double idle_share;

/* Mean step of so many launches and a wait; sets the part in which the device is idle. */
static double step(uint64_t kernel_ns)
{
	const double began = host_ns();
	double step_ns;

	for (int i = 0; i < STEPS; i++) {
		for (int k = 0; k < LAUNCHES; k++)
			launch(streams[0], kernel_ns, 4000);
		OK(cudaStreamSynchronize(streams[0]));
	}
	step_ns = (host_ns() - began) / STEPS;
	idle_share = 1 - (double)(LAUNCHES * kernel_ns) / step_ns;
	return step_ns;
}

/* Kernels shorter than their launches: halving them changes nothing; longer ones: nearly half. */
static void check_bounds(uint64_t short_ns)
{
	double whole = step(short_ns), half = step(short_ns / 2);

	TEST_TRUE(half > whole * 0.95);
	whole = step(short_ns);
	TEST_TRUE(idle_share > 0.25);
	whole = step(short_ns * 20);
	TEST_TRUE(idle_share < 0.2);
	half = step(short_ns * 10);
	TEST_TRUE(half < whole * 0.65);
}

/* From the first start to the last end of one kernel in each stream. */
static double together(unsigned blocks, uint64_t kernel_ns)
{
	uint64_t start_ns = UINT64_MAX, end_ns = 0;

	for (int i = 0; i < 4; i++) {
		launch(streams[i], kernel_ns, blocks);
		start_ns = last_op.start_ns < start_ns ? last_op.start_ns : start_ns;
		end_ns = last_op.end_ns > end_ns ? last_op.end_ns : end_ns;
	}
	OK(cudaDeviceSynchronize());
	return (double)(end_ns - start_ns);
}

/* Eight blocks of 256 threads fill a multiprocessor. */
static void check_sharing(void)
{
	struct cudaDeviceProp prop;
	const uint64_t kernel_ns = 1000000;
	unsigned wave;

	OK(cudaGetDeviceProperties(&prop, 0));
	wave = (unsigned)prop.multiProcessorCount * 8;
	TEST_IN(together(wave, kernel_ns) / 1e3, 4000, 4100);
	TEST_IN(together(wave / 5, kernel_ns) / 1e3, 1050, 1250);
	TEST_IN(together(wave / 2, kernel_ns) / 1e3, 2000, 2300);
}

/* A small kernel finds room beside small ones, however many are queued in another stream. */
static void check_backlog(void)
{
	struct span first;

	for (int i = 0; i < 1000; i++) {
		launch(streams[0], 1000000, 1);
		if (i == 0)
			first = last_op;
	}
	launch(streams[1], 1000, 1);
	TEST_TRUE(last_op.start_ns < first.start_ns + 20000000);
	OK(cudaDeviceSynchronize());
}

/* A copy goes beside a kernel, and two copies of one direction after each other. */
static void check_copies(void)
{
	const size_t bytes = 64 * MIB;
	char *memory, *pinned;
	struct span kernel, up, down, second;

	OK(cudaMalloc((void **)&memory, 2 * bytes));
	OK(cudaMallocHost((void **)&pinned, 2 * bytes));
	launch(streams[0], 20000000, 4000);
	kernel = last_op;
	OK(cudaMemcpyAsync(memory, pinned, bytes, cudaMemcpyHostToDevice, streams[1]));
	up = last_op;
	OK(cudaMemcpyAsync(
		pinned + bytes, memory + bytes, bytes, cudaMemcpyDeviceToHost, streams[2]));
	down = last_op;
	OK(cudaMemcpyAsync(memory, pinned, bytes, cudaMemcpyHostToDevice, streams[3]));
	second = last_op;
	TEST_TRUE(up.start_ns < kernel.end_ns && up.end_ns < kernel.end_ns);
	TEST_TRUE(down.start_ns < up.end_ns);
	TEST_TRUE(second.start_ns >= up.end_ns);
	OK(cudaDeviceSynchronize());
	OK(cudaFree(memory));
	OK(cudaFreeHost(pinned));
}

static double peer_ns(void)
{
	char *near, *far;

	OK(cudaMalloc((void **)&near, 64 * MIB));
	OK(cudaSetDevice(1));
	OK(cudaMalloc((void **)&far, 64 * MIB));
	OK(cudaSetDevice(0));
	OK(cudaMemcpyPeerAsync(far, 1, near, 0, 64 * MIB, streams[0]));
	OK(cudaDeviceSynchronize());
	return (double)(last_op.end_ns - last_op.start_ns);
}

int main(int argc, char **argv)
{
	const bool h100 = argc > 1 && strcmp(argv[1], "h100") == 0;
	const char *link = getenv("TFSIM_PEER");
	const double rate = 64.0 * MIB * 1e3;

	listen();
	for (int i = 0; i < 4; i++)
		OK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
	launch(streams[0], 1000, 1);
	check_bounds(h100 ? 2000 : 5000);
	check_sharing();
	check_backlog();
	check_copies();
	if (link)
		TEST_IN(rate / peer_ns(), 15000, 25000);
	else
		TEST_IN(rate / peer_ns(), h100 ? 300000 : 200000, h100 ? 450000 : 300000);
	return test_result();
}
