/* SPDX-License-Identifier: MIT */
/*
 * Asks the driver for functions as a linked-in runtime does: reads "NAME VERSION FLAGS" lines and
 * prints "NAME VERSION FLAGS SYMBOL FILE": what was given, and in which file it is. SYMBOL is -
 * where the driver has no such function.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "tests/test.h"

typedef CUresult (*ask_function)(
	const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);

int main(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	CUdriverProcAddressQueryResult result;
	ask_function ask;
	char name[128];
	int version;
	unsigned flags;

	TEST_NEED(driver);
	ask = (ask_function)dlsym(driver, "cuGetProcAddress_v2");
	while (scanf("%127s %d %u", name, &version, &flags) == 3) {
		void *given = NULL;
		Dl_info where = {.dli_fname = "-", .dli_sname = "-"};

		if (ask(name, &given, version, flags, &result) == CUDA_SUCCESS && given)
			TEST_TRUE(dladdr(given, &where) != 0);
		printf("%s %d %u %s %s\n", name, version, flags,
			where.dli_sname ? where.dli_sname : "?",
			strrchr(where.dli_fname, '/') ? strrchr(where.dli_fname, '/') + 1
						      : where.dli_fname);
	}
	return test_result();
}
