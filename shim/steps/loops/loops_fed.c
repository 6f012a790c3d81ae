/* SPDX-License-Identifier: MIT */
/*
 * Does an update learn anything? What it reads beside the weights is new in each iteration of a
 * training: a gradient that another call wrote, or data from elsewhere. A loop that adds the same
 * to the same again and again and only looks at the sum, as benchmarks do, is none.
 */
#include "shim/steps/loops/loops_log.h"

static bool uses(struct tfs_loops *loops, uint32_t call, uint64_t address)
{
	for (uint32_t i = loops->calls[call].first; i < loops->calls[call + 1].first; i++)
		if (tfs_log_address(loops, loops->operands[i]) == address)
			return true;
	return false;
}

/* Between two updates, by another site than theirs? */
static bool is_written(struct tfs_loops *loops, uint32_t from, uint32_t to, uint64_t address)
{
	const uint32_t site = loops->calls[to].site;

	for (uint32_t call = from + 1; call < to; call++) {
		if (loops->calls[call].site == site)
			continue;
		for (uint32_t i = loops->calls[call].first; i < loops->calls[call + 1].first; i++)
			if ((loops->operands[i] & TFS_LOG_WRITES) != 0 &&
				tfs_log_address(loops, loops->operands[i]) == address)
				return true;
	}
	return false;
}

/* Does a site update this in place? */
static bool is_its(struct tfs_loops *loops, uint64_t address, uint32_t site)
{
	const struct tfs_log_range *range = tfs_log_range(loops, address, false);

	for (uint32_t i = range ? range->pairs : 0; i != 0; i = loops->pairs[i - 1].next)
		if (loops->pairs[i - 1].site == site)
			return true;
	return false;
}

/* Between two updates, does any call of another site read what these do not make? Parts of a
 * gradient that is read as one have other addresses. */
static bool has_other_work(struct tfs_loops *loops, uint32_t from, uint32_t to)
{
	const uint32_t site = loops->calls[to].site;

	for (uint32_t call = from + 1; call < to; call++) {
		if (loops->calls[call].site == site)
			continue;
		for (uint32_t i = loops->calls[call].first; i < loops->calls[call + 1].first; i++)
			if ((loops->operands[i] & TFS_LOG_READS) != 0 &&
				!is_its(loops, tfs_log_address(loops, loops->operands[i]), site))
				return true;
	}
	return false;
}

/* The update before the latest one, or that. */
static uint32_t update_before(struct tfs_loops *loops, const struct tfs_log_pair *pair)
{
	for (uint32_t call = pair->last - 1; call-- > 0;)
		if (tfs_log_is_update(loops, pair, call))
			return call;
	return pair->last - 1;
}

bool tfs_log_is_fed(struct tfs_loops *loops, const struct tfs_log_pair *pair)
{
	const uint32_t latest = pair->last - 1;
	const uint32_t before = update_before(loops, pair);
	bool others = false;

	for (uint32_t i = loops->calls[latest].first; i < loops->calls[latest + 1].first; i++) {
		const uint64_t address = tfs_log_address(loops, loops->operands[i]);

		if (address == pair->address || (loops->operands[i] & TFS_LOG_READS) == 0)
			continue;
		others = true;
		if (!uses(loops, before, address) || is_written(loops, before, latest, address))
			return true;
	}
	/* Of what it reads, nothing may be known. */
	return !others || has_other_work(loops, before, latest);
}
