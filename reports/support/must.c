/* SPDX-License-Identifier: MIT */
#include "reports/support/must.h"

#include <stdio.h>
#include <stdlib.h>

#include "reports/support/options.h"

static void end(void)
{
	fputs("tfshim: out of memory\n", stderr);
	exit(TFS_EXIT_MISUSE);
}

void *tfs_must(void *memory)
{
	if (!memory)
		end();
	return memory;
}

void *tfs_must_grow(void *array, size_t count, size_t size)
{
	if (count & (count - 1))
		return array;
	return tfs_must(realloc(array, (count ? count * 2 : 1) * size));
}

void tfs_must_finish(struct tfs_arena *arena)
{
	if (tfs_arena_finish(arena))
		end();
}
