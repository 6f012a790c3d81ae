/* SPDX-License-Identifier: MIT */
/* Events: record, wait, query, elapsed time. */
#include "sim_gate.h"

static cudaStream_t a, b;
static void *memory;

/* What host functions see is static: a device that gets something wrong may come back to it late.
 */
static void check_states(void)
{
	cudaEvent_t event;
	static struct gate gate;

	OK(cudaEventCreate(&event));
	OK(cudaEventQuery(event));
	OK(cudaEventSynchronize(event));
	gate_close(&gate, a);
	OK(cudaEventRecord(event, a));
	TEST_EQ(cudaEventQuery(event), cudaErrorNotReady);
	TEST_EQ(cudaStreamQuery(a), cudaErrorNotReady);
	OK(cudaStreamQuery(b));
	gate_open(&gate);
	OK(cudaEventSynchronize(event));
	TEST_TRUE(gate.passed);
	OK(cudaEventQuery(event));
	OK(cudaEventDestroy(event));
}

static void check_wait_holds_stream(void)
{
	static unsigned char host[64];
	cudaEvent_t event;
	static atomic_bool mark;
	static struct gate gate;

	OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	mark_put(&mark, a);
	OK(cudaEventRecord(event, a));
	OK(cudaStreamWaitEvent(b, event, 0));
	OK(cudaStreamSynchronize(b));
	TEST_TRUE(mark);
	gate_close(&gate, a);
	OK(cudaMemsetAsync(memory, 1, 64, a));
	OK(cudaEventRecord(event, a));
	OK(cudaStreamWaitEvent(b, event, 0));
	OK(cudaMemsetAsync(memory, 2, 64, b));
	/* The wait is for what was recorded then: neither this nor the event's end changes it. */
	OK(cudaEventRecord(event, b));
	OK(cudaEventDestroy(event));
	TEST_EQ(cudaStreamQuery(b), cudaErrorNotReady);
	gate_open(&gate);
	OK(cudaStreamSynchronize(b));
	TEST_TRUE(gate.passed);
	OK(cudaMemcpy(host, memory, 64, cudaMemcpyDeviceToHost));
	TEST_EQ(wrong_bytes(host, 2, 64), 0);
}

static void check_wait_is_a_snapshot(void)
{
	cudaEvent_t event;
	static struct gate gate;

	OK(cudaEventCreate(&event));
	OK(cudaStreamWaitEvent(b, event, 0));
	gate_close(&gate, a);
	OK(cudaEventRecord(event, a));
	/* Recorded after the wait was issued: b does not know. */
	OK(cudaMemsetAsync(memory, 3, 64, b));
	OK(cudaStreamSynchronize(b));
	TEST_TRUE(!gate.passed);
	/* Recorded again where nothing is pending: that is what counts from now on. */
	OK(cudaEventRecord(event, b));
	OK(cudaEventSynchronize(event));
	TEST_TRUE(!gate.passed);
	gate_open(&gate);
	OK(cudaDeviceSynchronize());
	OK(cudaEventDestroy(event));
}

static void check_elapsed(void)
{
	cudaEvent_t start, end, plain;
	static struct gate gate;
	float ms = -1;

	OK(cudaEventCreate(&start));
	OK(cudaEventCreate(&end));
	OK(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming));
	TEST_EQ(cudaEventElapsedTime(&ms, start, end), cudaErrorInvalidResourceHandle);
	OK(cudaEventRecord(start, a));
	OK(cudaEventRecord(plain, a));
	OK(cudaMemsetAsync(memory, 0, 1 << 20, a));
	gate_close(&gate, a);
	OK(cudaEventRecord(end, a));
	TEST_EQ(cudaEventElapsedTime(&ms, start, end), cudaErrorNotReady);
	gate_open(&gate);
	OK(cudaEventSynchronize(end));
	OK(cudaEventElapsedTime(&ms, start, end));
	TEST_TRUE(ms > 0);
	TEST_EQ(cudaEventElapsedTime(&ms, plain, end), cudaErrorInvalidResourceHandle);
	TEST_EQ(cudaEventElapsedTime(NULL, start, end), cudaErrorInvalidValue);
	OK(cudaEventElapsedTime(&ms, end, start));
	TEST_TRUE(ms < 0);
	(void)cudaGetLastError();
}

int main(void)
{
	if (no_device())
		return test_skip("no device");
	OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
	OK(cudaMalloc(&memory, 1 << 20));
	check_states();
	check_wait_holds_stream();
	check_wait_is_a_snapshot();
	check_elapsed();
	return test_result();
}
