/* SPDX-License-Identifier: MIT */
/*
 * Hostile mode itself: fresh memory is full of NaNs, and work that nobody waits for is late but
 * comes. Only for the simulated device with TFSIM_HOSTILE set.
 */
#include <math.h>

#include "sim_gate.h"

#define NUMBER 1024

static float device_value(const float *device)
{
	float value;

	OK(cudaMemcpy(&value, device, sizeof(value), cudaMemcpyDeviceToHost));
	return value;
}

static void check_fresh(void)
{
	float *device, *pinned, *again;

	OK(cudaMalloc((void **)&device, NUMBER * sizeof(float)));
	TEST_TRUE(isnan(device_value(device + NUMBER - 1)));
	OK(cudaMallocHost((void **)&pinned, NUMBER * sizeof(float)));
	TEST_TRUE(isnan(pinned[NUMBER - 1]));
	OK(cudaMemset(device, 0, NUMBER * sizeof(float)));
	OK(cudaFree(device));
	OK(cudaMalloc((void **)&again, NUMBER * sizeof(float)));
	TEST_TRUE(isnan(device_value(again)));
	OK(cudaFree(again));
	OK(cudaFreeHost(pinned));
}

static void set(void *flag)
{
	atomic_store((atomic_int *)flag, 1);
}

/* A program that waits by looking at memory must not wait for ever. */
static void check_progress(cudaStream_t stream)
{
	static atomic_int flag;

	for (int i = 0; i < 20; i++) {
		atomic_store(&flag, 0);
		OK(cudaLaunchHostFunc(stream, set, &flag));
		while (!atomic_load(&flag))
			sched_yield();
	}
}

/* Some of these were still waiting when the host came by: that is what the mode is for. */
static void check_lateness(cudaStream_t stream)
{
	volatile char *pinned;
	int late = 0;
	char *device;

	OK(cudaMallocHost((void **)&pinned, 64));
	OK(cudaMalloc((void **)&device, 64));
	OK(cudaStreamSynchronize(stream));
	for (int i = 0; i < 40; i++) {
		pinned[0] = (char)i;
		OK(cudaMemcpyAsync(device, (char *)pinned, 64, cudaMemcpyHostToDevice, stream));
		for (int turn = 0; turn < 100; turn++)
			sched_yield();
		pinned[0] = 77;
		OK(cudaStreamSynchronize(stream));
		OK(cudaMemcpy((char *)pinned, device, 64, cudaMemcpyDeviceToHost));
		late += pinned[0] == 77;
	}
	TEST_IN(late, 5, 40);
}

int main(void)
{
	cudaStream_t stream;

	if (!getenv("TFSIM_HOSTILE"))
		return test_skip("TFSIM_HOSTILE is not set");
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	check_fresh();
	check_progress(stream);
	check_lateness(stream);
	return test_result();
}
