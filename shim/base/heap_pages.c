/* SPDX-License-Identifier: MIT */
#include "shim/base/heap.h"

#include <errno.h>
#include <sys/mman.h>

void *tfs_heap_alloc(size_t bytes)
{
	const int saved = errno;
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	errno = saved;
	return memory != MAP_FAILED ? memory : NULL;
}

void tfs_heap_free(void *memory, size_t bytes)
{
	const int saved = errno;

	if (memory)
		munmap(memory, bytes);
	errno = saved;
}
