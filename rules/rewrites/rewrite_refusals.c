/* SPDX-License-Identifier: MIT */
#include "rules/rewrites/rewrite_refusals.h"

#include <stdatomic.h>

#define SLOTS 1024u
#define PROBES 64u /* then the table counts as full */

/* Key: site, check from bit 32, rewrite from bit 40, and a bit that is always set. */
static struct {
	_Atomic uint64_t key;
	_Atomic uint64_t count;
} slots[SLOTS];
static _Atomic uint64_t lost;

void tfs_refusal_count(uint32_t rewrite, uint32_t check, uint32_t site)
{
	const uint64_t key = UINT64_C(1) << 63 | (uint64_t)(rewrite & 0xff) << 40 |
			     (uint64_t)(check & 0xff) << 32 | site;
	uint32_t at = (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 54);

	for (uint32_t i = 0; i < PROBES; i++, at = (at + 1) % SLOTS) {
		uint64_t found = atomic_load_explicit(&slots[at].key, memory_order_relaxed);

		if (found == key || (found == 0 && (atomic_compare_exchange_strong(
							    &slots[at].key, &found, key) ||
							   found == key))) {
			atomic_fetch_add_explicit(&slots[at].count, 1, memory_order_relaxed);
			return;
		}
	}
	atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
}

uint64_t tfs_refusal_each(
	void (*write)(uint32_t rewrite, uint32_t check, uint32_t site, uint64_t count))
{
	for (uint32_t i = 0; i < SLOTS; i++) {
		const uint64_t key = atomic_load(&slots[i].key);
		const uint64_t count = atomic_load(&slots[i].count);

		if (count > 0)
			write((uint32_t)(key >> 40 & 0xff), (uint32_t)(key >> 32 & 0xff),
				(uint32_t)key, count);
	}
	return atomic_load(&lost);
}
