/* SPDX-License-Identifier: MIT */
/* The legacy default stream waits for blocking streams and holds them back; others are exempt. */
#include "sim_gate.h"

static cudaStream_t blocking, other, exempt;
static cudaEvent_t event;
static void *memory;

static void check_waits_for_blocking(void)
{
	struct gate gate;

	gate_close(&gate, blocking);
	OK(cudaMemsetAsync(memory, 1, 64, NULL));
	OK(cudaEventRecord(event, NULL));
	TEST_EQ(cudaEventQuery(event), cudaErrorNotReady);
	TEST_EQ(cudaStreamQuery(NULL), cudaErrorNotReady);
	OK(cudaMemsetAsync(memory, 2, 64, exempt));
	OK(cudaStreamSynchronize(exempt));
	TEST_EQ(cudaEventQuery(event), cudaErrorNotReady);
	gate_open(&gate);
	OK(cudaEventSynchronize(event));
	TEST_TRUE(gate.passed);
	OK(cudaDeviceSynchronize());
}

static void check_holds_back_blocking(void)
{
	struct gate gate;

	gate_close(&gate, cudaStreamLegacy);
	OK(cudaMemsetAsync(memory, 1, 64, blocking));
	OK(cudaMemsetAsync(memory, 1, 64, other));
	TEST_EQ(cudaStreamQuery(blocking), cudaErrorNotReady);
	TEST_EQ(cudaStreamQuery(other), cudaErrorNotReady);
	OK(cudaMemsetAsync(memory, 2, 64, exempt));
	OK(cudaStreamSynchronize(exempt));
	TEST_TRUE(!gate.passed);
	gate_open(&gate);
	OK(cudaStreamSynchronize(other));
	TEST_TRUE(gate.passed);
	OK(cudaDeviceSynchronize());
}

/* Work in one blocking stream, then legacy, then the other one: all in order of issue. */
static void check_order_through_legacy(void)
{
	unsigned char host[64];
	struct gate gate;

	OK(cudaMemset(memory, 0, 64));
	gate_close(&gate, blocking);
	OK(cudaMemsetAsync(memory, 1, 64, blocking));
	OK(cudaMemsetAsync(memory, 2, 32, NULL));
	OK(cudaMemsetAsync(memory, 3, 16, other));
	gate_open(&gate);
	OK(cudaStreamSynchronize(other));
	OK(cudaMemcpy(host, memory, 64, cudaMemcpyDeviceToHost));
	TEST_EQ(wrong_bytes(host, 3, 16), 0);
	TEST_EQ(wrong_bytes(host + 16, 2, 16), 0);
	TEST_EQ(wrong_bytes(host + 32, 1, 32), 0);
}

/* A synchronous copy is an action in the legacy stream. */
static void check_copy_waits(void)
{
	unsigned char host[64];
	atomic_bool mark;

	mark_put(&mark, blocking);
	OK(cudaMemsetAsync(memory, 7, 64, blocking));
	OK(cudaMemcpy(host, memory, 64, cudaMemcpyDeviceToHost));
	TEST_TRUE(mark);
	TEST_EQ(wrong_bytes(host, 7, 64), 0);
	mark_put(&mark, blocking);
	OK(cudaStreamSynchronize(NULL));
	TEST_TRUE(mark);
}

static void check_exempt_does_not_wait(void)
{
	unsigned char host[64];
	struct gate gate;

	gate_close(&gate, exempt);
	OK(cudaMemcpy(host, memory, 64, cudaMemcpyDeviceToHost));
	OK(cudaStreamSynchronize(NULL));
	TEST_TRUE(!gate.passed);
	gate_open(&gate);
	OK(cudaDeviceSynchronize());
	TEST_TRUE(gate.passed);
}

int main(void)
{
	unsigned flags = 9;

	if (no_device())
		return test_skip("no device");
	OK(cudaStreamCreate(&blocking));
	OK(cudaStreamCreate(&other));
	OK(cudaStreamCreateWithFlags(&exempt, cudaStreamNonBlocking));
	OK(cudaStreamGetFlags(exempt, &flags));
	TEST_EQ(flags, cudaStreamNonBlocking);
	OK(cudaEventCreate(&event));
	OK(cudaMalloc(&memory, 64));
	check_waits_for_blocking();
	check_holds_back_blocking();
	check_order_through_legacy();
	check_copy_waits();
	check_exempt_does_not_wait();
	return test_result();
}
