/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core_lane.h"

#include <stdbool.h>
#include <string.h>

/* Shares are quotients of whole numbers: a little more than one is one. */
#define WHOLE 1.000001

static struct sim_slot *slot_at(struct sim_lane *lane, unsigned i)
{
	return &lane->slots[lane->first + i];
}

static void drop_first(struct sim_lane *lane, unsigned count)
{
	lane->first += count;
	lane->count -= count;
}

static void move_up(struct sim_lane *lane)
{
	memmove(lane->slots, slot_at(lane, 0), lane->count * sizeof(lane->slots[0]));
	lane->first = 0;
}

/* The first slot that ends after this. */
static unsigned after(struct sim_lane *lane, uint64_t ns)
{
	unsigned low = 0, high = lane->count;

	while (low < high) {
		const unsigned middle = low + (high - low) / 2;

		if (slot_at(lane, middle)->end_ns > ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/*
 * Room for one more. What is over by any thread's time is given up first, but no more than half of
 * the slots: a thread that is behind may still have work for that time. Nothing starts any more
 * before what was given up has ended.
 */
static void make_room(struct sim_lane *lane)
{
	unsigned count;

	if (lane->count < SIM_LANE_SLOTS)
		return;
	count = after(lane, lane->now_ns);
	count = count > SIM_LANE_SLOTS / 2 ? SIM_LANE_SLOTS / 2 : count ? count : 1;
	if (slot_at(lane, count - 1)->end_ns > lane->floor_ns)
		lane->floor_ns = slot_at(lane, count - 1)->end_ns;
	drop_first(lane, count);
}

/*
 * Whether a share fits from start to end beside what is placed. Everything that meets the span
 * counts as if it lasted through it, so there is never too much side by side. Sets whether anything
 * does, and if it does not fit, the earliest end of what is in the way.
 */
static bool fits(struct sim_lane *lane, uint64_t start_ns, uint64_t end_ns, double share,
	bool *out_others, uint64_t *out_next_ns)
{
	double sum = share;

	*out_others = false;
	for (unsigned i = after(lane, start_ns); i < lane->count; i++) {
		const struct sim_slot *slot = slot_at(lane, i);

		if (slot->start_ns >= end_ns)
			continue;
		if (!*out_others)
			*out_next_ns = slot->end_ns;
		*out_others = true;
		sum += slot->share;
		if (sum > WHOLE)
			return false;
	}
	return true;
}

static void insert(struct sim_lane *lane, const struct sim_slot *slot)
{
	const unsigned at = after(lane, slot->end_ns);

	if (lane->first + lane->count == 2 * SIM_LANE_SLOTS)
		move_up(lane);
	memmove(slot_at(lane, at + 1), slot_at(lane, at),
		(lane->count - at) * sizeof(lane->slots[0]));
	*slot_at(lane, at) = *slot;
	lane->count++;
}

uint64_t sim_lane_place(struct sim_lane *lane, uint64_t now_ns, uint64_t ready_ns, uint64_t cost_ns,
	double share, double beside, uint64_t *out_cost_ns)
{
	const uint64_t longer = (uint64_t)((double)cost_ns * beside);
	uint64_t start, next = 0;
	bool others = true;

	lane->now_ns = now_ns > lane->now_ns ? now_ns : lane->now_ns;
	make_room(lane);
	start = ready_ns > lane->floor_ns ? ready_ns : lane->floor_ns;
	while (!fits(lane, start, start + cost_ns, share, &others, &next) ||
		(others && !fits(lane, start, start + longer, share, &others, &next)))
		start = next;
	*out_cost_ns = others ? longer : cost_ns;
	insert(lane, &(struct sim_slot){start, start + *out_cost_ns, share});
	return start;
}

void sim_lane_move(struct sim_lane *lane, const struct sim_slot *slot, uint64_t end_ns)
{
	for (unsigned i = 0; i < lane->count; i++) {
		struct sim_slot *at = &lane->slots[i];

		if (at->start_ns != slot->start_ns || at->end_ns != slot->end_ns)
			continue;
		lane->count--;
		memmove(at, at + 1, (lane->count - i) * sizeof(*at));
		break;
	}
	make_room(lane);
	insert(lane, &(struct sim_slot){slot->start_ns, end_ns, slot->share});
}
