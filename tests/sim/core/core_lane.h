/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CORE_LANE_H
#define TFS_TESTS_SIM_CORE_LANE_H

/*
 * Who uses an engine of the device when. Work is placed once, when it is enqueued, and keeps its
 * place: what comes later starts where there is room for its share. So streams take turns with
 * whole operations, and small kernels of several streams run beside each other as far as their
 * shares add up to one device; bandwidth that such kernels compete for is a plain factor.
 */

#include <stdint.h>

/* More than the operations that several full streams hold, and as many that are over. */
#define SIM_LANE_SLOTS 8192

struct sim_slot {
	uint64_t start_ns, end_ns;
	double share;
};

struct sim_lane {
	/* By their ends, from `first` on; they move up only once they are at the end of the room.
	 */
	struct sim_slot slots[2 * SIM_LANE_SLOTS];
	unsigned first, count;
	uint64_t floor_ns; /* nothing starts before this */
	uint64_t now_ns;   /* of the thread that is furthest */
};

/*
 * Places work that may start at ready_ns, takes cost_ns alone, and a share of the engine above 0
 * and up to 1. Beside other work it takes `beside` times as long. Threads' times differ: what ended
 * before now_ns, the time of the caller, is forgotten when slots run out. Returns when it starts;
 * out_cost_ns is how long it takes.
 */
uint64_t sim_lane_place(struct sim_lane *lane, uint64_t now_ns, uint64_t ready_ns, uint64_t cost_ns,
	double share, double beside, uint64_t *out_cost_ns);

/* What was placed like this ends then; what was placed behind it stays. */
void sim_lane_move(struct sim_lane *lane, const struct sim_slot *slot, uint64_t end_ns);

#endif
