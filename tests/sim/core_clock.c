/* SPDX-License-Identifier: MIT */
#include "core.h"

#include <sched.h>
#include <time.h>

#include "core_private.h"

/*
 * The modelled hardware: a small GPU whose arithmetic is slow enough that a CPU core computes the
 * true results in a third of the scaled time. Bus figures are those of a PCIe 4 card.
 */
#define PINNED_BYTES_PER_US 25000.0
#define PAGEABLE_BYTES_PER_US 6000.0
#define MEMORY_BYTES_PER_US 20000.0
#define FLOPS_PER_US 100000.0
#define COPY_FLOOR_NS 1500.0
#define KERNEL_FLOOR_NS 2000.0
#define LATENCY_NS 3000.0
#define CALL_NS 500.0
/* Host time to map device memory: 32 ms per GiB, measured by others on a GH200; small blocks lie
 * in memory that is mapped by then. */
#define MAP_NS_PER_MIB 31250.0
#define MAP_LEAST ((uint64_t)1 << 20)
#define MEMORY_CALL_NS 2000.0

/* Sleeping is inexact by the timer slack; the rest is yielded away. */
#define SLACK_NS 60000

uint64_t tfsim_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t scaled(double ns)
{
	return (uint64_t)(ns * sim.scale + 0.5);
}

uint64_t tfsim_cost_ns(uint64_t hardware_ns)
{
	sim_enter();
	return scaled((double)hardware_ns);
}

uint64_t tfsim_cost_kernel(uint64_t bytes, uint64_t flops)
{
	double memory = (double)bytes / MEMORY_BYTES_PER_US * 1e3;
	double compute = (double)flops / FLOPS_PER_US * 1e3;

	sim_enter();
	return scaled(KERNEL_FLOOR_NS + (memory > compute ? memory : compute));
}

static bool on_device(enum tfsim_memory kind)
{
	return kind == TFSIM_DEVICE || kind == TFSIM_MANAGED;
}

uint64_t tfsim_cost_copy(uint64_t bytes, enum tfsim_memory dst, enum tfsim_memory src)
{
	double rate = PINNED_BYTES_PER_US;

	sim_enter();
	if (on_device(dst) && on_device(src))
		rate = MEMORY_BYTES_PER_US / 2;
	else if (dst == TFSIM_PAGEABLE || src == TFSIM_PAGEABLE)
		rate = PAGEABLE_BYTES_PER_US;
	return scaled(COPY_FLOOR_NS + (double)bytes / rate * 1e3);
}

uint64_t sim_call_ns(void)
{
	return scaled(CALL_NS);
}

uint64_t sim_latency_ns(void)
{
	return scaled(LATENCY_NS);
}

uint64_t sim_map_ns(uint64_t bytes)
{
	const double mapped = bytes < MAP_LEAST ? 0 : (double)bytes / (1 << 20) * MAP_NS_PER_MIB;

	return scaled(MEMORY_CALL_NS + mapped);
}

void sim_host_busy(uint64_t start_ns, uint64_t cost_ns)
{
	sim_self.model_ns += cost_ns;
	sim_pace_until(start_ns + cost_ns);
}

void tfsim_host_spend(uint64_t ns)
{
	if (sim_enter() == cudaSuccess)
		sim_self.model_ns += ns;
}

void sim_pace_until(uint64_t shown_ns)
{
	uint64_t now;

	if (!sim.pace || atomic_load(&sim.stopping))
		return;
	for (now = tfsim_now_ns(); now < shown_ns; now = tfsim_now_ns()) {
		uint64_t until = shown_ns - SLACK_NS;
		struct timespec at = {
			.tv_sec = (time_t)(until / 1000000000u),
			.tv_nsec = (long)(until % 1000000000u),
		};

		if (until > now)
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		else
			sched_yield();
	}
}
