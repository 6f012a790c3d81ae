/* SPDX-License-Identifier: MIT */
#include "rules/rewrites/patience.h"

#include <stdatomic.h>

#include "shim/clock.h"
#include "shim/env.h"
#include "shim/mutant.h"

#define LEAST_NS UINT64_C(20000000)
#define OF_SEARCH 100u /* part of its time */

/* Mutants: what the contract forbids. */
#define NAIVE_HASTY (UINT64_C(1) << 48) /* what is not idle at once is busy */

static _Atomic uint64_t taken_ns;

static uint64_t in_all(void)
{
	const uint64_t most = tfs_options.search_ms * UINT64_C(1000000) / OF_SEARCH;

	return most > LEAST_NS ? most : LEAST_NS;
}

struct tfs_patience tfs_patience_begin(uint32_t part)
{
	const uint64_t all = in_all();
	uint64_t taken = atomic_load(&taken_ns), most;

	do
		most = taken < all && !TFS_MUTANT(NAIVE_HASTY) ? (all - taken) / part : 0;
	while (!atomic_compare_exchange_weak(&taken_ns, &taken, taken + most));
	return (struct tfs_patience){tfs_clock_ns(CLOCK_MONOTONIC), most};
}

static uint64_t waited(const struct tfs_patience *patience)
{
	return tfs_clock_ns(CLOCK_MONOTONIC) - patience->start_ns;
}

bool tfs_patience_lasts(const struct tfs_patience *patience)
{
	return waited(patience) < patience->most_ns;
}

void tfs_patience_end(const struct tfs_patience *patience, bool idle)
{
	const uint64_t ns = idle ? 0 : waited(patience);

	atomic_fetch_sub(&taken_ns, ns < patience->most_ns ? patience->most_ns - ns : 0);
}
