/* SPDX-License-Identifier: MIT */
#include "reports/import/import.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/import/collected.h"
#include "reports/import/kineto.h"
#include "reports/import/recording.h"

int tfs_import(const char *path, void **out_bytes, size_t *out_size, char **out_why)
{
	struct tfs_collected collected = {0};
	char why[256] = "";

	int err = tfs_kineto_read(path, &collected, why, sizeof(why));
	if (!err && !collected.call_count && !collected.op_count) {
		snprintf(why, sizeof(why),
			"no CUDA call and no work of a device is in this trace: "
			"profile with ProfilerActivity.CUDA as well");
		err = -ENODATA;
	}
	if (!err)
		err = tfs_recording_make(&collected, out_bytes, out_size);
	if (err && err != -ENOTSUP)
		*out_why = strdup(*why ? why : strerror(-err));
	tfs_collected_finish(&collected);
	return err;
}
