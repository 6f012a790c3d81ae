/* SPDX-License-Identifier: MIT */
/* Which update is that of the weights, and so which loop is the step. */
#include "shim/steps/loops/loops_log.h"

#define CONFIRM_UNCERTAIN 12u /* iterations, where it is not known that it is an update */
#define PATIENCE 16u          /* times as many, while a longer loop is not yet confirmed */
#define ALIVE 4u              /* periods that may have passed since the latest update */
#define ALIKE 0.75            /* part of an iteration's ranges that those before it had, too */
#define HALF_ALIKE 0.5        /* enough after so many times as many iterations: */
#define HALF_ALIKE_TIMES 4u
#define TRIES 16u

static uint32_t main_level(const struct tfs_log_pair *pair)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < TFS_LOOPS_DEPTH; i++)
		if (pair->at[i] > pair->at[best])
			best = i;
	return best;
}

/* Calls from one update to the next. */
static double period(const struct tfs_log_pair *pair)
{
	return pair->count > 1 ? (double)(pair->last - pair->first) / (pair->count - 1) : 0;
}

/* Nearly every update is read in a later iteration, and nothing else is ever put there. */
static bool may_be_regular(
	const struct tfs_loops *loops, const struct tfs_log_pair *pair, double likely_period)
{
	return 4 * pair->carried >= 3 * (pair->count - 1) && 8 * pair->overwritten <= pair->count &&
	       loops->call_count - pair->last <= ALIVE * likely_period;
}

static bool is_regular(const struct tfs_loops *loops, const struct tfs_log_pair *pair)
{
	return pair->carried >= 2 && may_be_regular(loops, pair, period(pair));
}

static uint32_t needed(const struct tfs_log_pair *pair)
{
	return pair->certain ? TFS_LOOPS_CONFIRM : CONFIRM_UNCERTAIN;
}

static bool is_confirmed(const struct tfs_log_pair *pair, uint32_t times)
{
	return pair->at[main_level(pair)] >= times * needed(pair);
}

bool tfs_log_is_update(struct tfs_loops *loops, const struct tfs_log_pair *pair, uint32_t call)
{
	return loops->calls[call].site == pair->site && tfs_log_updates(loops, call, pair->address);
}

/* Returns the round that touched the range before this one. */
static uint32_t touch(struct tfs_loops *loops, uint64_t address, uint32_t round)
{
	struct tfs_log_range *range = tfs_log_range(loops, address, true);
	const uint32_t before = range ? range->round : 0;

	if (range)
		range->round = round;
	return before;
}

/* The part of an iteration's ranges that one of the two before it touched: the mean of all. Those
 * of a training are the same but for the input; those of a loop over layers are each layer's. */
static double alikeness(struct tfs_loops *loops, const struct tfs_log_pair *pair)
{
	uint32_t round = 3, known = 0, all = 0, rounds = 0;
	double sum = 0;

	for (uint32_t i = 0; i <= loops->mask; i++)
		loops->ranges[i].round = 0;
	for (uint32_t call = pair->first; call < pair->last; call++) {
		for (uint32_t i = loops->calls[call].first; i < loops->calls[call + 1].first; i++) {
			const uint64_t address = tfs_log_address(loops, loops->operands[i]);
			const uint32_t before = touch(loops, address, round);

			all += before != round;
			known += before != round && before + 2 >= round;
		}
		if (!tfs_log_is_update(loops, pair, call))
			continue;
		if (round > 4 && all > 0) {
			sum += (double)known / all;
			rounds++;
		}
		round++;
		known = all = 0;
	}
	return rounds > 0 ? sum / rounds : 0;
}

/* Do both go round with the same loop? Then they need not both be looked at. */
static bool is_same_loop(const struct tfs_loops *loops, const struct tfs_log_pair *one,
	const struct tfs_log_pair *other)
{
	const uint32_t level = main_level(one);
	const struct tfs_log_site *first = &loops->sites[one->site];
	const struct tfs_log_site *second = &loops->sites[other->site];

	if (main_level(other) != level || one->count > other->count + 1 ||
		other->count > one->count + 1)
		return false;
	for (uint32_t i = 0; i < level; i++)
		if (first->frames[i] != second->frames[i])
			return false;
	return true;
}

