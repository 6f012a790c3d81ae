/* SPDX-License-Identifier: MIT */
#include "reports/import/import.h"

#include <errno.h>

/* Built without jansson or zlib. */
int tfs_import(const char *path, void **out_bytes, size_t *out_size, char **out_why)
{
	(void)path;
	(void)out_bytes;
	(void)out_size;
	(void)out_why;
	return -ENOTSUP;
}
