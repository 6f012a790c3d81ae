/* SPDX-License-Identifier: MIT */
/*
 * A C program, which has no C++ in it, with a C++ library that it opens: exceptions pass through
 * its frames. An unwinder that pushes itself in between ends the process: shim_exceptions LIBRARY
 */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <time.h>

#include "tests/test.h"

static int through(int (*function)(int), int argument)
{
	return function(argument);
}

int main(int argc, char **argv)
{
	const struct timespec pause = {.tv_nsec = 100000000};
	void *library = NULL;
	int (*run)(int (*)(int (*)(int), int), int) = NULL;

	if (cudaSetDevice(0) != cudaSuccess)
		return test_skip("no device");
	/* Whatever the shim opens is there by now, and found first if it is for everyone. */
	nanosleep(&pause, NULL);
	library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	if (library == NULL)
		return test_skip(argc > 1 ? dlerror() : "no library stated");
	*(void **)&run = dlsym(library, "throws_run");
	TEST_NEED(run != NULL);
	TEST_EQ(run(through, 300), 200);
	TEST_EQ(run(through, 300), 200);
	printf("caught all\n");
	return test_result();
}
