/* SPDX-License-Identifier: MIT */
#include "shim/steps/placement.h"

/* A window of fewer steps is not worth its first one, which is no evidence. */
#define LEAST_STEPS 3u

uint64_t tfs_placement_next(uint64_t first, uint64_t index)
{
	uint64_t step = first;

	if (first == 0)
		return UINT64_MAX;
	while (step < index && step <= UINT64_MAX / 2)
		step *= 2;
	return step < index ? UINT64_MAX : step;
}

uint64_t tfs_placement_steps(uint64_t wanted, const struct tfs_placement_room *room)
{
	const uint64_t least = wanted < LEAST_STEPS ? wanted : LEAST_STEPS;
	const uint64_t each = room->steps ? room->used_bytes / room->steps : 0;
	const uint64_t fit = each ? room->left_bytes / 2 / each : wanted;
	const uint64_t steps = fit < wanted ? fit : wanted;

	return steps < least ? 0 : steps;
}
