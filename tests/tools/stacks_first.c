/* SPDX-License-Identifier: MIT */
/*
 * Preloaded beside the library: main begins when the library's helper thread has loaded all that it
 * loads, so that call sites have their whole stacks from the first on and CUPTI is there. Without
 * it both come within the first calls, sooner or later by what else the machine does. Programs of
 * the system, tfshim and rewrite_watched, which start the one in question, are left alone.
 */
#include <curand.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/tools/loaded.h"

#define NEVER_LOADED 99 /* exit status */

/* Of the library that has least to do with any device. */
#pragma weak curandDestroyGenerator

typedef int main_function(int count, char **arguments, char **environment);

static main_function *programs_main;

static bool is_tool(void)
{
	char path[256] = "";

	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		return true;
	if (strncmp(path, "/usr/", 5) == 0 || strncmp(path, "/bin/", 5) == 0)
		return true;
	const char *name = strrchr(path, '/');
	return strcmp(name, "/tfshim") == 0 || strcmp(name, "/rewrite_watched") == 0;
}

static int begin(int count, char **arguments, char **environment)
{
	curandDestroyGenerator(NULL);
	if (!loaded_wait()) {
		fprintf(stderr, "stacks_first: tfshim had not loaded after %u s\n",
			LOADED_PATIENCE_MS / 1000);
		_exit(NEVER_LOADED);
	}
	return programs_main(count, arguments, environment);
}

typedef int start_function(main_function *program, int count, char **arguments, void (*init)(void),
	void (*fini)(void), void (*loader_fini)(void), void *stack_end);

start_function __libc_start_main;

__attribute__((visibility("default"))) int __libc_start_main(main_function *program, int count,
	char **arguments, void (*init)(void), void (*fini)(void), void (*loader_fini)(void),
	void *stack_end)
{
	start_function *next = NULL;

	*(void **)&next = dlsym(RTLD_NEXT, "__libc_start_main");
	programs_main = program;
	if (curandDestroyGenerator && !is_tool())
		program = begin;
	return next(program, count, arguments, init, fini, loader_fini, stack_end);
}
