/* SPDX-License-Identifier: MIT */
/* Where no weights are updated: the loop that most calls are in, and its iterations for steps. */
#include <string.h>

#include "shim/steps/loops/loops_log.h"

#define ROUNDS 16u     /* that a loop must have gone */
#define TALLIES 4096u  /* a power of two */
#define MOST_TRIES 64u /* in a table that is full, or nearly */
#define LEAST_CALLS                                                                                \
	2u /* of an iteration: what is called again and again alone is no loop of work */

/* How often a loop went round: it is known by the place that it comes by again, and by all stacks
 * that lead there. */
struct tally {
	uint64_t hash;  /* 0 = none */
	uint32_t level; /* of its function */
	uint32_t site;  /* of a call from there */
	uint32_t first, last;
	uint32_t rounds;
};

/* The memory that holds pairs while updates are looked for. */
static struct tally *tallies_of(struct tfs_loops *loops)
{
	_Static_assert(sizeof(loops->pairs) >= TALLIES * sizeof(struct tally), "tallies fit in");
	return (struct tally *)(void *)loops->pairs;
}

static uint64_t hash_of(const struct tfs_log_site *site, uint32_t level)
{
	uint64_t hash = level + 1;

	for (uint32_t i = 0; i <= level; i++)
		hash = (hash ^ site->frames[i]) * UINT64_C(0x9E3779B97F4A7C15) ^ hash >> 29;
	return hash | 1;
}

static struct tally *find(struct tally *tallies, uint64_t hash)
{
	uint32_t at = (uint32_t)(hash >> 32) % TALLIES;

	for (uint32_t tries = 0; tries < MOST_TRIES; tries++, at = (at + 1) % TALLIES)
		if (tallies[at].hash == hash || tallies[at].hash == 0)
			return &tallies[at];
	return NULL;
}

static void count_rounds(struct tfs_loops *loops, struct tally *tallies)
{
	struct tfs_log_motion motion = {0};

	memset(tallies, 0, TALLIES * sizeof(*tallies));
	loops->paths[0].count = 0;
	for (uint32_t now = 1; now <= loops->call_count; now++) {
		const uint32_t level = tfs_log_move(loops, &motion, now);

		if (motion.round[level] != now)
			continue;
		const uint64_t hash = hash_of(motion.site, level);
		struct tally *tally = find(tallies, hash);
		if (!tally)
			continue;
		if (tally->rounds++ == 0) {
			tally->hash = hash;
			tally->level = level;
			tally->site = loops->calls[now - 1].site;
			tally->first = now;
		}
		tally->last = now;
	}
}

/* Most calls are in it, it comes again and again, and does something to memory. */
static bool dominates(const struct tfs_loops *loops, const struct tally *tally)
{
	const uint32_t calls = tally->last - tally->first;
	const uint32_t operands =
		loops->calls[tally->last - 1].first - loops->calls[tally->first - 1].first;

	return tally->rounds >= ROUNDS && 2 * (uint64_t)calls >= loops->call_count &&
	       calls >= LEAST_CALLS * (tally->rounds - 1) && operands >= tally->rounds;
}

/* The outermost; of those in one function, which go round by turns, the one that does so least. */
static const struct tally *find_dominant(const struct tfs_loops *loops, const struct tally *tallies)
{
	const struct tally *best = NULL;

	for (uint32_t i = 0; i < TALLIES; i++) {
		const struct tally *tally = &tallies[i];

		if (tally->hash == 0 || !dominates(loops, tally))
			continue;
		if (!best || tally->level < best->level ||
			(tally->level == best->level && tally->rounds < best->rounds))
			best = tally;
	}
	return best;
}

static void add_place(struct tfs_log_step *step, uint64_t address)
{
	for (uint32_t i = 0; i < step->member_count; i++)
		if (step->members[i] == address)
			return;
	if (step->member_count < TFS_LOOPS_PLACES)
		step->members[step->member_count++] = address;
	step->lowest = address < step->lowest ? address : step->lowest;
	step->highest = address > step->highest ? address : step->highest;
}

static void fill_in(struct tfs_loops *loops, const struct tally *tally)
{
	const struct tfs_log_site *own = &loops->sites[tally->site];
	const uint32_t level = tally->level;
	struct tfs_log_step *step = &loops->step;

	*step = (struct tfs_log_step){.level = level,
		.anchor = own->frames[level],
		.lowest = own->frames[level],
		.highest = own->frames[level],
		.before = tally->rounds,
		.calls = (double)(tally->last - tally->first) / (tally->rounds - 1),
		.dominant = true};
	memcpy(step->prefix, own->frames, level * sizeof(step->prefix[0]));
	for (uint32_t now = tally->first; now <= tally->last; now++) {
		const struct tfs_log_site *site = &loops->sites[loops->calls[now - 1].site];

		if (site->depth > level &&
			memcmp(site->frames, own->frames, level * sizeof(site->frames[0])) == 0)
			add_place(step, site->frames[level]);
	}
}

bool tfs_loops_dominate(struct tfs_loops *loops)
{
	if (loops->found || loops->call_count == 0)
		return false;
	struct tally *tallies = tallies_of(loops);
	count_rounds(loops, tallies);
	const struct tally *best = find_dominant(loops, tallies);
	if (best)
		fill_in(loops, best);
	loops->found = best != NULL;
	return loops->found;
}

bool tfs_loops_dominant(const struct tfs_loops *loops)
{
	return loops->found && loops->step.dominant;
}
