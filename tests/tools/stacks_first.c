/* SPDX-License-Identifier: MIT */
/*
 * Preloaded beside the library: main begins when the library's helper thread has loaded all that it
 * loads, so that call sites have their whole stacks from the first on and CUPTI is there. Without
 * it both come within the first calls, sooner or later by what else the machine does. Programs of
 * the system, tfshim and rewrite_watched, which start the one in question, are left alone.
 */
#include <curand.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <dlfcn.h>

#define PATIENCE_MS 60000u
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

static bool is_named(const char *task, const char *want)
{
	char path[300], name[32] = "";

	snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task);
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	const bool got = fgets(name, sizeof(name), file) != NULL;

	fclose(file);
	name[strcspn(name, "\n")] = '\0';
	return got && strcmp(name, want) == 0;
}

static bool have_thread(const char *name)
{
	DIR *tasks = opendir("/proc/self/task");
	bool found = false;

	if (!tasks)
		return false;
	for (struct dirent *task; !found && (task = readdir(tasks));)
		found = is_named(task->d_name, name);
	closedir(tasks);
	return found;
}

/* By the kernel's clock: the program's may be modelled. */
static void sleep_ms(long ms)
{
	const struct timespec span = {.tv_nsec = ms * 1000000};

	syscall(SYS_nanosleep, &span, NULL);
}

static int begin(int count, char **arguments, char **environment)
{
	curandDestroyGenerator(NULL);
	for (unsigned waited = 0; !have_thread("tfshim"); waited++) {
		if (waited == PATIENCE_MS) {
			fprintf(stderr, "stacks_first: tfshim had not loaded after %u s\n",
				PATIENCE_MS / 1000);
			_exit(NEVER_LOADED);
		}
		sleep_ms(1);
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
