/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_NVTX_NVTX_FAMILY_H
#define TFS_SHIM_NVTX_NVTX_FAMILY_H

/* Programs number their ranges ("iteration 17"): without the number they are one family. */

#include <stddef.h>
#include <string.h>

/* The length without a separator and a number at the end; all of it when there is none. */
static inline size_t tfs_nvtx_family_length(const char *text, size_t length)
{
	size_t end = length;

	while (end > 0 && text[end - 1] >= '0' && text[end - 1] <= '9')
		end--;
	if (end == length || end == 0 || !strchr("#:=-_ /", text[end - 1]))
		return length;
	while (end > 0 && strchr("#:=-_ /", text[end - 1]))
		end--;
	return end > 0 ? end : length;
}

#endif
