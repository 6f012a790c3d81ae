/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/memory/reserves.h"

#include <stddef.h>
#include <string.h>

#include "shim/base/mutant.h"
#include "shim/base/spin.h"
#include "shim/rewrites/memory/blocks.h"
#include "shim/rewrites/memory/holding.h"
#include "shim/rewrites/memory/memory_functions.h"
#include "shim/rewrites/memory/pool_functions.h"

#define MOST 16u
#define DEVICES 64u

/* Mutants: what the contract forbids. */
#define NAIVE_HOARD (1u << 26)           /* what is kept is never given back */
#define NAIVE_TELL (1u << 29)            /* the program hears what the threshold is */
#define NAIVE_BARRED (UINT64_C(1) << 33) /* what captures bar is done all the same */

#define OUT_OF_MEMORY 2u /* cudaErrorMemoryAllocation, CUDA_ERROR_OUT_OF_MEMORY */

static struct reserve {
	void *pool;
	uint32_t device;
	uint64_t bytes;
} reserves[MOST];

static struct tfs_spin lock;
static _Atomic uint64_t short_of; /* bit by device */
_Atomic uint32_t tfs_reserves_count;

/* NULL: not there. The lock is held. */
static struct reserve *find(const void *pool)
{
	const uint32_t count = atomic_load(&tfs_reserves_count);

	for (uint32_t i = 0; i < count; i++)
		if (reserves[i].pool == pool)
			return &reserves[i];
	return NULL;
}

/* False: no room. */
static bool note(void *pool, uint32_t device, uint64_t bytes)
{
	tfs_spin_lock(&lock);
	struct reserve *reserve = find(pool);
	const uint32_t count = atomic_load(&tfs_reserves_count);
	if (!reserve && count < MOST) {
		reserve = &reserves[count];
		atomic_store(&tfs_reserves_count, count + 1);
	}
	if (reserve)
		*reserve = (struct reserve){pool, device, bytes};
	tfs_spin_unlock(&lock);
	return reserve != NULL;
}

bool tfs_reserves_keep(bool driver, void *pool, uint32_t device, uint64_t bytes)
{
	const struct tfs_pool_functions *use = tfs_pool_functions(driver);

	if (!use || device >= DEVICES || !note(pool, device, bytes))
		return false;
	tfs_held_begin();
	if (use->set(pool, TFS_POOL_THRESHOLD, &bytes) == 0)
		return true;
	tfs_reserves_leave(pool);
	return false;
}

uint64_t tfs_reserves_kept(const void *pool)
{
	uint64_t bytes = 0;

	if (!tfs_reserves_any())
		return 0;
	tfs_spin_lock(&lock);
	const struct reserve *reserve = find(pool);
	if (reserve)
		bytes = reserve->bytes;
	tfs_spin_unlock(&lock);
	return bytes;
}

bool tfs_reserves_hidden(const void *pool)
{
	return !TFS_MUTANT(NAIVE_TELL) && tfs_reserves_kept(pool) != 0;
}

void tfs_reserves_leave(const void *pool)
{
	if (!tfs_reserves_any())
		return;
	tfs_spin_lock(&lock);
	struct reserve *reserve = find(pool);
	if (reserve)
		*reserve = reserves[atomic_fetch_sub(&tfs_reserves_count, 1) - 1];
	tfs_spin_unlock(&lock);
	tfs_held_end();
}

/* Pools of the device; at most MOST. */
static uint32_t of_device(uint32_t device, void **out_pools)
{
	uint32_t found = 0;

	if (!tfs_reserves_any())
		return 0;
	tfs_spin_lock(&lock);
	for (uint32_t i = 0; i < atomic_load(&tfs_reserves_count); i++)
		if (device == TFS_ALL_DEVICES || reserves[i].device == device)
			out_pools[found++] = reserves[i].pool;
	tfs_spin_unlock(&lock);
	return found;
}

bool tfs_reserves_of(uint32_t device)
{
	void *pools[MOST];

	return of_device(device, pools) != 0;
}

static void release(const struct tfs_pool_functions *use, void *pool)
{
	uint64_t none = 0;

	tfs_reserves_leave(pool);
	use->set(pool, TFS_POOL_THRESHOLD, &none);
}

static void trim(const struct tfs_pool_functions *use, void *pool)
{
	use->trim(pool, 0);
}

/* Both are barred while a stream is captured, and would invalidate what is. */
static void with_each(
	bool driver, uint32_t device, void (*act)(const struct tfs_pool_functions *use, void *pool))
{
	const struct tfs_pool_functions *use = tfs_pool_functions(driver);
	const struct tfs_memory_functions *memory = tfs_memory_functions(driver);
	const bool barred = TFS_MUTANT(NAIVE_BARRED);
	void *pools[MOST];
	const uint32_t count = of_device(device, pools);

	if (!use || !memory || count == 0)
		return;
	int mode = TFS_CAPTURE_RELAXED;
	if (!barred)
		memory->capture_mode(&mode);
	for (uint32_t i = 0; i < count; i++)
		act(use, pools[i]);
	if (!barred)
		memory->capture_mode(&mode);
}

void tfs_reserves_drop(bool driver, uint32_t device)
{
	with_each(driver, device, release);
}

void tfs_reserves_give_back(bool driver, uint32_t device)
{
	if (!TFS_MUTANT(NAIVE_HOARD))
		with_each(driver, device, trim);
}

bool tfs_reserves_make_room(bool driver, uint32_t status, uint32_t device)
{
	const struct tfs_memory_functions *memory = tfs_memory_functions(driver);
	void *pools[MOST];

	if (status != OUT_OF_MEMORY || TFS_MUTANT(NAIVE_HOARD) || of_device(device, pools) == 0)
		return false;
	atomic_fetch_or(&short_of, UINT64_C(1) << device);
	if (memory)
		memory->forget_error();
	tfs_reserves_give_back(driver, device);
	tfs_reserves_drop(driver, device);
	return true;
}

bool tfs_reserves_short(uint32_t device)
{
	return device >= DEVICES || (atomic_load(&short_of) >> device & 1) != 0;
}

void tfs_reserves_forget(void)
{
	memset(reserves, 0, sizeof(reserves));
	atomic_store(&tfs_reserves_count, 0);
	tfs_spin_reset(&lock);
}
