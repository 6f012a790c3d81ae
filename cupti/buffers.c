/* SPDX-License-Identifier: MIT */
#include "cupti/buffers.h"

#include <stdatomic.h>
#include <string.h>

#include "shim/base/heap.h"

#define POOL_BYTES ((size_t)TFS_CUPTI_BUFFERS * TFS_CUPTI_BUFFER_BYTES)

static _Atomic(uint8_t *) pool;
static _Atomic uint64_t taken; /* a bit per buffer */
_Static_assert(TFS_CUPTI_BUFFERS == 64, "one bit per buffer");

/* Pages come as they are first written. */
static uint8_t *get_pool(void)
{
	uint8_t *memory = atomic_load(&pool);
	uint8_t *none = NULL;

	if (memory)
		return memory;
	memory = tfs_heap_alloc(POOL_BYTES);
	if (!memory)
		return NULL;
	if (!atomic_compare_exchange_strong(&pool, &none, memory)) {
		tfs_heap_free(memory, POOL_BYTES);
		memory = none;
	}
	return memory;
}

uint8_t *tfs_cupti_buffer_take(void)
{
	uint8_t *memory = get_pool();
	uint64_t bits = atomic_load(&taken);
	int number;

	if (!memory)
		return NULL;
	do {
		if (bits == UINT64_MAX)
			return NULL;
		number = __builtin_ctzll(~bits);
	} while (!atomic_compare_exchange_weak(&taken, &bits, bits | UINT64_C(1) << number));
	return memory + (size_t)number * TFS_CUPTI_BUFFER_BYTES;
}

bool tfs_cupti_buffer_is_own(const uint8_t *buffer)
{
	const uint8_t *memory = atomic_load(&pool);

	return memory && buffer >= memory && buffer < memory + POOL_BYTES;
}

void tfs_cupti_buffer_return(uint8_t *buffer, size_t used)
{
	uint8_t *memory = atomic_load(&pool);

	if (!tfs_cupti_buffer_is_own(buffer))
		return;
	memset(buffer, 0, used < TFS_CUPTI_BUFFER_BYTES ? used : TFS_CUPTI_BUFFER_BYTES);
	const size_t number = (size_t)(buffer - memory) / TFS_CUPTI_BUFFER_BYTES;
	atomic_fetch_and(&taken, ~(UINT64_C(1) << number));
}
