/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_TOOLS_LOADED_H
#define TFS_TESTS_TOOLS_LOADED_H

/* The library's helper thread loads the unwinder and CUPTI beside the program; its name tells when
 * that is done. */

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOADED_PATIENCE_MS 60000u

static inline bool loaded_is_named(const char *task, const char *want)
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

static inline bool loaded_have_thread(const char *name)
{
	DIR *tasks = opendir("/proc/self/task");
	bool found = false;

	if (!tasks)
		return false;
	for (struct dirent *task; !found && (task = readdir(tasks));)
		found = loaded_is_named(task->d_name, name);
	closedir(tasks);
	return found;
}

/* By the kernel's clock: the program's may be modelled. */
static inline void loaded_sleep_ms(long ms)
{
	const struct timespec span = {.tv_nsec = ms * 1000000};

	syscall(SYS_nanosleep, &span, NULL);
}

/* Waits until it has; false after a minute. */
static inline bool loaded_wait(void)
{
	for (unsigned waited = 0; !loaded_have_thread("tfshim"); waited++) {
		if (waited == LOADED_PATIENCE_MS)
			return false;
		loaded_sleep_ms(1);
	}
	return true;
}

#endif
