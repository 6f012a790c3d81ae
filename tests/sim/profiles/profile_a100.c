/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core_profile.h"

/*
 * An A100 with 40 GB in a server. Host times and latencies are medians and ninetieth percentiles of
 * public recordings of training (Kineto, A100-SXM and A100-PG509), which contain what the profiler
 * adds to each call, 0.5 to 2 us. Rates of memory and link are those that the same recordings
 * reach; rates of arithmetic and of NVLink are the data sheet's, times what large GEMMs and copies
 * reach of them in general (0.7 on plain cores, 0.6 on tensor cores, 0.8 of a link): not measured.
 */
const struct sim_profile sim_profile_a100 = {
	.name = "a100",
	.scale = 1,
	.host_paced = true,
	.memory = (uint64_t)40 << 30,
	.granularity = (uint64_t)2 << 20,
	.call =
		{
			[SIM_CALL_LAUNCH] = {7000, 10500},
			[SIM_CALL_LAUNCH_FIRST] = {150000, 180000},
			[SIM_CALL_COPY] = {5500, 8900},
			[SIM_CALL_STAGED] = {11000, 14000},
			[SIM_CALL_FILL] = {5600, 11200},
			[SIM_CALL_GRAPH] = {7300, 11100},
			[SIM_CALL_HOST] = {7000, 10500},
			[SIM_CALL_RECORD] = {2000, 2600},
			[SIM_CALL_WAIT] = {1500, 2000},
			[SIM_CALL_POOL] = {1500, 2000},
			[SIM_CALL_STREAM_SYNC] = {3500, 5000},
			[SIM_CALL_EVENT_SYNC] = {2600, 8000},
			[SIM_CALL_DEVICE_SYNC] = {8000, 14000},
		},
	.latency = {10500, 13000},
	.gap = {1150, 1920},
	.tail = {5000, 9000},
	.kernel_floor_ns = 2100,
	.copy_floor_ns = 1500,
	.rate =
		{
			[SIM_RATE_MEMORY] = 1400e3,
			[SIM_RATE_COPY] = 950e3,
			[SIM_RATE_FILL] = 1450e3,
			[SIM_RATE_SINGLE] = 13.6e6,
			[SIM_RATE_TENSOR] = 94e6,
			[SIM_RATE_HALF] = 187e6,
			[SIM_RATE_DOUBLE] = 13.6e6,
			[SIM_RATE_PINNED_UP] = 25700,
			[SIM_RATE_PINNED_DOWN] = 25700,
			[SIM_RATE_PAGEABLE_UP] = 12000,
			[SIM_RATE_PAGEABLE_DOWN] = 9000,
			[SIM_RATE_MIGRATE] = 9000,
			[SIM_RATE_PEER] = 20000,
			[SIM_RATE_NVLINK] = 240e3,
			[SIM_RATE_COLLECTIVE] = 230e3,
		},
	.staged = (uint64_t)1 << 20,
	.fresh_down = 4,
	/* 200 us for a few MiB, 355 for 192 and 807 for 768. */
	.alloc_small = {{3000, 4300}, 0},
	.alloc = {{204000, 284000}, 785},
	/* On a node of eight; a T4 alone takes 130 to 382 us. */
	.free_small = {{5000, 11000}, 0},
	.free = {{1450000, 2600000}, 0},
	/* 8 MiB: 3.5 ms, and on a T4 1.2 to 1.5 ms to release. Registering is taken to cost the
	   same. */
	.pin = {{20000, 40000}, 435000},
	.unpin = {{20000, 40000}, 165000},
	.enroll = {{20000, 40000}, 435000},
	.expel = {{20000, 40000}, 165000},
	/* Documents on managed memory: 20 to 50 us. */
	/* An H200's: 11.6, 49.5 and 213 us for 8, 64 and 256 launches; updated 0.6, 2.4 and 10.6;
	   destroyed 3.6, 14 and 69. */
	.instantiate = {{5000, 7000}, 790},
	.update = {{300, 450}, 39},
	.discard = {{1500, 2200}, 260},
	.fault = {30000, 50000},
	.collective_latency = {20000, 35000},
	.multiprocessors = 108,
	.threads_each = 2048,
	.beside = 1.1,
	.device = "tfsim simulated GPU (A100)",
	.major = 8,
	.clock_khz = 1410000,
	.memory_khz = 1215000,
	.bus_bits = 5120,
	.cache_bytes = 40 << 20,
	.shared_bytes = 164 << 10,
};
