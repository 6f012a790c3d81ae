/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/rewrite_refusals.h"

#include <stdatomic.h>
#include <stddef.h>

#include "shim/record/recorder.h"

#define SLOTS 1024u
#define PROBES 64u /* then the table counts as full */
#define ALONE 16u  /* threads with counts of their own */

/* Key: site, check from bit 32, rewrite from bit 40, and a bit that is always set. */
static _Atomic uint64_t keys[SLOTS];
/* By thread, so that counting is no contest between them; later threads share the last row. */
static _Atomic uint64_t counts[ALONE + 1][SLOTS];
static _Atomic uint64_t lost;

/* Where a thread of its own row counted lately: most calls are refused as the one before was. */
#define RECENT 8u
static __thread struct {
	uint64_t key;
	_Atomic uint64_t *count;
} recent[RECENT] __attribute__((tls_model("initial-exec")));

static inline void count_own(_Atomic uint64_t *count)
{
	const uint64_t before = atomic_load_explicit(count, memory_order_relaxed);

	atomic_store_explicit(count, before + 1, memory_order_relaxed);
}

static void count_at(uint32_t slot, uint64_t key)
{
	const struct tfs_thread *self = tfs_self.owned;

	if (!self || self->index >= ALONE) {
		atomic_fetch_add_explicit(&counts[ALONE][slot], 1, memory_order_relaxed);
		return;
	}
	recent[key % RECENT].key = key;
	recent[key % RECENT].count = &counts[self->index][slot];
	count_own(&counts[self->index][slot]);
}

static __attribute__((noinline)) void count_anew(uint64_t key)
{
	uint32_t at = (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 54);

	for (uint32_t i = 0; i < PROBES; i++, at = (at + 1) % SLOTS) {
		uint64_t found = atomic_load_explicit(&keys[at], memory_order_relaxed);

		if (found == key ||
			(found == 0 && (atomic_compare_exchange_strong(&keys[at], &found, key) ||
					       found == key))) {
			count_at(at, key);
			return;
		}
	}
	atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
}

void tfs_refusal_count(uint32_t rewrite, uint32_t check, uint32_t site)
{
	const uint64_t key = UINT64_C(1) << 63 | (uint64_t)(rewrite & 0xff) << 40 |
			     (uint64_t)(check & 0xff) << 32 | site;

	if (recent[key % RECENT].key == key)
		count_own(recent[key % RECENT].count);
	else
		count_anew(key);
}

uint64_t tfs_refusal_each(
	void (*write)(uint32_t rewrite, uint32_t check, uint32_t site, uint64_t count))
{
	for (uint32_t i = 0; i < SLOTS; i++) {
		const uint64_t key = atomic_load(&keys[i]);
		uint64_t count = 0;

		for (uint32_t thread = 0; key != 0 && thread <= ALONE; thread++)
			count += atomic_load(&counts[thread][i]);
		if (count > 0)
			write((uint32_t)(key >> 40 & 0xff), (uint32_t)(key >> 32 & 0xff),
				(uint32_t)key, count);
	}
	return atomic_load(&lost);
}
