/* SPDX-License-Identifier: MIT */
#include "reports/formats/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/formats/formats_list.h"

#define X(name) extern const struct tfs_format tfs_format_##name;
TFS_FORMATS(X)
#undef X

const struct tfs_format *const tfs_formats[] = {
#define X(name) &tfs_format_##name,
	TFS_FORMATS(X)
#undef X
		NULL,
};

const struct tfs_format *tfs_format_find(const char *name)
{
	for (size_t i = 0; tfs_formats[i]; i++) {
		if (!strcmp(tfs_formats[i]->name, name))
			return tfs_formats[i];
	}
	return NULL;
}

static int write_all(int (*write_to)(const void *what, FILE *out), const void *what, int fd)
{
	FILE *out = fdopen(fd, "w");
	if (!out) {
		int err = -errno;
		close(fd);
		return err;
	}
	errno = 0;
	int err = write_to(what, out);
	if (!err)
		err = fflush(out) || ferror(out) ? -(errno ? errno : EIO) : 0;
	if (fclose(out) && !err)
		err = -errno;
	return err;
}

int tfs_format_save_by(
	const char *path, int (*write_to)(const void *what, FILE *out), const void *what)
{
	char *temporary;
	if (asprintf(&temporary, "%s.tmp", path) < 0)
		return -ENOMEM;
	/* Whatever lies there was left by somebody else; it is not followed if it is a link. */
	unlink(temporary);
	int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	int err = fd < 0 ? -errno : write_all(write_to, what, fd);
	if (!err && rename(temporary, path))
		err = -errno;
	if (err && fd >= 0)
		unlink(temporary);
	free(temporary);
	return err;
}

struct plain {
	const struct tfs_format *format;
	const struct tfs_model *model;
};

static int write_plain(const void *plain_, FILE *out)
{
	const struct plain *plain = plain_;

	return plain->format->write(plain->model, out, &tfs_paint_plain);
}

int tfs_format_save(
	const struct tfs_format *format, const struct tfs_model *model, const char *path)
{
	return tfs_format_save_by(path, write_plain, &(struct plain){format, model});
}
