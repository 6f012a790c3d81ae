/* SPDX-License-Identifier: MIT */
#include "shim/state/pools.h"

#include <stddef.h>
#include <string.h>

#include "shim/base/spin.h"

#define MOST 64u

static struct tfs_pool_known pools[MOST];
static uint32_t count;
static uint32_t numbers;
static bool full;
static struct tfs_spin lock;

/* NULL: not there. The lock is held. */
static struct tfs_pool_known *find(const void *pool)
{
	for (uint32_t i = 0; i < count; i++)
		if (pools[i].pool == pool)
			return &pools[i];
	return NULL;
}

/* NULL: no room. The lock is held. */
static struct tfs_pool_known *find_or_add(const void *pool)
{
	struct tfs_pool_known *known = find(pool);

	if (known)
		return known;
	if (count == MOST) {
		full = true;
		return NULL;
	}
	pools[count] = (struct tfs_pool_known){.pool = pool};
	return &pools[count++];
}

void tfs_pools_created(const void *pool, int device, bool shareable)
{
	tfs_spin_lock(&lock);
	struct tfs_pool_known *known = find_or_add(pool);
	if (known)
		*known = (struct tfs_pool_known){.pool = pool,
			.created = true,
			.shareable = shareable,
			.device = device,
			.number = ++numbers};
	tfs_spin_unlock(&lock);
}

void tfs_pools_destroyed(const void *pool)
{
	tfs_spin_lock(&lock);
	struct tfs_pool_known *known = find(pool);
	if (known)
		*known = pools[--count];
	tfs_spin_unlock(&lock);
}

void tfs_pools_set(const void *pool, uint64_t keeps)
{
	tfs_spin_lock(&lock);
	struct tfs_pool_known *known = find_or_add(pool);
	if (known) {
		known->keeps = keeps;
		known->is_set = true;
	}
	tfs_spin_unlock(&lock);
}

bool tfs_pools_find(const void *pool, struct tfs_pool_known *out_known)
{
	*out_known = (struct tfs_pool_known){0};
	tfs_spin_lock(&lock);
	const struct tfs_pool_known *known = find(pool);
	if (known)
		*out_known = *known;
	tfs_spin_unlock(&lock);
	return known != NULL;
}

bool tfs_pools_full(void)
{
	return __atomic_load_n(&full, __ATOMIC_RELAXED);
}

void tfs_pools_forget(void)
{
	memset(pools, 0, sizeof(pools));
	count = 0;
	tfs_spin_reset(&lock);
}
