/* SPDX-License-Identifier: MIT */
/*
 * Copies some memory in each of its steps, and does it twice more in a way that hooks may miss:
 * cupti_hidden plain|slow|lookup|PLUGIN [deep]. `slow` takes seconds; `lookup` reads
 * the runtime's table of functions; PLUGIN is a library with a runtime of its own, or one that is
 * opened with RTLD_DEEPBIND. cupti_private.c is that library.
 */
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include "shim/tfshim.h"
#include "tests/cupti/cupti_wait.h"
#include "tests/test.h"
#include "tests/tools/unseen_symbol.h"

#define STEPS 150
#define BYTES 4096

typedef cudaError_t copy_function(void *, const void *, size_t, enum cudaMemcpyKind);
typedef int work_function(void);

static copy_function *find_copy(const char *way)
{
	if (strcmp(way, "lookup") != 0)
		return cudaMemcpy;
	return (copy_function *)unseen_symbol("libcudart.so.13", "cudaMemcpy");
}

static work_function *find_work(const char *way, int flags)
{
	void *library = strchr(way, '/') ? dlopen(way, RTLD_NOW | flags) : NULL;

	return library ? (work_function *)dlsym(library, "private_work") : NULL;
}

int main(int count, char **words)
{
	static char host[BYTES];
	const char *way = count > 1 ? words[1] : "plain";
	copy_function *copy = find_copy(way);
	work_function *work = find_work(way, count > 2 ? RTLD_DEEPBIND : RTLD_LOCAL);
	const useconds_t pause = strcmp(way, "slow") != 0 ? 1000 : 20000;
	void *memory;

	TEST_NEED(copy && (work || !strchr(way, '/')));
	if (cudaMalloc(&memory, BYTES) != cudaSuccess)
		return test_skip("no device");
	cupti_wait();
	for (int step = 0; step < STEPS; step++) {
		usleep(pause);
		TFSHIM_STEP();
		TEST_EQ(cudaMemcpy(memory, host, BYTES, cudaMemcpyHostToDevice), cudaSuccess);
		TEST_EQ(cudaMemset(memory, step, BYTES), cudaSuccess);
		for (int i = 0; i < 2; i++)
			TEST_EQ(copy(host, memory, BYTES, cudaMemcpyDeviceToHost), cudaSuccess);
		if (work)
			TEST_EQ(work(), 0);
		TEST_EQ(cudaDeviceSynchronize(), cudaSuccess);
	}
	TEST_EQ(host[7], (char)(STEPS - 1));
	return test_result();
}
