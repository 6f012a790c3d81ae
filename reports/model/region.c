/* SPDX-License-Identifier: MIT */
#include "reports/model/region.h"

#include <stdio.h>
#include <stdlib.h>

static void *must(void *memory)
{
	if (!memory) {
		fputs("tfshim: out of memory\n", stderr);
		exit(2);
	}
	return memory;
}

void *tfs_grow(void *array, size_t count, size_t size)
{
	if (count & (count - 1))
		return array;
	return must(realloc(array, (count ? count * 2 : 1) * size));
}
