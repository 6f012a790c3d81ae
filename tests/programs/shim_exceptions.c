/* SPDX-License-Identifier: MIT */
/*
 * A C program, which has no C++ in it, with a C++ library that it opens: exceptions pass through
 * its frames. An unwinder that pushes itself in between ends the process: shim_exceptions LIBRARY
 */
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
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*run)(int (*)(int (*)(int), int), int) = NULL;

	if (library == NULL)
		return test_skip(argc > 1 ? dlerror() : "no library stated");
	*(void **)&run = dlsym(library, "throws_run");
	TEST_NEED(run != NULL);
	TEST_EQ(run(through, 300), 200);
	/* Whatever the shim opens is there by now. */
	nanosleep(&pause, NULL);
	TEST_EQ(run(through, 300), 200);
	printf("caught all\n");
	return test_result();
}
