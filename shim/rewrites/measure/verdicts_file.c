/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/measure/verdicts_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int tfs_verdicts_load(const char *path, char out_text[TFS_VERDICTS_BYTES])
{
	struct stat status;
	ssize_t got = -1;
	const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);

	*out_text = '\0';
	if (file < 0)
		return errno == ENOENT ? -ENOENT : -EINVAL;
	if (fstat(file, &status) == 0 && S_ISREG(status.st_mode))
		got = read(file, out_text, TFS_VERDICTS_BYTES - 1);
	close(file);
	out_text[got > 0 ? got : 0] = '\0';
	return strncmp(out_text, TFS_VERDICTS_HEAD, TFS_VERDICTS_HEAD_BYTES) == 0 ? 0 : -EINVAL;
}

/* Several may write at once, with the same number in containers: a name of its own. */
static int open_aside(const char *path, char *out_aside, size_t bytes)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if ((size_t)snprintf(out_aside, bytes, "%s.%d-%lx%lx", path, (int)getpid(),
		    (unsigned long)now.tv_sec, (unsigned long)now.tv_nsec) >= bytes)
		return -ENAMETOOLONG;
	const int file =
		open(out_aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
	return file >= 0 ? file : -errno;
}

int tfs_verdicts_save(const char *path, const struct tfs_proof *verdicts, uint32_t count)
{
	static char old[TFS_VERDICTS_BYTES], text[TFS_VERDICTS_BYTES];
	char aside[PATH_MAX];
	int err = tfs_verdicts_load(path, old);

	if (err && err != -ENOENT)
		return err;
	tfs_verdicts_merge(old, verdicts, count, text, sizeof(text));
	const int file = open_aside(path, aside, sizeof(aside));
	if (file < 0)
		return file;
	const ssize_t wrote = write(file, text, strlen(text));
	err = wrote == (ssize_t)strlen(text) ? 0 : wrote < 0 ? -errno : -ENOSPC;
	close(file);
	if (!err && rename(aside, path) != 0)
		err = -errno;
	if (err)
		unlink(aside);
	return err;
}
