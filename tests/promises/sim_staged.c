/* SPDX-License-Identifier: MIT */
/*
 * cudaMemcpy from pageable memory returns when the driver has taken the source: what is under way
 * then fits in the driver's buffer, and all before it has arrived, whoever looks.
 */
#include "sim_gate.h"

#define SIZE ((size_t)4 << 20)
#define STAGED ((size_t)1 << 20)
#define ROUNDS 40

static char *device, *host, *back;
static cudaStream_t other;

/* Without a wait, which would hurry the device. */
static void look(size_t offset, size_t size)
{
	OK(cudaMemcpyAsync(back, device + offset, size, cudaMemcpyDeviceToHost, other));
	while (cudaStreamQuery(other) == cudaErrorNotReady)
		sched_yield();
}

int main(void)
{
	unsigned late = 0;

	/* On the simulated device: what is late then is late by its own choice. */
	setenv("TFSIM_PACE", "0", 1);
	if (no_device())
		return test_skip("no device");
	host = malloc(SIZE);
	OK(cudaMalloc((void **)&device, SIZE));
	OK(cudaMallocHost((void **)&back, SIZE));
	OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	OK(cudaMemset(device, 0, SIZE));
	for (int i = 1; i <= ROUNDS; i++) {
		memset(host, i, SIZE);
		OK(cudaMemcpy(device, host, SIZE, cudaMemcpyHostToDevice));
		if (i % 2) {
			look(0, SIZE - STAGED);
			TEST_EQ(wrong_bytes(back, i, SIZE - STAGED), 0);
		} else {
			look(SIZE - STAGED, STAGED);
			late += wrong_bytes(back, i, STAGED) != 0;
		}
		OK(cudaDeviceSynchronize());
	}
	/* A device that is as late as it may be makes use of it. */
	if (getenv("TFSIM_HOSTILE"))
		TEST_TRUE(late > 0);
	return test_result();
}
