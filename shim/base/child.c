/* SPDX-License-Identifier: MIT */
#include "shim/base/child.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>

#include "shim/base/mutant.h"

static bool found;
static _Atomic(const uint32_t *) ours; /* 1, and 0 in a child */

void *tfs_child_wiped_pages(size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	if (!TFS_MUTANT(TFS_NAIVE_FORK))
		madvise(memory, bytes, MADV_WIPEONFORK);
	return memory;
}

void tfs_child_mark(void)
{
	uint32_t *mark = tfs_child_wiped_pages(sizeof(*mark));

	if (mark)
		*mark = 1;
	atomic_store_explicit(&ours, mark, memory_order_release);
}

void tfs_child_found(void)
{
	found = true;
}

bool tfs_child_is(void)
{
	const uint32_t *mark = atomic_load_explicit(&ours, memory_order_acquire);

	return found || (mark && *mark == 0);
}
