/* SPDX-License-Identifier: MIT */
/*
 * Weights that are updated out of place: a call site reads them in one range and writes the new
 * ones to another, and the next time the other way round. Both ranges count as one then.
 */
#include <string.h>

#include "shim/steps/loops/loops_log.h"

/* While no pairs are there yet, their memory holds the moves that were seen. */
static uint64_t *moves_of(struct tfs_loops *loops)
{
	_Static_assert(
		sizeof(struct tfs_log_pair) >= sizeof(uint64_t), "a pair has room for a move");
	return (uint64_t *)(void *)loops->pairs;
}

static uint64_t move_of(uint32_t site, uint64_t from, uint64_t to)
{
	uint64_t hash = (site + 1) * UINT64_C(0x9E3779B97F4A7C15);

	hash = (hash ^ from) * UINT64_C(0xBF58476D1CE4E5B9);
	hash = (hash ^ hash >> 31 ^ to) * UINT64_C(0x94D049BB133111EB);
	return (hash ^ hash >> 29) | 1;
}

/* Was it seen before? From now on it was, unless there is no room. */
static bool see(struct tfs_loops *loops, uint64_t move, bool add)
{
	uint64_t *moves = moves_of(loops);
	uint32_t at = (uint32_t)(move >> 32) & loops->mask;

	for (uint32_t tries = 0; tries < 64; tries++, at = (at + 1) & loops->mask) {
		if (moves[at] == move)
			return true;
		if (moves[at] == 0) {
			if (add)
				moves[at] = move;
			return false;
		}
	}
	return false;
}

static void join(struct tfs_loops *loops, uint64_t one, uint64_t other)
{
	struct tfs_log_range *range = tfs_log_range(loops, one, true);
	const uint64_t first = tfs_log_address(loops, other << 3);

	if (range && !range->same && range->address != first) {
		range->same = first;
		loops->updates = true; /* for tfs_loops_hopeless() */
	}
}

static bool only(uint64_t operand, uint64_t what)
{
	return (operand & (TFS_LOG_READS | TFS_LOG_WRITES | TFS_LOG_MAYBE)) == what;
}

/* Of a call, by turns, what it only reads and what it only writes; false behind the last two. */
static bool next_move(const struct tfs_loops *loops, const struct tfs_log_call *call,
	uint32_t *cursor, uint64_t *out_source, uint64_t *out_target)
{
	const uint32_t count = call[1].first - call->first;
	const uint64_t *operands = &loops->operands[call->first];

	for (; *cursor < count * count; ++*cursor) {
		const uint64_t from = operands[*cursor % count], to = operands[*cursor / count];

		if (!only(to, TFS_LOG_WRITES)) {
			*cursor += count - 1 - *cursor % count;
			continue;
		}
		*out_source = TFS_LOG_ADDRESS(from);
		*out_target = TFS_LOG_ADDRESS(to);
		if (only(from, TFS_LOG_READS) && *out_source != *out_target)
			return ++*cursor, true;
	}
	return false;
}

static uint64_t bit_of(uint64_t move)
{
	return UINT64_C(1) << (move >> 20 & 63);
}

/* Did the site's latest call do the very same? Most copies do. */
static bool is_repeated(struct tfs_loops *loops, const struct tfs_log_call *call)
{
	const uint64_t *operands = &loops->operands[call->first];
	uint64_t *latest = loops->sites[call->site].latest;

	if (call[1].first - call->first != 2)
		return false;
	if (operands[0] == latest[0] && operands[1] == latest[1])
		return true;
	latest[0] = operands[0];
	latest[1] = operands[1];
	return false;
}

void tfs_log_note_moves(struct tfs_loops *loops, const struct tfs_log_call *call)
{
	if (is_repeated(loops, call))
		return;
	const uint64_t words = sizeof(loops->moved) / sizeof(loops->moved[0]);
	uint64_t source;
	uint64_t target;
	uint32_t cursor = 0;

	while (next_move(loops, call, &cursor, &source, &target)) {
		const uint64_t there = move_of(call->site, source, target);
		const uint64_t back = move_of(call->site, target, source);

		loops->turned |= (loops->moved[(back >> 32) % words] & bit_of(back)) != 0;
		loops->moved[(there >> 32) % words] |= bit_of(there);
	}
}

static void find_moves(struct tfs_loops *loops, const struct tfs_log_call *call)
{
	uint64_t source, target;
	uint32_t cursor = 0;

	while (next_move(loops, call, &cursor, &source, &target)) {
		if (see(loops, move_of(call->site, target, source), false))
			join(loops, target, source);
		see(loops, move_of(call->site, source, target), true);
	}
}

void tfs_log_find_turns(struct tfs_loops *loops)
{
	if (!loops->turned)
		return;
	memset(moves_of(loops), 0, (loops->mask + 1) * sizeof(uint64_t));
	for (uint32_t i = 0; i < loops->call_count; i++)
		find_moves(loops, &loops->calls[i]);
}

uint64_t tfs_log_address(struct tfs_loops *loops, uint64_t operand)
{
	const struct tfs_log_range *range = tfs_log_range(loops, TFS_LOG_ADDRESS(operand), false);

	return range && range->same ? range->same : TFS_LOG_ADDRESS(operand);
}

bool tfs_log_updates(struct tfs_loops *loops, uint32_t call, uint64_t address)
{
	uint64_t how = 0;

	for (uint32_t i = loops->calls[call].first; i < loops->calls[call + 1].first; i++)
		if (tfs_log_address(loops, loops->operands[i]) == address)
			how |= loops->operands[i];
	return (how & TFS_LOG_READS) != 0 && (how & TFS_LOG_WRITES) != 0;
}