/* Those that are known to be updates before those that may be; of either, the longest loop. */
static bool is_better(const struct tfs_log_pair *one, const struct tfs_log_pair *other)
{
	if (!other || one->certain != other->certain)
		return !other || one->certain;
	return period(one) > period(other);
}

static bool is_refused(const struct tfs_loops *loops, const struct tfs_log_pair *pair,
	const struct tfs_log_pair *const *refused, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (is_same_loop(loops, pair, refused[i]))
			return true;
	return false;
}

static struct tfs_log_pair *find_best(
	struct tfs_loops *loops, const struct tfs_log_pair *const *refused, uint32_t count)
{
	struct tfs_log_pair *best = NULL;

	for (uint32_t i = 0; i < loops->pair_count; i++) {
		struct tfs_log_pair *pair = &loops->pairs[i];

		if (!pair->unfed && is_regular(loops, pair) && is_confirmed(pair, 1) &&
			is_better(pair, best) && !is_refused(loops, pair, refused, count))
			best = pair;
	}
	return best;
}

/* Does the site come by in most iterations of the shorter loop? Then it is part of that, and only
 * uses its ranges by turns. */
static bool is_part_of(struct tfs_loops *loops, const struct tfs_log_pair *best, uint32_t site)
{
	uint32_t rounds = 0;
	bool there = false;

	for (uint32_t call = best->first; call < best->last; call++) {
		there = there || loops->calls[call].site == site;
		if (!tfs_log_is_update(loops, best, call))
			continue;
		rounds += there;
		there = false;
	}
	return 4 * rounds >= 3 * (best->count - 1);
}

/* Calls that an iteration of the pair's loop has, as far as that can be said already. */
static double likely_period(const struct tfs_log_pair *best, const struct tfs_log_pair *pair)
{
	if (pair->count > 1)
		return period(pair);
	return pair->first > best->first ? (double)(pair->first - best->first) : 0;
}

/* Is there a longer loop that is not confirmed yet, and still may be? */
static bool must_wait(struct tfs_loops *loops, const struct tfs_log_pair *best)
{
	uint32_t tries = TRIES;

	if (is_confirmed(best, PATIENCE))
		return false;
	for (uint32_t i = 0; i < loops->pair_count && tries > 0; i++) {
		const struct tfs_log_pair *pair = &loops->pairs[i];
		const double likely = likely_period(best, pair);

		if ((best->certain && !pair->certain) || is_confirmed(pair, 1) ||
			likely < TFS_LOG_LONGER * period(best) ||
			!may_be_regular(loops, pair, likely))
			continue;
		if (!is_part_of(loops, best, pair->site))
			return true;
		tries--;
	}
	return false;
}

enum verdict { NO, NOT_YET, YES };

/* In the function whose loop carries the range; or in one of those around it, where that function
 * begins anew for each update: it updates, and then reads in a loop over layers. */
static bool place(struct tfs_loops *loops, const struct tfs_log_pair *pair)
{
	for (uint32_t level = main_level(pair) + 1; level-- > 0;)
		if (tfs_log_place(loops, pair, level))
			return true;
	return false;
}

/* Does the same come again and again in it, and is there a place to open it? */
static enum verdict judge(struct tfs_loops *loops, const struct tfs_log_pair *pair)
{
	const double alike = alikeness(loops, pair);

	if (alike < HALF_ALIKE)
		return NO;
	if (alike < ALIKE && !is_confirmed(pair, HALF_ALIKE_TIMES))
		return NOT_YET;
	return place(loops, pair) ? YES : NO;
}

static bool settle(struct tfs_loops *loops, const struct tfs_log_pair *best)
{
	if (must_wait(loops, best))
		return false;
	loops->step.certain = best->certain;
	loops->step.calls = period(best);
	tfs_log_unroll(loops, best);
	return true;
}

bool tfs_log_choose(struct tfs_loops *loops)
{
	const struct tfs_log_pair *refused[TRIES];
	uint32_t count = 0;

	for (uint32_t tries = 0; tries < TRIES; tries++) {
		struct tfs_log_pair *best = find_best(loops, refused, count);

		if (best && !tfs_log_is_fed(loops, best)) {
			best->unfed = true;
			continue;
		}
		const enum verdict verdict = best ? judge(loops, best) : NOT_YET;
		if (verdict != NO)
			return verdict == YES && settle(loops, best);
		refused[count++] = best;
	}
	return false;
}
