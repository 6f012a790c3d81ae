/* SPDX-License-Identifier: MIT */
/*
 * Prints modelled times of a program with one thread, which are the same in every run to the bit,
 * whatever else the machine does and however long results take: the test runs it twice.
 */
#include "tests/profiles/profile_case.h"

#define ROUNDS 20
#define MIB ((size_t)1 << 20)

static char *device, *pinned, *pageable, *managed;

static void tell(const char *what)
{
	printf("%-20s %lu\n", what, (unsigned long)tfsim_host_modelled_ns());
}

static void elapsed(const char *what, cudaEvent_t start, cudaEvent_t end)
{
	float ms = 0;

	OK(cudaEventSynchronize(end));
	OK(cudaEventElapsedTime(&ms, start, end));
	printf("%-20s %a\n", what, (double)ms);
	tell(what);
}

/* Short-lived streams, given up while they have work. */
static void scatter(cudaStream_t stream, cudaEvent_t event)
{
	for (unsigned flags = 0; flags < 2; flags++) {
		cudaStream_t own;

		OK(cudaStreamCreateWithFlags(&own, flags));
		OK(cudaStreamWaitEvent(own, event, 0));
		launch(own, 300000, 40);
		OK(cudaMemcpyAsync(pageable, device, MIB, cudaMemcpyDeviceToHost, own));
		OK(cudaMemsetAsync(device + 4 * MIB, 1, MIB, own));
		OK(cudaStreamDestroy(own));
		tell("destroy");
	}
	launch(stream, 20000, 400);
	launch(cudaStreamLegacy, 5000, 4);
	OK(cudaDeviceSynchronize());
	tell("device");
}

static void copies(cudaStream_t stream)
{
	void *pooled;

	OK(cudaMemcpyAsync(device, pageable, 4 * MIB, cudaMemcpyHostToDevice, stream));
	tell("up");
	OK(cudaMemcpy(device, pageable, 40000, cudaMemcpyHostToDevice));
	tell("small up");
	OK(cudaMemcpy(pinned, device, 2 * MIB, cudaMemcpyDeviceToHost));
	tell("down");
	OK(cudaMallocAsync(&pooled, 3 * MIB, stream));
	OK(cudaMemsetAsync(pooled, 0, 3 * MIB, stream));
	OK(cudaFreeAsync(pooled, stream));
	OK(cudaStreamSynchronize(stream));
	tell("pool");
	OK(cudaMalloc(&pooled, MIB));
	OK(cudaFree(pooled));
	tell("free");
}

static void move(cudaStream_t stream)
{
	memset(managed, 1, 2 * MIB);
	for (int i = 0; i < 8; i++)
		OK(cudaMemsetAsync(managed, i, 8 * MIB, stream));
	tell("managed");
}

int main(void)
{
	cudaEvent_t start, end;
	cudaStream_t stream;

	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaEventCreate(&start));
	OK(cudaEventCreate(&end));
	OK(cudaMalloc((void **)&device, 8 * MIB));
	OK(cudaMallocHost((void **)&pinned, 8 * MIB));
	OK(cudaMallocManaged((void **)&managed, 8 * MIB, cudaMemAttachGlobal));
	pageable = calloc(1, 8 * MIB);
	TEST_NEED(pageable);
	memset(pageable, 1, 8 * MIB);
	for (int i = 0; i < ROUNDS; i++) {
		OK(cudaEventRecord(start, stream));
		scatter(stream, start);
		copies(stream);
		move(stream);
		OK(cudaEventRecord(end, stream));
		elapsed("round", start, end);
	}
	OK(cudaFree(managed));
	OK(cudaFreeHost(pinned));
	OK(cudaFree(device));
	free(pageable);
	return test_result();
}
