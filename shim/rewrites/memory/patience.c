/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/memory/patience.h"

#include <stdatomic.h>

#include "shim/base/clock.h"
#include "shim/base/env.h"
#include "shim/base/mutant.h"

#define LEAST_NS UINT64_C(20000000)
#define OF_SEARCH 100u /* part of its time */

/* Mutants: what the contract forbids. */
#define NAIVE_HASTY (UINT64_C(1) << 48) /* what is not idle at once is busy */

/* Of what is left, for each wait. */
static const uint32_t parts[] = {[TFS_PATIENCE_SEARCH] = 2, [TFS_PATIENCE_GIVE_BACK] = 4};

static _Atomic uint64_t taken_ns[TFS_PATIENCE_PURPOSES];

static uint64_t of_each_purpose(void)
{
	const uint64_t all = tfs_options.search_ms * UINT64_C(1000000) / OF_SEARCH;

	return (all > LEAST_NS ? all : LEAST_NS) / TFS_PATIENCE_PURPOSES;
}

struct tfs_patience tfs_patience_begin(enum tfs_patience_purpose purpose)
{
	const uint64_t all = of_each_purpose();
	uint64_t taken = atomic_load(&taken_ns[purpose]), most;

	do
		most = TFS_MUTANT(NAIVE_HASTY) ? 0 : (all - taken) / parts[purpose];
	while (!atomic_compare_exchange_weak(&taken_ns[purpose], &taken, taken + most));
	return (struct tfs_patience){purpose, tfs_clock_ns(CLOCK_MONOTONIC), most};
}

static uint64_t waited(const struct tfs_patience *patience)
{
	return tfs_clock_ns(CLOCK_MONOTONIC) - patience->start_ns;
}

bool tfs_patience_lasts(const struct tfs_patience *patience)
{
	return waited(patience) < patience->most_ns;
}

void tfs_patience_end(const struct tfs_patience *patience, bool over)
{
	const uint64_t ns = over ? 0 : waited(patience);

	if (ns < patience->most_ns)
		atomic_fetch_sub(&taken_ns[patience->purpose], patience->most_ns - ns);
}
