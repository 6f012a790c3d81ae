/* SPDX-License-Identifier: MIT */
/*
 * A program whose default stream is each thread's own asks the runtime for functions of the driver:
 * without a flag it gets those of its kind, with one those that it asks for, and under the library
 * the library's. Run with it and without.
 */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include "tests/test.h"

#define VERSION 13000

static void *driver;

/* The same as by the symbol's name. */
static void check(const char *name, unsigned long long flags, const char *symbol)
{
	enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
	void *const want = dlsym(driver, symbol);
	void *function = NULL;

	TEST_TRUE(want);
	TEST_EQ(cudaGetDriverEntryPointByVersion(name, &function, VERSION, flags, &found), 0);
	TEST_EQ(found, cudaDriverEntryPointSuccess);
	if (!TEST_TRUE(function == want))
		printf("%s, flags %llu, is not %s\n", name, flags, symbol);
}

int main(void)
{
	driver = dlopen("libcuda.so.1", RTLD_NOW);
	TEST_NEED(driver);
	check("cuMemsetD8Async", cudaEnableDefault, "cuMemsetD8Async_ptsz");
	check("cuMemsetD8Async", cudaEnableLegacyStream, "cuMemsetD8Async");
	check("cuMemsetD8Async", cudaEnablePerThreadDefaultStream, "cuMemsetD8Async_ptsz");
	check("cuStreamQuery", cudaEnableDefault, "cuStreamQuery_ptsz");
	check("cuMemAlloc", cudaEnableDefault, "cuMemAlloc_v2");
	return test_result();
}
