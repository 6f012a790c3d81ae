/* SPDX-License-Identifier: MIT */
#include "reports/import/nsight/nsight.h"

#include <errno.h>

/* Built without SQLite. */
int tfs_nsight_read(const char *path, uint64_t process, struct tfs_collected *collected,
	char *out_why, size_t why_bytes)
{
	(void)path;
	(void)process;
	(void)collected;
	(void)out_why;
	(void)why_bytes;
	return -ENOTSUP;
}
