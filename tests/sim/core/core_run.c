/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core.h"

#include "tests/sim/core/core_private.h"

/* What an operation runs, and when that ends. */

/* Where nothing is computed, what the host would see or wait for still happens. */
bool sim_must_run(const struct tfsim_work *work)
{
	if (!work->run || sim.compute || work->meets)
		return work->run != NULL;
	switch (work->kind) {
	case TFSIM_KERNEL:
		return false;
	case TFSIM_MEMCPY:
	case TFSIM_MEMSET:
		return work->dst != TFSIM_DEVICE;
	default:
		return true;
	}
}

uint64_t tfsim_running_start_ns(void)
{
	return sim_self.running_start_ns;
}

void tfsim_running_end(uint64_t end_ns)
{
	if (end_ns > sim_self.running_start_ns)
		sim_self.running_end_ns = end_ns;
}

bool tfsim_computes(void)
{
	sim_enter();
	return sim.compute;
}

uint64_t sim_run_work(const struct tfsim_work *work, void *args, uint64_t start_ns, uint64_t end_ns)
{
	sim_self.running_start_ns = start_ns;
	sim_self.running_end_ns = end_ns;
	if (sim_must_run(work))
		sim_run_guarded(work->run, args);
	return sim_self.running_end_ns;
}
