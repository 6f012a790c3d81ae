/* SPDX-License-Identifier: MIT */
#include "shim/python/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/uio.h>
#include <unistd.h>

bool tfs_python_copy(uint64_t address, void *out, size_t bytes)
{
	const struct iovec to = {out, bytes};
	const struct iovec from = {(void *)address, bytes};

	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)bytes;
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
