/* SPDX-License-Identifier: MIT */
#include "shim/chunks.h"

#include <errno.h>
#include <stdatomic.h>

#include "shim/recorder.h"
#include "shim/shim.h"

#define STOCK 8u

static _Atomic(struct tfs_chunk *) stock[STOCK];
static _Atomic(struct tfs_chunk *) spent[STOCK];

struct tfs_chunk *tfs_chunks_get(void)
{
	for (uint32_t i = 0; i < STOCK; i++) {
		if (atomic_load_explicit(&stock[i], memory_order_relaxed) == NULL)
			continue;
		struct tfs_chunk *chunk = atomic_exchange(&stock[i], NULL);
		if (chunk != NULL) {
			tfs_shim_wake();
			return chunk;
		}
	}
	const int saved = errno;
	struct tfs_chunk *chunk = tfs_writer_chunk(&tfs_recording, false);
	errno = saved;
	return chunk;
}

void tfs_chunks_retire(struct tfs_chunk *full)
{
	for (uint32_t i = 0; i < STOCK; i++) {
		struct tfs_chunk *nothing = NULL;

		if (atomic_compare_exchange_strong(&spent[i], &nothing, full))
			return;
	}
	tfs_writer_release(full);
}

void tfs_chunks_refill(void)
{
	for (uint32_t i = 0; i < STOCK; i++) {
		struct tfs_chunk *full = atomic_exchange(&spent[i], NULL);

		if (full != NULL)
			tfs_writer_release(full);
	}
	for (uint32_t i = 0; i < STOCK; i++) {
		struct tfs_chunk *nothing = NULL;

		if (atomic_load(&stock[i]) != NULL)
			continue;
		struct tfs_chunk *chunk = tfs_writer_chunk(&tfs_recording, true);
		if (chunk == NULL)
			return;
		if (!atomic_compare_exchange_strong(&stock[i], &nothing, chunk))
			tfs_writer_release(chunk);
	}
}
