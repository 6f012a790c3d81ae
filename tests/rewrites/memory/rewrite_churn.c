/* SPDX-License-Identifier: MIT */
/*
 * Training steps that allocate what they need and release it, then leave the device alone while
 * the host is at something else:
 *	rewrite_churn STEPS KIB MS [WORD...]; rewrite_churn_static, by the driver's functions
 * MS is how long the host is busy in each step. Words: "ordered", in the order of a stream; "told",
 * asks in each step what is free; "captured", also has a capture in each step, in which nothing is
 * given back; "turns", two of five steps are busy two and a half times as long; "given-back", at
 *the end nothing of it is left on the device.
 */

#include "shim/tfshim.h"
#include "tests/promises/sim_gate.h"
#include "tests/tools/unseen_symbol.h"

static bool ordered, told, captured, turns;

/* Free memory as CUDA has it, past whoever answers for it. */
static size_t truly_free(void)
{
	cudaError_t (*ask)(size_t *, size_t *) = NULL;
	size_t free_bytes = 0, all;

	*(void **)&ask = unseen_symbol("libcudart.so.13", "cudaMemGetInfo");
	TEST_TRUE(ask && ask(&free_bytes, &all) == cudaSuccess);
	return free_bytes;
}

static void use(size_t bytes)
{
	char *memory;

	OK(cudaMalloc((void **)&memory, bytes));
	OK(cudaMemsetAsync(memory, 1, 4096, NULL));
	OK(cudaFree(memory));
}

#ifdef STATIC
/* What the runtime that is linked in does not have. */
static void use_ordered(size_t bytes)
{
	(void)bytes;
}

static void ask(void)
{
}

static void capture(void)
{
}
#else
static void use_ordered(size_t bytes)
{
	char *memory;

	OK(cudaMallocAsync((void **)&memory, bytes, NULL));
	OK(cudaMemsetAsync(memory, 1, 4096, NULL));
	OK(cudaFreeAsync(memory, NULL));
	OK(cudaDeviceSynchronize());
}

static void ask(void)
{
	size_t free_bytes, all;

	OK(cudaMemGetInfo(&free_bytes, &all));
}

/* A capture in which the program may free, and does. */
static void capture(void)
{
	static cudaStream_t stream;
	const size_t before = truly_free();
	cudaGraph_t graph = NULL;
	char *memory;

	if (!stream)
		OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
	OK(cudaMalloc((void **)&memory, 1));
	OK(cudaFree(memory));
	TEST_EQ(truly_free(), before);
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphDestroy(graph));
}

#endif

static void step(size_t bytes, long busy_ns, int number)
{
	const bool longer = turns && number % 5 < 2;
	const struct timespec busy = {.tv_nsec = longer ? busy_ns * 5 / 2 : busy_ns};

	if (ordered)
		use_ordered(bytes);
	else
		use(bytes);
	if (told)
		ask();
	nanosleep(&busy, NULL);
}

int main(int count, char **words)
{
	bool given_back = false;

	if (count < 4)
		return 2;
	alarm(300);
	for (int i = 4; i < count; i++) {
		ordered |= strcmp(words[i], "ordered") == 0;
		turns |= strcmp(words[i], "turns") == 0;
		told |= strcmp(words[i], "told") == 0;
		captured |= strcmp(words[i], "captured") == 0;
		given_back |= strcmp(words[i], "given-back") == 0;
	}
	const int steps = atoi(words[1]);
	const size_t bytes = (size_t)atoi(words[2]) << 10;
	const size_t before = truly_free();
	for (int i = 0; i < steps; i++) {
		TFSHIM_STEP();
		if (captured)
			capture();
		step(bytes, atol(words[3]) * 1000000, i);
	}
	TFSHIM_STEP_END();
	if (given_back)
		TEST_EQ(truly_free(), before);
	else if (ordered)
		TEST_TRUE(truly_free() < before);
	return test_result();
}
