/* SPDX-License-Identifier: MIT */
/*
 * Who updates what, and when it is read: from the log of calls.
 *
 * Control stands at one return address in each active function. Between two calls it moved on in
 * the outermost function whose address differs; where it comes by an address again that it came by
 * since that function began, a loop in it went round, wherever the compiler put its code. An update
 * that another site reads only after a loop went round is carried by that loop.
 */
#include <string.h>

#include "shim/steps/loops/loops_log.h"

static uint32_t slot_of(uint64_t address, uint32_t mask)
{
	return (uint32_t)(address * UINT64_C(0x9E3779B97F4A7C15) >> 32) & mask;
}

struct tfs_log_range *tfs_log_range(struct tfs_loops *loops, uint64_t address, bool add)
{
	uint32_t at = slot_of(address, loops->mask);

	for (; loops->ranges[at].address != 0; at = (at + 1) & loops->mask)
		if (loops->ranges[at].address == address)
			return &loops->ranges[at];
	if (!add || loops->range_count > loops->mask / 2)
		return NULL;
	loops->range_count++;
	loops->ranges[at].address = address;
	return &loops->ranges[at];
}

/* Did control come by there before? */
static bool come_by(struct tfs_log_path *path, uint64_t place)
{
	for (uint32_t i = path->count; i-- > 0;) {
		if (path->places[i] == place) {
			path->count = i + 1;
			return true;
		}
	}
	if (path->count == TFS_LOG_PATH) {
		path->count = TFS_LOG_PATH / 2;
		memmove(path->places, path->places + TFS_LOG_PATH / 2,
			TFS_LOG_PATH / 2 * sizeof(path->places[0]));
	}
	path->places[path->count++] = place;
	return false;
}

uint32_t tfs_log_move(struct tfs_loops *loops, struct tfs_log_motion *motion, uint32_t now)
{
	const struct tfs_log_site *site = &loops->sites[loops->calls[now - 1].site];
	const struct tfs_log_site *from = motion->site;
	uint32_t level = 0;

	if (from) {
		const uint32_t shared = site->depth < from->depth ? site->depth : from->depth;

		while (level + 1 < shared && site->frames[level] == from->frames[level])
			level++;
	}
	motion->site = site;
	if (come_by(&loops->paths[level], site->frames[level]))
		motion->round[level] = now;
	motion->moved[level] = now;
	for (uint32_t inner = level + 1; inner < TFS_LOOPS_DEPTH; inner++) {
		motion->moved[inner] = now;
		loops->paths[inner].count = 0;
		if (inner < site->depth)
			come_by(&loops->paths[inner], site->frames[inner]);
	}
	return level;
}

/* Has a loop gone round since the update? It is the loop in the outermost function that moved. */
static void read_pair(struct tfs_log_pair *pair, const struct tfs_log_motion *motion)
{
	uint32_t level = 0;

	while (level < TFS_LOOPS_DEPTH && motion->moved[level] <= pair->last)
		level++;
	if (level == TFS_LOOPS_DEPTH || motion->round[level] <= pair->last)
		return;
	pair->waiting = false;
	pair->carried++;
	pair->at[level]++;
}

static struct tfs_log_pair *find_pair(
	struct tfs_loops *loops, struct tfs_log_range *range, uint32_t site)
{
	struct tfs_log_pair *pair;

	for (uint32_t i = range->pairs; i != 0; i = loops->pairs[i - 1].next)
		if (loops->pairs[i - 1].site == site)
			return &loops->pairs[i - 1];
	if (loops->pair_count > loops->mask)
		return NULL;
	pair = &loops->pairs[loops->pair_count++];
	*pair = (struct tfs_log_pair){
		.address = range->address, .site = site, .next = range->pairs, .certain = true};
	range->pairs = loops->pair_count;
	return pair;
}

static void update(struct tfs_loops *loops, uint64_t operand, uint32_t site, uint32_t now)
{
	struct tfs_log_range *range = tfs_log_range(loops, tfs_log_address(loops, operand), true);
	struct tfs_log_pair *pair = range ? find_pair(loops, range, site) : NULL;

	if (!pair || pair->last == now)
		return;
	if (pair->count++ == 0)
		pair->first = now;
	pair->last = now;
	pair->waiting = true;
	pair->certain = pair->certain && (operand & TFS_LOG_MAYBE) == 0;
}

static void overwrite(struct tfs_loops *loops, uint64_t operand)
{
	const struct tfs_log_range *range =
		tfs_log_range(loops, tfs_log_address(loops, operand), false);

	for (uint32_t i = range ? range->pairs : 0; i != 0; i = loops->pairs[i - 1].next) {
		loops->pairs[i - 1].overwritten++;
		loops->pairs[i - 1].waiting = false;
	}
}

static void read_by(struct tfs_loops *loops, uint64_t operand, uint32_t site,
	const struct tfs_log_motion *motion)
{
	const struct tfs_log_range *range =
		tfs_log_range(loops, tfs_log_address(loops, operand), false);

	for (uint32_t i = range ? range->pairs : 0; i != 0; i = loops->pairs[i - 1].next)
		if (loops->pairs[i - 1].waiting && loops->pairs[i - 1].site != site)
			read_pair(&loops->pairs[i - 1], motion);
}

/* A call reads all its operands before it writes any. */
static void take_call(struct tfs_loops *loops, const struct tfs_log_call *call,
	const struct tfs_log_motion *motion, uint32_t now)
{
	const uint64_t *operands = &loops->operands[call->first];
	const uint32_t count = call[1].first - call->first;

	for (uint32_t i = 0; i < count; i++)
		if ((operands[i] & TFS_LOG_READS) != 0)
			read_by(loops, operands[i], call->site, motion);
	for (uint32_t i = 0; i < count; i++) {
		if ((operands[i] & TFS_LOG_WRITES) == 0)
			continue;
		if (tfs_log_updates(loops, now - 1, tfs_log_address(loops, operands[i])))
			update(loops, operands[i], call->site, now);
		else
			overwrite(loops, operands[i]);
	}
}

void tfs_log_pair_up(struct tfs_loops *loops)
{
	struct tfs_log_motion motion = {0};

	loops->mask = 63;
	while (loops->mask < 2 * loops->operand_count && loops->mask + 1 < TFS_LOG_RANGES)
		loops->mask = 2 * loops->mask + 1;
	memset(loops->ranges, 0, (loops->mask + 1) * sizeof(loops->ranges[0]));
	loops->range_count = 0;
	tfs_log_find_turns(loops);
	loops->pair_count = 0;
	loops->paths[0].count = 0;
	for (uint32_t i = 0; i < loops->call_count; i++) {
		tfs_log_move(loops, &motion, i + 1);
		take_call(loops, &loops->calls[i], &motion, i + 1);
	}
}
