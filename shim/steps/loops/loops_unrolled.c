/* SPDX-License-Identifier: MIT */
/*
 * Unrolled loops, by hand or by the compiler: in one iteration the weights are updated several
 * times, each time from another site, and between two updates the same is done, to nearly the same
 * ranges. Each of these parts is a step then. An optimizer that touches the weights twice in a step
 * does something else in between.
 */
#include "shim/steps/loops/loops_log.h"

#define MOST (TFS_LOG_UNROLLED + 1)
#define LOOKED_AT 4u /* latest iterations, in which that must hold */

/* An iteration: the calls behind each update, up to the next one. Indices of calls. */
struct parts {
	uint32_t count;
	uint32_t start[MOST + 1]; /* the last one ends them */
	uint32_t sites[MOST];     /* of the updates that end the parts */
};

static uint64_t place_of(const struct tfs_loops *loops, uint32_t call)
{
	const struct tfs_log_site *site = &loops->sites[loops->calls[call].site];

	return site->depth > loops->step.level ? site->frames[loops->step.level] : 0;
}

/* The iteration that ends with the pair's update at `last`, and begins behind the one before. */
static bool divide(struct tfs_loops *loops, const struct tfs_log_pair *pair, uint32_t last,
	struct parts *out_parts)
{
	uint32_t found = 0;
	uint32_t ends[MOST + 1];

	for (uint32_t call = last + 1; call-- > pair->first - 1 && found <= MOST;) {
		if (!tfs_log_updates(loops, call, pair->address))
			continue;
		ends[found++] = call;
		if (found > 1 && loops->calls[call].site == pair->site)
			break;
	}
	if (found < 2 || loops->calls[ends[found - 1]].site != pair->site)
		return false;
	out_parts->count = found - 1;
	for (uint32_t i = 0; i < found; i++)
		out_parts->start[i] = ends[found - 1 - i] + 1;
	for (uint32_t i = 0; i < out_parts->count; i++)
		out_parts->sites[i] = loops->calls[out_parts->start[i + 1] - 1].site;
	return true;
}

/* Do two calls use their operands alike? Counts them, and those that are in the same range. */
static bool compare(
	struct tfs_loops *loops, uint32_t one, uint32_t other, uint32_t *all, uint32_t *same)
{
	const uint32_t first = loops->calls[one].first, second = loops->calls[other].first;
	const uint32_t count = loops->calls[one + 1].first - first;
	const uint64_t how = TFS_LOG_READS | TFS_LOG_WRITES | TFS_LOG_MAYBE;

	if (loops->calls[other + 1].first - second != count)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t a = loops->operands[first + i], b = loops->operands[second + i];

		if (((a ^ b) & how) != 0)
			return false;
		*same += tfs_log_address(loops, a) == tfs_log_address(loops, b);
	}
	*all += count;
	return true;
}

/* Is the same done in all parts, by sites of their own? */
static bool is_unrolled(struct tfs_loops *loops, const struct parts *parts)
{
	const uint32_t calls = parts->start[1] - parts->start[0];

	for (uint32_t i = 1; i < parts->count; i++) {
		uint32_t all = 0, same = 0;

		if (parts->start[i + 1] - parts->start[i] != calls ||
			parts->sites[i] == parts->sites[0])
			return false;
		for (uint32_t j = 0; j < calls; j++)
			if (!compare(loops, parts->start[0] + j, parts->start[i] + j, &all, &same))
				return false;
		if (4 * same < 3 * all)
			return false;
	}
	return parts->count > 1;
}

/* Where each part opens: as far behind its beginning as the anchor is in its own. */
static bool find_anchors(
	const struct tfs_loops *loops, const struct parts *parts, uint64_t anchors[MOST])
{
	const uint32_t calls = parts->start[1] - parts->start[0];
	uint32_t at = parts->start[0];

	while (at < parts->start[parts->count] &&
		(place_of(loops, at) != loops->step.anchor ||
			place_of(loops, at - 1) == loops->step.anchor))
		at++;
	if (at == parts->start[parts->count])
		return false;
	for (uint32_t i = 0; i < parts->count; i++) {
		const uint32_t opens = parts->start[i] + (at - parts->start[0]) % calls;

		anchors[i] = place_of(loops, opens);
		if (anchors[i] == 0 || place_of(loops, opens - 1) == anchors[i])
			return false;
		for (uint32_t j = 0; j < i; j++)
			if (anchors[j] == anchors[i])
				return false;
	}
	return true;
}

void tfs_log_unroll(struct tfs_loops *loops, const struct tfs_log_pair *pair)
{
	struct tfs_log_step *step = &loops->step;
	struct parts parts = {0}, before;
	uint64_t anchors[MOST];
	uint32_t last = pair->last - 1;

	for (uint32_t i = 0; i < LOOKED_AT; i++) {
		if (!divide(loops, pair, last, &before) || !is_unrolled(loops, &before) ||
			(i > 0 && before.count != parts.count))
			return;
		if (i == 0)
			parts = before;
		last = before.start[0] - 1;
	}
	if (!find_anchors(loops, &parts, anchors))
		return;
	for (uint32_t i = 0; i < parts.count; i++)
		if (anchors[i] != step->anchor)
			step->again[step->again_count++] = anchors[i];
	step->before *= parts.count;
	step->calls /= parts.count;
}
