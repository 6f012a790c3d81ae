/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/common/left_wait.h"

#include "shim/base/clock.h"
#include "shim/rewrites/rewrite.h"

void tfs_left_wait_learn(struct tfs_left_wait *left, uint64_t ns)
{
	uint64_t least = atomic_load(&left->least_ns);

	while ((least == 0 || ns < least) &&
		!atomic_compare_exchange_weak(&left->least_ns, &least, ns))
		continue;
}

uint64_t tfs_left_wait_least(const struct tfs_left_wait *left)
{
	return atomic_load(&left->least_ns);
}

void tfs_left_wait_begin(struct tfs_left_wait *left)
{
	atomic_store(&left->since_ns, tfs_clock_ns(CLOCK_MONOTONIC));
}

void tfs_left_wait_end(struct tfs_left_wait *left, const struct tfs_rewrite *rewrite)
{
	const uint64_t since = atomic_exchange(&left->since_ns, 0);
	const uint64_t least = atomic_load(&left->least_ns);

	if (since == 0)
		return;
	const uint64_t busy = tfs_clock_ns(CLOCK_MONOTONIC) - since;
	tfs_rewrite_predict_call(rewrite, (double)(least < busy ? least : busy));
}
