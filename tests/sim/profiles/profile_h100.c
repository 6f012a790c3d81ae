/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core_profile.h"

/*
 * An H100 with 80 GB in a server. Host times, latencies, gaps and rates of memory and link are
 * those of public recordings (Kineto and Nsight Systems, H100 80GB HBM3), which contain what the
 * profiler adds to each call, 0.5 to 2 us; the rate of pinned copies is what each of two ranks
 * reached while both copied. What memory takes to be given out, pinned and released, what graphs
 * take and copies from pageable memory are those of an H200 without a profiler, alone in its
 * machine (tests/gpu/results). Where there is no figure of either, it is the A100's. Rates of
 * arithmetic and of NVLink are the data sheet's times 0.7, 0.6 (tensor cores) and 0.8 (link): not
 * measured.
 */
const struct sim_profile sim_profile_h100 = {
	.name = "h100",
	.scale = 1,
	.host_paced = true,
	.memory = (uint64_t)80 << 30,
	.granularity = (uint64_t)2 << 20,
	.call =
		{
			[SIM_CALL_LAUNCH] = {4500, 5700},
			[SIM_CALL_LAUNCH_FIRST] = {150000, 180000},
			[SIM_CALL_COPY] = {4500, 7800},
			[SIM_CALL_STAGED] = {2200, 3000},
			[SIM_CALL_FILL] = {5600, 11200},
			[SIM_CALL_GRAPH] = {6600, 7600},
			[SIM_CALL_HOST] = {4500, 5700},
			[SIM_CALL_RECORD] = {1600, 2400},
			[SIM_CALL_WAIT] = {1500, 2000},
			[SIM_CALL_POOL] = {1500, 2000},
			[SIM_CALL_STREAM_SYNC] = {800, 1500},
			[SIM_CALL_EVENT_SYNC] = {800, 1500},
			[SIM_CALL_DEVICE_SYNC] = {6000, 7200},
		},
	.latency = {6400, 7500},
	.gap = {1200, 1540},
	.tail = {4500, 5000},
	.kernel_floor_ns = 2000,
	.copy_floor_ns = 1500,
	.rate =
		{
			[SIM_RATE_MEMORY] = 2900e3,
			[SIM_RATE_COPY] = 1750e3,
			[SIM_RATE_FILL] = 3200e3,
			[SIM_RATE_SINGLE] = 47e6,
			[SIM_RATE_TENSOR] = 297e6,
			[SIM_RATE_HALF] = 593e6,
			[SIM_RATE_DOUBLE] = 47e6,
			[SIM_RATE_PINNED_UP] = 27700,
			[SIM_RATE_PINNED_DOWN] = 27700,
			[SIM_RATE_PAGEABLE_UP] = 18500,
			[SIM_RATE_PAGEABLE_DOWN] = 22900,
			[SIM_RATE_MIGRATE] = 9000,
			[SIM_RATE_PEER] = 20000,
			[SIM_RATE_NVLINK] = 360e3,
			[SIM_RATE_COLLECTIVE] = 360e3,
		},
	.staged = (uint64_t)1 << 20,
	.fresh_down = 4,
	.alloc_small = {{3000, 4300}, 0},
	.alloc = {{1000, 1500}, 1480},
	.free_small = {{5000, 11000}, 0},
	.free = {{800, 1200}, 1310},
	.pin = {{20000, 40000}, 435000},
	.unpin = {{20000, 40000}, 130000},
	.enroll = {{20000, 40000}, 90000},
	.expel = {{20000, 40000}, 165000},
	.instantiate = {{5000, 7000}, 790},
	.update = {{300, 450}, 39},
	.discard = {{1500, 2200}, 260},
	.fault = {30000, 50000},
	.collective_latency = {16000, 28000},
	.multiprocessors = 132,
	.threads_each = 2048,
	.beside = 1.1,
	.device = "tfsim simulated GPU (H100)",
	.major = 9,
	.clock_khz = 1980000,
	.memory_khz = 2619000,
	.bus_bits = 5120,
	.cache_bytes = 50 << 20,
	.shared_bytes = 228 << 10,
};
