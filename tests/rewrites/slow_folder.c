/* SPDX-License-Identifier: MIT */
/* To be preloaded: a file system on which recordings are made only once the file
 * SLOW_FOLDER_ANSWERS is there, and written only until SLOW_FOLDER_STUCK is; the folder and what
 * earlier runs left in it are read only once SLOW_FOLDER_READS is there, the mark of who acts is
 * made only once SLOW_FOLDER_MARKS is and removed only once SLOW_FOLDER_UNMARKS is. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int open64(const char *path, int flags, ...);
ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset);

static int is_recording(const char *path)
{
	const size_t length = strlen(path);

	return length > 4 && strcmp(path + length - 4, ".tfs") == 0;
}

static int is_mark(const char *path)
{
	return strstr(path, ".acting-") != NULL;
}

static int is_left(const char *path)
{
	const char *folder = getenv("SLOW_FOLDER");

	return folder && strncmp(path, folder, strlen(folder)) == 0 && !is_recording(path);
}

static void wait_while(const char *variable, int there)
{
	const char *file = getenv(variable);

	while (file && (access(file, F_OK) == 0) == there)
		usleep(1000);
}

int open64(const char *path, int flags, ...)
{
	int (*next)(const char *, int, ...) = dlsym(RTLD_NEXT, "open64");
	va_list more;

	va_start(more, flags);
	const unsigned mode = (flags & O_CREAT) != 0 ? va_arg(more, unsigned) : 0;
	va_end(more);
	if ((flags & O_CREAT) != 0 && is_recording(path))
		wait_while("SLOW_FOLDER_ANSWERS", 0);
	if ((flags & O_CREAT) == 0 && is_left(path))
		wait_while("SLOW_FOLDER_READS", 0);
	return next(path, flags, mode);
}

int mknod(const char *path, mode_t mode, dev_t device)
{
	int (*next)(const char *, mode_t, dev_t) = dlsym(RTLD_NEXT, "mknod");

	if (is_mark(path))
		wait_while("SLOW_FOLDER_MARKS", 0);
	return next(path, mode, device);
}

int unlink(const char *path)
{
	int (*next)(const char *) = dlsym(RTLD_NEXT, "unlink");

	if (is_mark(path))
		wait_while("SLOW_FOLDER_UNMARKS", 0);
	return next(path);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset)
{
	ssize_t (*next)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
	char name[64], path[4096] = "";

	snprintf(name, sizeof(name), "/proc/thread-self/fd/%d", file);
	if (readlink(name, path, sizeof(path) - 1) > 0 && is_recording(path))
		wait_while("SLOW_FOLDER_STUCK", 1);
	return next(file, bytes, count, offset);
}
