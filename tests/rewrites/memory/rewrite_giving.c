/* SPDX-License-Identifier: MIT */
/*
 * What programs count on when memory that a rewrite holds goes back to CUDA while a stream is being
 * captured: there is room, it is told as free, and the capture is as good as before. One case each;
 * the device's memory must be 32 MiB, for the ordered ones 256 MiB.
 */
#include <pthread.h>

#include "shim/tfshim.h"
#include "tests/rewrites/memory/rewrite_pool.h"

#define PART (MIB / 8)

static cudaStream_t captured;

/* Runs `what` while this thread captures so, in another thread if it is to be barred from less. */
static void in_capture(enum cudaStreamCaptureMode mode, void *(*what)(void *))
{
	cudaGraph_t graph = NULL;
	pthread_t other;

	OK(cudaStreamCreateWithFlags(&captured, cudaStreamNonBlocking));
	OK(cudaStreamBeginCapture(captured, mode));
	if (mode == cudaStreamCaptureModeRelaxed) {
		enum cudaStreamCaptureMode own = cudaStreamCaptureModeRelaxed;

		OK(cudaThreadExchangeStreamCaptureMode(&own));
		what(NULL);
		OK(cudaThreadExchangeStreamCaptureMode(&own));
		TEST_EQ(own, cudaStreamCaptureModeRelaxed);
	} else {
		TEST_EQ(pthread_create(&other, NULL, what, NULL), 0);
		pthread_join(other, NULL);
	}
	OK(cudaStreamEndCapture(captured, &graph));
	TEST_TRUE(graph);
	if (graph)
		OK(cudaGraphDestroy(graph));
	OK(cudaStreamDestroy(captured));
}

/* The thread is left as it was: barred. */
static void check_mode(void)
{
	enum cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;

	OK(cudaThreadExchangeStreamCaptureMode(&mode));
	TEST_EQ(mode, cudaStreamCaptureModeGlobal);
}

static void *take_much(void *nothing)
{
	char *memory = NULL;

	OK(cudaMalloc((void **)&memory, 200 * PART));
	OK(cudaFree(memory));
	return nothing;
}

/* What a thread may allocate that is not barred, it gets. */
static void room(void)
{
	for (int i = 0; i < 4; i++) {
		churn(70 * PART, 8);
		in_capture(cudaStreamCaptureModeRelaxed, take_much);
	}
}

static void *take_much_ordered(void *nothing)
{
	cudaStream_t own;
	char *memory = NULL;

	OK(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
	OK(cudaMallocAsync((void **)&memory, 200 * PART, own));
	OK(cudaFreeAsync(memory, own));
	OK(cudaStreamSynchronize(own));
	OK(cudaStreamDestroy(own));
	check_mode();
	return nothing;
}

/* Nor is a thread barred from what is in the order of its own stream. */
static void ordered_room(void)
{
	for (int i = 0; i < 4; i++) {
		churn(70 * PART, 8);
		in_capture(cudaStreamCaptureModeGlobal, take_much_ordered);
	}
}

/* A temporary from the device's pool. */
static void churn_ordered(size_t bytes, int times)
{
	for (int i = 0; i < times; i++) {
		char *memory;

		OK(cudaMallocAsync((void **)&memory, bytes, stream));
		OK(cudaFreeAsync(memory, stream));
		OK(cudaStreamSynchronize(stream));
	}
}

static size_t first_free;

static void *look(void *nothing)
{
	size_t now = 0, all;

	OK(cudaMemGetInfo(&now, &all));
	TEST_TRUE(now + MIB >= first_free && now <= all);
	check_mode();
	return nothing;
}

/* And it hears what is free. */
static void told(void)
{
	size_t all;

	OK(cudaMemGetInfo(&first_free, &all));
	for (int i = 0; i < 4; i++) {
		churn_ordered(40 * MIB, 12);
		in_capture(cudaStreamCaptureModeGlobal, look);
	}
}

static void *take_ordered(void *nothing)
{
	cudaStream_t own;
	char *memory;

	OK(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
	OK(cudaMallocAsync((void **)&memory, MIB, own));
	OK(cudaFreeAsync(memory, own));
	OK(cudaStreamSynchronize(own));
	OK(cudaStreamDestroy(own));
	return nothing;
}

/* Steps in which the rewrite is on, and off, and one captures: an odd number, so that it is in
 * either. */
static void switched(void)
{
	for (int i = 0; i < 60; i++) {
		TFSHIM_STEP();
		churn_ordered(MIB, 2);
		TFSHIM_STEP();
		churn_ordered(MIB, 2);
		TFSHIM_STEP();
		in_capture(cudaStreamCaptureModeGlobal, take_ordered);
	}
	TFSHIM_STEP_END();
}

static const struct rewrite_case cases[] = {
	{"room", room},
	{"ordered-room", ordered_room},
	{"told", told},
	{"switched", switched},
};

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	alarm(300);
	OK(cudaStreamCreate(&stream));
	return rewrite_case_run(cases, sizeof(cases) / sizeof(cases[0]), words[1]);
}
