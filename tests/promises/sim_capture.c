/* SPDX-License-Identifier: MIT */
/* Stream capture: what is barred, how captures spoil, and each of its errors. */
#include <pthread.h>

#include "sim_gate.h"

static cudaStream_t a, b, blocking;
static void *memory;

static void begin(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
	OK(cudaStreamBeginCapture(stream, mode));
}

/* Ends a capture that was spoiled. */
static void spoiled(cudaStream_t stream, cudaError_t want)
{
	enum cudaStreamCaptureStatus status;
	cudaGraph_t graph = (cudaGraph_t)&status;

	TEST_EQ(cudaStreamEndCapture(stream, &graph), want);
	TEST_TRUE(!graph);
	OK(cudaStreamIsCapturing(stream, &status));
	TEST_EQ(status, cudaStreamCaptureStatusNone);
	(void)cudaGetLastError();
}

static void check_nothing_runs(void)
{
	enum cudaStreamCaptureStatus status;
	unsigned char host[64];
	cudaGraph_t graph;

	OK(cudaMemset(memory, 1, 64));
	OK(cudaDeviceSynchronize());
	begin(a, cudaStreamCaptureModeGlobal);
	OK(cudaMemsetAsync(memory, 2, 64, a));
	OK(cudaStreamIsCapturing(a, &status));
	TEST_EQ(status, cudaStreamCaptureStatusActive);
	OK(cudaStreamEndCapture(a, &graph));
	OK(cudaStreamSynchronize(a));
	OK(cudaMemcpy(host, memory, 64, cudaMemcpyDeviceToHost));
	TEST_EQ(wrong_bytes(host, 1, 64), 0);
	OK(cudaGraphDestroy(graph));
	TEST_EQ(cudaStreamEndCapture(a, &graph), cudaErrorIllegalState);
	TEST_EQ(cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeGlobal),
		cudaErrorStreamCaptureUnsupported);
	(void)cudaGetLastError();
}

/* What is captured next comes behind the latest node of the graph that grows. */
static void check_place(void)
{
	enum cudaStreamCaptureStatus status;
	const cudaGraphNode_t *behind = NULL;
	cudaGraph_t graph = NULL, ended;
	cudaGraphNode_t node[2];
	size_t count = 7, nodes = 2;

	OK(cudaStreamGetCaptureInfo(a, &status, NULL, &graph, &behind, NULL, &count));
	TEST_EQ(status, cudaStreamCaptureStatusNone);
	begin(a, cudaStreamCaptureModeGlobal);
	OK(cudaStreamGetCaptureInfo(a, &status, NULL, &graph, &behind, NULL, &count));
	TEST_EQ(status, cudaStreamCaptureStatusActive);
	TEST_EQ(count, 0);
	OK(cudaMemsetAsync(memory, 1, 64, a));
	OK(cudaMemsetAsync(memory, 2, 64, a));
	OK(cudaStreamGetCaptureInfo(a, &status, NULL, &graph, &behind, NULL, &count));
	TEST_NEED(graph && behind);
	TEST_EQ(count, 1);
	OK(cudaGraphGetNodes(graph, node, &nodes));
	TEST_EQ(nodes, 2);
	TEST_TRUE(behind[0] == node[1]);
	OK(cudaStreamEndCapture(a, &ended));
	TEST_TRUE(ended == graph);
	OK(cudaGraphDestroy(ended));
}

static void check_waits_spoil(void)
{
	cudaEvent_t event;

	OK(cudaEventCreate(&event));
	begin(a, cudaStreamCaptureModeRelaxed);
	TEST_EQ(cudaStreamSynchronize(a), cudaErrorStreamCaptureUnsupported);
	TEST_EQ(cudaMemsetAsync(memory, 0, 64, a), cudaErrorStreamCaptureInvalidated);
	spoiled(a, cudaErrorStreamCaptureInvalidated);
	begin(a, cudaStreamCaptureModeRelaxed);
	TEST_EQ(cudaStreamQuery(a), cudaErrorStreamCaptureUnsupported);
	spoiled(a, cudaErrorStreamCaptureInvalidated);
	begin(a, cudaStreamCaptureModeRelaxed);
	OK(cudaEventRecord(event, a));
	TEST_EQ(cudaEventQuery(event), cudaErrorCapturedEvent);
	spoiled(a, cudaErrorStreamCaptureInvalidated);
	OK(cudaEventDestroy(event));
}

static void check_unsafe_calls(void)
{
	enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
	cudaGraph_t graph;
	void *more;

	begin(a, cudaStreamCaptureModeThreadLocal);
	TEST_EQ(cudaMalloc(&more, 64), cudaErrorStreamCaptureUnsupported);
	spoiled(a, cudaErrorStreamCaptureInvalidated);
	begin(a, cudaStreamCaptureModeGlobal);
	OK(cudaThreadExchangeStreamCaptureMode(&mode));
	TEST_EQ(mode, cudaStreamCaptureModeGlobal);
	OK(cudaMalloc(&more, 64));
	OK(cudaThreadExchangeStreamCaptureMode(&mode));
	TEST_EQ(mode, cudaStreamCaptureModeRelaxed);
	OK(cudaMemsetAsync(more, 0, 64, a));
	OK(cudaStreamEndCapture(a, &graph));
	OK(cudaGraphDestroy(graph));
	begin(a, cudaStreamCaptureModeRelaxed);
	OK(cudaFree(more));
	OK(cudaStreamEndCapture(a, &graph));
	OK(cudaGraphDestroy(graph));
}

