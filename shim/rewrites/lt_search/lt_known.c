/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/lt_search/lt_known.h"

#include <stdatomic.h>
#include <stddef.h>

#define SLOTS 4096u
#define PROBES 64u /* past so many that are others', a product is not known: it is left alone */

struct tfs_lt_known {
	_Atomic uint64_t question; /* 0: free */
	_Atomic uint32_t calls;
	_Atomic bool settled;
};

static struct tfs_lt_known slots[SLOTS];

static struct tfs_lt_known *find(uint64_t question)
{
	for (uint32_t i = 0; i < PROBES; i++) {
		struct tfs_lt_known *slot = &slots[(question + i) % SLOTS];
		uint64_t there = 0;

		if (atomic_load_explicit(&slot->question, memory_order_relaxed) == question ||
			atomic_compare_exchange_strong(&slot->question, &there, question) ||
			there == question)
			return slot;
	}
	return NULL;
}

struct tfs_lt_known *tfs_lt_known_due(uint64_t question)
{
	struct tfs_lt_known *known = find(question);

	if (!known || atomic_load_explicit(&known->settled, memory_order_relaxed))
		return NULL;
	const uint32_t calls = atomic_fetch_add(&known->calls, 1) + 1;
	return (calls & (calls - 1)) == 0 ? known : NULL;
}

void tfs_lt_known_settle(struct tfs_lt_known *known)
{
	atomic_store(&known->settled, true);
}
