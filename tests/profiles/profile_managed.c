/* SPDX-License-Identifier: MIT */
/* Managed memory moves to who touches it, and nothing moves that stays where it is. */
#include "profile_case.h"
#include "tests/promises/sim_ptx.h"

#define MIB ((size_t)1 << 20)
#define SIZE (64 * MIB)

static cudaStream_t stream;
static char *managed;

/* What a kernel of 1 us that uses the memory takes, in microseconds. */
static double kernel_us(void)
{
	const struct tfsim_work work = {
		.kind = TFSIM_KERNEL,
		.name = "work",
		.cost_ns = 1000,
		.spans = {{managed, SIZE, true}},
	};

	OK(tfsim_enqueue(stream, &work));
	OK(cudaStreamSynchronize(stream));
	return (double)(last_op.end_ns - last_op.start_ns) / 1e3;
}

static double host_us(void)
{
	const double before = host_ns();

	OK(cudaStreamSynchronize(stream));
	kernel_us();
	return (host_ns() - before) / 1e3;
}

/* The device learns of the memory by the kernel's arguments, also where a graph is launched. */
static void check_arguments(void)
{
	int *x = (int *)managed, n = SIZE / sizeof(int), one = 1;
	void *args[] = {&x, &n, &one};
	cudaKernel_t kernel;
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	OK(cudaLibraryGetKernel(&kernel, sim_ptx_load(), "add_one"));
	OK(cudaLaunchKernel(kernel, (dim3){1, 1, 1}, (dim3){1, 1, 1}, args, 0, stream));
	managed[SIZE / 2]++;
	OK(cudaLaunchKernel(kernel, (dim3){1, 1, 1}, (dim3){1, 1, 1}, args, 0, stream));
	TEST_IN((last_op.end_ns - last_op.start_ns) / 1000, 20, 80);
	OK(cudaLaunchKernel(kernel, (dim3){1, 1, 1}, (dim3){1, 1, 1}, args, 0, stream));
	TEST_IN((last_op.end_ns - last_op.start_ns) / 1000, 1, 5);
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(cudaLaunchKernel(kernel, (dim3){1, 1, 1}, (dim3){1, 1, 1}, args, 0, stream));
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	managed[SIZE / 2]++;
	OK(cudaGraphLaunch(exec, stream));
	TEST_IN((last_op.end_ns - last_op.start_ns) / 1000, 20, 80);
	OK(cudaStreamSynchronize(stream));
}

static double prefetch_us(enum cudaMemLocationType where)
{
	const double before = host_ns();

	OK(cudaMemPrefetchAsync(
		managed, SIZE, (struct cudaMemLocation){.type = where, .id = 0}, 0, stream));
	OK(cudaStreamSynchronize(stream));
	return (host_ns() - before) / 1e3;
}

/* At the link's full rate and without faults; who it was moved to finds it in place. */
static void check_prefetch(double whole_us, double quiet_us)
{
	const double link_us = 64 * 1048576 / 26500.0;

	kernel_us();
	TEST_IN(prefetch_us(cudaMemLocationTypeHost), link_us * 0.9, link_us * 1.2);
	memset(managed, 9, SIZE);
	TEST_IN(prefetch_us(cudaMemLocationTypeDevice), link_us * 0.9, link_us * 1.2);
	TEST_IN(kernel_us(), 1, 1);
	TEST_IN(prefetch_us(cudaMemLocationTypeDevice), 0, 100);
	TEST_IN(prefetch_us(cudaMemLocationTypeHost), link_us * 0.9, link_us * 1.2);
	memset(managed, 10, SIZE);
	TEST_IN(host_us() - quiet_us, whole_us * 0.8, whole_us * 1.2);
	TEST_IN(kernel_us(), 1, 1);
}

int main(void)
{
	/* 64 MiB at 9 GB/s, and 32 faults of about 30 us. */
	const double whole_us = 7457 + 32 * 31;
	double quiet_us;

	listen();
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaMallocManaged((void **)&managed, SIZE, cudaMemAttachGlobal));
	TEST_IN(kernel_us(), 1, 1);
	memset(managed, 7, SIZE);
	TEST_IN(kernel_us(), whole_us * 0.85, whole_us * 1.15);
	TEST_IN(kernel_us(), 1, 1);
	quiet_us = host_us();
	/* One page: the group it lies in, there and back. */
	managed[SIZE / 2]++;
	TEST_IN(kernel_us(), 20, 80);
	TEST_EQ(managed[SIZE / 2], 8);
	kernel_us();
	memset(managed, 8, SIZE);
	TEST_IN(host_us() - quiet_us, whole_us * 1.7, whole_us * 2.3);
	check_prefetch(whole_us, quiet_us);
	check_arguments();
	OK(cudaFree(managed));
	return test_result();
}