static void *elsewhere(void *want)
{
	cudaError_t expected = *(cudaError_t *)want;
	cudaGraph_t graph;
	void *more = NULL;

	TEST_EQ(cudaStreamEndCapture(a, &graph), cudaErrorStreamCaptureWrongThread);
	TEST_EQ(cudaMalloc(&more, 64), expected);
	return NULL;
}

static void check_threads(void)
{
	cudaError_t barred = cudaErrorStreamCaptureUnsupported, fine = cudaSuccess;
	cudaGraph_t graph;
	pthread_t thread;

	begin(a, cudaStreamCaptureModeThreadLocal);
	pthread_create(&thread, NULL, elsewhere, &fine);
	pthread_join(thread, NULL);
	OK(cudaStreamEndCapture(a, &graph));
	OK(cudaGraphDestroy(graph));
	begin(a, cudaStreamCaptureModeGlobal);
	pthread_create(&thread, NULL, elsewhere, &barred);
	pthread_join(thread, NULL);
	spoiled(a, cudaErrorStreamCaptureInvalidated);
}

/* The legacy stream would be joined with blocking streams; asking is allowed. */
static void check_legacy(void)
{
	enum cudaStreamCaptureStatus status;
	cudaGraph_t graph;

	begin(blocking, cudaStreamCaptureModeRelaxed);
	TEST_EQ(cudaStreamIsCapturing(cudaStreamLegacy, &status), cudaErrorStreamCaptureImplicit);
	OK(cudaMemsetAsync(memory, 0, 64, blocking));
	TEST_EQ(cudaMemsetAsync(memory, 0, 64, NULL), cudaErrorStreamCaptureImplicit);
	OK(cudaStreamIsCapturing(blocking, &status));
	TEST_EQ(status, cudaStreamCaptureStatusInvalidated);
	spoiled(blocking, cudaErrorStreamCaptureInvalidated);
	begin(a, cudaStreamCaptureModeRelaxed);
	OK(cudaStreamIsCapturing(cudaStreamLegacy, &status));
	TEST_EQ(status, cudaStreamCaptureStatusNone);
	OK(cudaMemsetAsync(memory, 0, 64, NULL));
	OK(cudaStreamEndCapture(a, &graph));
	OK(cudaGraphDestroy(graph));
}

static void check_forks(void)
{
	cudaEvent_t event, outside;
	cudaGraph_t graph;
	size_t nodes = 0;

	OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	OK(cudaEventCreateWithFlags(&outside, cudaEventDisableTiming));
	for (int join = 0; join < 2; join++) {
		begin(a, cudaStreamCaptureModeGlobal);
		OK(cudaMemsetAsync(memory, 1, 64, a));
		OK(cudaEventRecord(event, a));
		OK(cudaStreamWaitEvent(b, event, 0));
		OK(cudaMemsetAsync(memory, 2, 64, b));
		if (!join) {
			spoiled(a, cudaErrorStreamCaptureUnjoined);
			continue;
		}
		OK(cudaEventRecord(event, b));
		OK(cudaStreamWaitEvent(a, event, 0));
		OK(cudaStreamEndCapture(a, &graph));
		OK(cudaGraphGetNodes(graph, NULL, &nodes));
		TEST_EQ(nodes, 2);
		OK(cudaGraphDestroy(graph));
	}
	begin(a, cudaStreamCaptureModeGlobal);
	OK(cudaEventRecord(event, a));
	OK(cudaStreamWaitEvent(b, event, 0));
	TEST_EQ(cudaStreamEndCapture(b, &graph), cudaErrorStreamCaptureUnmatched);
	spoiled(a, cudaErrorStreamCaptureInvalidated);
	begin(a, cudaStreamCaptureModeGlobal);
	begin(b, cudaStreamCaptureModeGlobal);
	OK(cudaEventRecord(event, a));
	TEST_EQ(cudaStreamWaitEvent(b, event, 0), cudaErrorStreamCaptureMerge);
	spoiled(a, cudaErrorStreamCaptureInvalidated);
	spoiled(b, cudaErrorStreamCaptureInvalidated);
	OK(cudaEventRecord(outside, b));
	begin(a, cudaStreamCaptureModeGlobal);
	TEST_EQ(cudaStreamWaitEvent(a, outside, 0), cudaErrorStreamCaptureIsolation);
	spoiled(a, cudaErrorStreamCaptureInvalidated);
}

/* What is no mode begins nothing. */
static void check_modes(void)
{
	enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusInvalidated;

	TEST_EQ(cudaStreamBeginCapture(
			a, (enum cudaStreamCaptureMode)(cudaStreamCaptureModeRelaxed + 1)),
		cudaErrorInvalidValue);
	(void)cudaGetLastError();
	OK(cudaStreamIsCapturing(a, &status));
	TEST_EQ(status, cudaStreamCaptureStatusNone);
}

int main(void)
{
	if (no_device())
		return test_skip("no device");
	OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
	OK(cudaStreamCreate(&blocking));
	OK(cudaMalloc(&memory, 64));
	check_nothing_runs();
	check_place();
	check_waits_spoil();
	check_unsafe_calls();
	check_threads();
	check_legacy();
	check_forks();
	check_modes();
	OK(cudaDeviceSynchronize());
	return test_result();
}
