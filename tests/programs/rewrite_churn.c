/* SPDX-License-Identifier: MIT */
/*
 * Training steps that allocate what they need and release it, then leave the device alone while
 * the host is at something else:
 *	rewrite_churn STEPS KIB MS [WORD...]
 * MS is how long the host is busy in each step. Words: "ordered", in the order of a stream; "told",
 * asks in each step what is free; "given-back", at the end nothing of it is left on the device.
 */
#include <dlfcn.h>

#include "shim/tfshim.h"
#include "tests/programs/sim_gate.h"

static bool ordered, told;

/* Free memory as CUDA has it, past whoever answers for it. */
static size_t truly_free(void)
{
	void *runtime = dlopen("libcudart.so.13", RTLD_NOW);
	cudaError_t (*ask)(size_t *, size_t *) = NULL;
	size_t free_bytes = 0, all;

	TEST_TRUE(runtime != NULL);
	*(void **)&ask = runtime != NULL ? dlsym(runtime, "cudaMemGetInfo") : NULL;
	TEST_TRUE(ask != NULL && ask(&free_bytes, &all) == cudaSuccess);
	return free_bytes;
}

static void step(size_t bytes, long busy_ns)
{
	const struct timespec busy = {.tv_nsec = busy_ns};
	size_t free_bytes, all;
	char *memory;

	if (ordered)
		OK(cudaMallocAsync((void **)&memory, bytes, NULL));
	else
		OK(cudaMalloc((void **)&memory, bytes));
	OK(cudaMemsetAsync(memory, 1, 4096, NULL));
	if (ordered) {
		OK(cudaFreeAsync(memory, NULL));
		OK(cudaDeviceSynchronize());
	} else {
		OK(cudaFree(memory));
	}
	if (told)
		OK(cudaMemGetInfo(&free_bytes, &all));
	nanosleep(&busy, NULL);
}

int main(int count, char **words)
{
	bool given_back = false;

	if (count < 4)
		return 2;
	alarm(100);
	for (int i = 4; i < count; i++) {
		ordered |= strcmp(words[i], "ordered") == 0;
		told |= strcmp(words[i], "told") == 0;
		given_back |= strcmp(words[i], "given-back") == 0;
	}
	const int steps = atoi(words[1]);
	const size_t bytes = (size_t)atoi(words[2]) << 10;
	const size_t before = truly_free();
	for (int i = 0; i < steps; i++) {
		TFSHIM_STEP();
		step(bytes, atol(words[3]) * 1000000);
	}
	TFSHIM_STEP_END();
	if (given_back)
		TEST_EQ(truly_free(), before);
	else if (ordered)
		TEST_TRUE(truly_free() < before);
	return test_result();
}
