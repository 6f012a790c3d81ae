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

/* Whose unwinder a name is bound to: what anybody opened for everyone would come first. */
static const char *holder(const void *function)
{
	const char *slash;
	Dl_info info;

	if (!function || dladdr(function, &info) == 0)
		return "nobody";
	slash = strrchr(info.dli_fname, '/');
	return slash ? slash + 1 : info.dli_fname;
}

int main(int argc, char **argv)
{
	const struct timespec pause = {.tv_nsec = 100000000};
	void *library = NULL;
	const void *(*unwinder)(void) = NULL;
	int (*run)(int (*)(int (*)(int), int), int) = NULL;

	if (cudaSetDevice(0) != cudaSuccess)
		return test_skip("no device");
	/* Whatever the shim opens is there by now, and found first if it is for everyone. */
	nanosleep(&pause, NULL);
	printf("for everyone: %s\n", holder(dlsym(RTLD_DEFAULT, "_Unwind_RaiseException")));
	library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	if (!library)
		return test_skip(argc > 1 ? dlerror() : "no library stated");
	*(void **)&run = dlsym(library, "throws_run");
	*(void **)&unwinder = dlsym(library, "throws_unwinder");
	TEST_NEED(run && unwinder);
	printf("thrown by %s\n", holder(unwinder()));
	TEST_EQ(run(through, 300), 200);
	TEST_EQ(run(through, 300), 200);
	printf("caught all\n");
	return test_result();
}
