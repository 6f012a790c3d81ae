/* SPDX-License-Identifier: MIT */
#include "reports/import/import.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/import/collected/choice.h"
#include "reports/import/collected/collected.h"
#include "reports/import/kineto/kineto.h"
#include "reports/import/making/recording.h"
#include "reports/import/nsight/nsight.h"

static int collect(
	const char *path, struct tfs_collected *collected, char *out_why, size_t why_bytes)
{
	struct tfs_choice choice;

	tfs_choice_read(&choice, path);
	int err = tfs_nsight_read(&choice, collected, out_why, why_bytes);
	if (err == -ENOTSUP && access(choice.file, F_OK) == 0)
		err = tfs_kineto_read(&choice, collected, out_why, why_bytes);
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
