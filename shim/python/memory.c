/* SPDX-License-Identifier: MIT */
#include "shim/python/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/uio.h>
#include <unistd.h>

void tfs_python_copies_init(struct tfs_python_copies *copies)
{
	copies->used = 0;
	for (uint32_t i = 0; i < TFS_PYTHON_BLOCKS; i++)
		copies->starts[i] = UINT64_MAX;
}

/* A block never lies in two pages, so that all of it is there or nothing. */
static const char *find_block(struct tfs_python_copies *copies, uint64_t start)
{
	for (uint32_t i = 0; i < TFS_PYTHON_BLOCKS; i++)
		if (copies->starts[i] == start)
			return copies->blocks[i];
	const uint32_t at = copies->used++ % TFS_PYTHON_BLOCKS;
	const struct iovec to = {copies->blocks[at], TFS_PYTHON_BLOCK};
	const struct iovec from = {(void *)start, TFS_PYTHON_BLOCK};

	copies->starts[at] = UINT64_MAX;
	if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)TFS_PYTHON_BLOCK)
		return NULL;
	copies->starts[at] = start;
	return copies->blocks[at];
}

bool tfs_python_copy(struct tfs_python_copies *copies, uint64_t address, void *out, size_t bytes)
{
	char *next = out;

	while (bytes > 0) {
		const uint64_t offset = address % TFS_PYTHON_BLOCK;
		const char *block = find_block(copies, address - offset);
		size_t part = TFS_PYTHON_BLOCK - offset;

		if (!block)
			return false;
		if (part > bytes)
			part = bytes;
		memcpy(next, block + offset, part);
		next += part;
		address += part;
		bytes -= part;
	}
	return true;
}

bool tfs_python_first_thread(void)
{
	static _Atomic pthread_t first;

	if (pthread_equal(atomic_load_explicit(&first, memory_order_relaxed), pthread_self()))
		return true;
	if (atomic_load_explicit(&first, memory_order_relaxed) != 0 || gettid() != getpid())
		return false;
	atomic_store(&first, pthread_self());
	return true;
}
