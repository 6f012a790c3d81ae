/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core.h"

#include <sched.h>
#include <time.h>

#include "tests/sim/core/core_private.h"

/* Sleeping is inexact by the timer slack; the rest is yielded away, but for what a yield may take.
 */
#define SLACK_NS 60000
#define YIELD_NS 20000

uint64_t tfsim_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
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

uint64_t tfsim_host_modelled_ns(void)
{
	return sim_enter() == cudaSuccess ? sim_self.model_ns : 0;
}

void sim_call_enter(void)
{
	if (!sim.profile || !sim.profile->host_paced)
		return;
	sim_self.call_start_ns = tfsim_now_ns();
	sim_self.call_ns = 0;
}

void sim_call_leave(void)
{
	if (sim.profile && sim.profile->host_paced && sim_self.call_ns)
		sim_pace_until(sim_self.call_start_ns + sim_self.call_ns);
	sim_self.call_ns = 0;
}

void sim_call_spend(uint64_t cost_ns)
{
	sim_self.model_ns += cost_ns;
	sim_self.call_ns += cost_ns;
}

uint64_t sim_submit_ns(void)
{
	return sim.profile->host_paced && sim_self.call_start_ns
		       ? sim_self.call_start_ns + sim_self.call_ns
		       : tfsim_now_ns();
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
		else if (shown_ns - now > YIELD_NS)
			sched_yield();
	}
}
