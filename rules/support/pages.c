/* SPDX-License-Identifier: MIT */
#include "rules/support/pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

void *tfs_pages_alloc(size_t count, size_t bytes)
{
	size_t total;
	void *memory;

	if (__builtin_mul_overflow(count, bytes, &total) || total > SIZE_MAX - HUGE_PAGE)
		return NULL;
	if (total < 2 * HUGE_PAGE)
		return malloc(total ? total : 1);
	memory = aligned_alloc(HUGE_PAGE, (total + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
	if (memory)
		madvise(memory, total, MADV_HUGEPAGE);
	return memory;
}

void *tfs_pages_zeroed(size_t count, size_t bytes)
{
	void *memory;

	if (count < 2 * HUGE_PAGE / (bytes ? bytes : 1))
		return calloc(count, bytes);
	memory = tfs_pages_alloc(count, bytes);
	return memory ? memset(memory, 0, count * bytes) : NULL;
}
