/* SPDX-License-Identifier: MIT */
#include "core.h"

#include <time.h>

#include "core_private.h"

/* When an operation starts and ends, in modelled and in shown time. */

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static enum sim_engine engine_of(const struct tfsim_work *work)
{
	switch (work->kind) {
	case TFSIM_KERNEL:
	case TFSIM_MEMSET:
	case TFSIM_GRAPH:
		return SIM_COMPUTE;
	case TFSIM_MEMCPY:
		if (work->src == TFSIM_DEVICE || work->src == TFSIM_MANAGED)
			return work->dst == TFSIM_DEVICE || work->dst == TFSIM_MANAGED
				       ? SIM_COMPUTE
				       : SIM_DOWNLOAD;
		return SIM_UPLOAD;
	default:
		return SIM_NO_ENGINE;
	}
}

void sim_time_model(struct CUstream_st *stream, struct sim_op *op)
{
	struct sim_device *device = &sim.device[stream->device];
	enum sim_engine engine = engine_of(&op->payload->work);
	uint64_t start;

	sim_self.model_ns += sim_call_ns();
	start = sim_self.model_ns + sim_latency_ns();
	if (stream->last)
		start = later(start, stream->last->model_end_ns);
	for (unsigned i = 0; i < op->dep_count; i++)
		start = later(start, op->deps[i]->model_end_ns);
	if (engine != SIM_NO_ENGINE && op->cost_ns)
		start = later(start, device->engine_model_ns[engine]);
	op->model_start_ns = start;
	op->model_end_ns = start + op->cost_ns;
	if (engine != SIM_NO_ENGINE && op->cost_ns)
		device->engine_model_ns[engine] = op->model_end_ns;
	sim.highest_model_ns = later(sim.highest_model_ns, op->model_end_ns);
}

void sim_time_show(struct CUstream_st *stream, struct sim_op *op)
{
	struct sim_device *device = &sim.device[stream->device];
	enum sim_engine engine = engine_of(&op->payload->work);
	uint64_t start = later(op->submit_ns + sim_latency_ns(), stream->shown_end_ns);

	for (unsigned i = 0; i < op->dep_count; i++)
		start = later(start, op->deps[i]->shown_end_ns);
	if (engine != SIM_NO_ENGINE && op->cost_ns) {
		start = later(start, device->engine_shown_ns[engine]);
		device->engine_shown_ns[engine] = start + op->cost_ns;
	}
	op->shown_start_ns = start;
	op->shown_end_ns = start + op->cost_ns;
}

uint64_t sim_time_cpu(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Late is what is over after its shown end; only what lateness an operation adds is its own. */
void sim_time_settle(struct CUstream_st *stream, struct sim_op *op, uint64_t computed_ns)
{
	uint64_t now = tfsim_now_ns(), behind;

	if (op->payload->work.kind == TFSIM_HOST) {
		op->shown_end_ns = later(op->shown_end_ns, now);
		return;
	}
	atomic_fetch_add(&sim.computed_ns, computed_ns);
	atomic_fetch_add(&sim.modelled_ns, op->cost_ns);
	behind = op->cost_ns && now > op->shown_end_ns ? now - op->shown_end_ns : 0;
	if (behind > stream->behind_ns) {
		atomic_fetch_add(&sim.overruns, 1);
		atomic_fetch_add(&sim.overrun_ns, behind - stream->behind_ns);
	}
	stream->behind_ns = behind;
}
