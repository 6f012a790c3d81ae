/* SPDX-License-Identifier: MIT */
#include "reports/import/nsight/nsight.h"

#include <errno.h>

/* Built without SQLite. */
int tfs_nsight_read(const struct tfs_choice *choice, struct tfs_collected *collected, char *out_why,
	size_t why_bytes)
{
	(void)choice;
	(void)collected;
	(void)out_why;
	(void)why_bytes;
	return -ENOTSUP;
}
