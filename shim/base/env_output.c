/* SPDX-License-Identifier: MIT */
/* Where the recording goes: TFSHIM_OUTPUT's pattern, filled in. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "shim/base/env.h"

const char *tfs_env_program(void)
{
	static char path[PATH_MAX];
	const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (length <= 0)
		return "program";
	path[length] = '\0';
	return strrchr(path, '/') + 1;
}

static size_t put_text(char *target, size_t room, const char *text)
{
	const int length = snprintf(target, room, "%s", text);

	return length < 0 ? 0 : (size_t)length;
}

static size_t put_smallest_free(char *target, size_t room, const char *so_far)
{
	char probe[PATH_MAX + 16];
	int number = 0;

	do {
		snprintf(probe, sizeof(probe), "%s%d.tfs", so_far, ++number);
	} while (number < 100000 && access(probe, F_OK) == 0);
	return (size_t)snprintf(target, room, "%d", number);
}

static size_t put_time(char *target, size_t room)
{
	const time_t now = time(NULL);
	struct tm utc;

	return strftime(target, room, "%Y%m%dT%H%M%SZ", gmtime_r(&now, &utc));
}

/* Fills in one %-letter at `target`; *pattern stands behind the '%' and is moved on. */
static int put_field(const char **pattern, char *path, char *target, size_t room, size_t *out_used)
{
	const char letter = *(*pattern)++;
	char text[128] = "";

	switch (letter) {
	case '%':
		text[0] = '%';
		break;
	case 'p':
		snprintf(text, sizeof(text), "%d", (int)getpid());
		break;
	case 'r':
		snprintf(text, sizeof(text), "%u", tfs_options.rank);
		break;
	case 'h':
		gethostname(text, sizeof(text) - 1);
		break;
	case 't':
		put_time(text, sizeof(text));
		break;
	case 'e':
		*out_used = put_text(target, room, tfs_env_program());
		return 0;
	case 'n':
		*target = '\0';
		*out_used = put_smallest_free(target, room, path);
		return 0;
	case 'q': {
		const size_t length = strcspn(*pattern, "}");
		if (**pattern != '{' || (*pattern)[length] != '}' || length > sizeof(text))
			return -EINVAL;
		memcpy(text, *pattern + 1, length - 1);
		text[length - 1] = '\0';
		*pattern += length + 1;
		const char *value = getenv(text);
		*out_used = put_text(target, room, value ? value : "");
		return 0;
	}
	default:
		return -EINVAL;
	}
	*out_used = put_text(target, room, text);
	return 0;
}

static int make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		const int err = mkdir(path, 0777) != 0 && errno != EEXIST ? -errno : 0;
		*slash = '/';
		if (err && err != -EROFS)
			return err;
	}
	return 0;
}

/* Appends the pattern, filled in, to a path of PATH_MAX bytes that is *used long. */
static int put_pattern(char *path, size_t *used, const char *pattern)
{
	for (const char *next = pattern; *next != '\0';) {
		size_t more = 1;

		if (*used + 2 >= PATH_MAX)
			return -ENAMETOOLONG;
		path[*used] = *next++;
		if (path[*used] == '%') {
			const int err =
				put_field(&next, path, path + *used, PATH_MAX - *used, &more);
			if (err)
				return err;
		}
		*used += more;
		if (*used >= PATH_MAX)
			return -ENAMETOOLONG;
		path[*used] = '\0';
	}
	return 0;
}

int tfs_env_output(char *out_path, size_t bytes)
{
	char path[PATH_MAX];
	size_t used = 0;

	if (tfs_options.output[0] != '/') {
		if (!getcwd(path, sizeof(path)))
			return -errno;
		used = strlen(path);
		path[used++] = '/';
	}
	int err = put_pattern(path, &used, tfs_options.output);
	if (!err && path[used - 1] == '/')
		err = put_pattern(path, &used, "%e-r%r-%p");
	if (err)
		return err;
	if (used + 1 > bytes)
		return -ENAMETOOLONG;
	err = make_folders(path);
	if (!err)
		memcpy(out_path, path, used + 1);
	return err;
}

void tfs_env_output_apart(char *path, size_t bytes, unsigned number)
{
	char time_text[32];
	const size_t used = strlen(path);

	put_time(time_text, sizeof(time_text));
	if (number == 1)
		snprintf(path + used, bytes - used, "-%s", time_text);
	else
		snprintf(path + used, bytes - used, "-%s-%u", time_text, number);
}
