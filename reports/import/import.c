/* SPDX-License-Identifier: MIT */
#include "reports/import/import.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/import/collected/collected.h"
#include "reports/import/kineto/kineto.h"
#include "reports/import/making/recording.h"
#include "reports/import/nsight/nsight.h"

/* FILE:PROCESS, where there is no file of the whole name; 0 = no process is named. */
static uint64_t split_process(const char *path, char file[PATH_MAX])
{
	const char *colon = strrchr(path, ':');

	snprintf(file, PATH_MAX, "%s", path);
	if (!colon || !colon[1] || strspn(colon + 1, "0123456789") != strlen(colon + 1) ||
		colon - path >= PATH_MAX || access(path, F_OK) == 0)
		return 0;
	file[colon - path] = 0;
	return strtoull(colon + 1, NULL, 10);
}

static int collect(
	const char *path, struct tfs_collected *collected, char *out_why, size_t why_bytes)
{
	char file[PATH_MAX];
	const uint64_t process = split_process(path, file);

	int err = tfs_nsight_read(file, process, collected, out_why, why_bytes);
	if (err == -ENOTSUP && !process && access(path, F_OK) == 0)
		err = tfs_kineto_read(path, collected, out_why, why_bytes);
	if (!err && !collected->call_count && !collected->op_count) {
		snprintf(out_why, why_bytes,
			"no CUDA call and no work of a device is in this trace: "
			"profile with ProfilerActivity.CUDA as well");
		err = -ENODATA;
	}
	return err;
}

int tfs_import(const char *path, void **out_bytes, size_t *out_size, char **out_why)
{
	struct tfs_collected collected = {0};
	char why[3 * PATH_MAX] = "";

	int err = collect(path, &collected, why, sizeof(why));
	if (!err)
		err = tfs_recording_make(&collected, out_bytes, out_size);
	if (err && err != -ENOTSUP)
		*out_why = strdup(*why ? why : strerror(-err));
	tfs_collected_finish(&collected);
	return err;
}
