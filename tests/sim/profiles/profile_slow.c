/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core_profile.h"

/*
 * A small GPU whose arithmetic is slow enough that a CPU core computes the true results in a third
 * of the scaled time. Bus figures are those of a PCIe 4 card. Nothing varies, the host is not held
 * by what it enqueues, and pinning is free: results are true here, ratios are not.
 */
#define CALL                                                                                       \
	{                                                                                          \
		500, 500                                                                           \
	}

const struct sim_profile sim_profile_slow = {
	.name = "slow",
	.scale = 20,
	.memory = (uint64_t)8 << 30,
	.call =
		{
			[SIM_CALL_LAUNCH] = CALL,
			[SIM_CALL_LAUNCH_FIRST] = CALL,
			[SIM_CALL_COPY] = CALL,
			[SIM_CALL_STAGED] = CALL,
			[SIM_CALL_FILL] = CALL,
			[SIM_CALL_GRAPH] = CALL,
			[SIM_CALL_HOST] = CALL,
			[SIM_CALL_RECORD] = CALL,
			[SIM_CALL_WAIT] = CALL,
			[SIM_CALL_POOL] = CALL,
			[SIM_CALL_STREAM_SYNC] = CALL,
			[SIM_CALL_EVENT_SYNC] = CALL,
			[SIM_CALL_DEVICE_SYNC] = CALL,
		},
	.latency = {3500, 3500},
	.kernel_floor_ns = 2000,
	.copy_floor_ns = 1500,
	.rate =
		{
			[SIM_RATE_MEMORY] = 20000,
			[SIM_RATE_COPY] = 10000,
			[SIM_RATE_FILL] = 20000,
			[SIM_RATE_SINGLE] = 100000,
			[SIM_RATE_TENSOR] = 100000,
			[SIM_RATE_HALF] = 100000,
			[SIM_RATE_DOUBLE] = 100000,
			[SIM_RATE_PINNED_UP] = 25000,
			[SIM_RATE_PINNED_DOWN] = 25000,
			[SIM_RATE_PAGEABLE_UP] = 6000,
			[SIM_RATE_PAGEABLE_DOWN] = 6000,
			[SIM_RATE_PEER] = 10000,
			[SIM_RATE_NVLINK] = 10000,
			[SIM_RATE_COLLECTIVE] = 10000,
		},
	.staged = (uint64_t)1 << 20,
	.fresh_down = 1,
	/* Mapping: 32 ms per GiB, measured by others on a GH200. */
	.alloc_small = {{2000, 2000}, 0},
	.alloc = {{2000, 2000}, 31250},
	.free_small = {{2000, 2000}, 0},
	.free = {{2000, 2000}, 0},
	.collective_latency = {6000, 6000},
	.multiprocessors = 16,
	.device = "tfsim simulated GPU",
	.major = 8,
	.clock_khz = 1000000,
	.memory_khz = 1250000,
	.bus_bits = 64,
	.cache_bytes = 4 << 20,
	.shared_bytes = 164 << 10,
};
