/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core.h"

#include <math.h>

#include "tests/sim/core/core_private.h"

/* What the profile says that device work takes. */

static uint64_t scaled(double ns)
{
	return (uint64_t)(ns * sim.scale + 0.5);
}

static double at_rate(uint64_t amount, enum sim_rate rate)
{
	return (double)amount / sim.profile->rate[rate] * 1e3;
}

uint64_t sim_rate_ns(uint64_t amount, enum sim_rate rate)
{
	return scaled(at_rate(amount, rate));
}

uint64_t sim_draw(const struct sim_figure *figure)
{
	return scaled(sim_figure_draw(figure, ++sim_self.draws));
}

uint64_t sim_sized_ns(const struct sim_sized *sized, uint64_t bytes)
{
	return sim_draw(&sized->call) + scaled((double)bytes / (1 << 20) * sized->mib_ns);
}

uint64_t sim_counted_ns(const struct sim_counted *counted, uint64_t count)
{
	return sim_draw(&counted->call) + scaled((double)count * counted->each_ns);
}

uint64_t tfsim_cost_ns(uint64_t hardware_ns)
{
	sim_enter();
	return scaled((double)hardware_ns);
}

uint64_t tfsim_cost_math(enum tfsim_math math, uint64_t bytes, uint64_t flops)
{
	static const enum sim_rate rates[] = {
		[TFSIM_SINGLE] = SIM_RATE_SINGLE,
		[TFSIM_TENSOR] = SIM_RATE_TENSOR,
		[TFSIM_HALF] = SIM_RATE_HALF,
		[TFSIM_DOUBLE] = SIM_RATE_DOUBLE,
	};

	sim_enter();
	return scaled(sim.profile->kernel_floor_ns +
		      fmax(at_rate(bytes, SIM_RATE_MEMORY), at_rate(flops, rates[math])));
}

bool tfsim_tensor_cores(void)
{
	sim_enter();
	return sim.profile->rate[SIM_RATE_TENSOR] > sim.profile->rate[SIM_RATE_SINGLE];
}

/* 4,096 x 4,095 instead of 4,096 x 4,096 on an H200: 139 TFLOP/s instead of 421 with TF32, 140
 * instead of 844 with halves. */
uint64_t tfsim_unaligned(enum tfsim_math math, uint64_t bits)
{
	if (bits % 16 == 0 || !tfsim_tensor_cores())
		return 1;
	return math == TFSIM_TENSOR ? 3 : math == TFSIM_HALF ? 6 : 1;
}

uint64_t tfsim_cost_kernel(uint64_t bytes, uint64_t flops)
{
	return tfsim_cost_math(TFSIM_SINGLE, bytes, flops);
}

uint64_t tfsim_cost_fill(uint64_t bytes)
{
	sim_enter();
	return scaled(sim.profile->kernel_floor_ns + at_rate(bytes, SIM_RATE_FILL));
}

static bool on_device(enum tfsim_memory kind)
{
	return kind == TFSIM_DEVICE || kind == TFSIM_MANAGED;
}

uint64_t tfsim_cost_copy(uint64_t bytes, enum tfsim_memory dst, enum tfsim_memory src)
{
	enum sim_rate rate = SIM_RATE_PINNED_UP;

	sim_enter();
	if (on_device(dst) && on_device(src))
		rate = SIM_RATE_COPY;
	else if (on_device(src))
		rate = dst == TFSIM_PAGEABLE ? SIM_RATE_PAGEABLE_DOWN : SIM_RATE_PINNED_DOWN;
	else if (src == TFSIM_PAGEABLE)
		rate = SIM_RATE_PAGEABLE_UP;
	return scaled(sim.profile->copy_floor_ns + at_rate(bytes, rate));
}

uint64_t tfsim_cost_collective(uint64_t bus_bytes, bool typical)
{
	const struct sim_figure *latency;

	sim_enter();
	latency = &sim.profile->collective_latency;
	return (typical ? scaled(latency->median_ns) : sim_draw(latency)) +
	       scaled(at_rate(bus_bytes, SIM_RATE_COLLECTIVE));
}
