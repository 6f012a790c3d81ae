/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core.h"

#include <time.h>

#include "tests/sim/core/core_private.h"

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
		if (work->peer)
			return SIM_PEER;
		if (work->src == TFSIM_DEVICE || work->src == TFSIM_MANAGED)
			return work->dst == TFSIM_DEVICE || work->dst == TFSIM_MANAGED
				       ? SIM_COMPUTE
				       : SIM_DOWNLOAD;
		return SIM_UPLOAD;
	default:
		return SIM_NO_ENGINE;
	}
}

/* The part of the device that a kernel's blocks fill: all of it from one whole wave on. */
static double share_of(const struct tfsim_work *work)
{
	const struct sim_profile *profile = sim.profile;
	uint64_t threads = (uint64_t)work->block.x * work->block.y * work->block.z;
	uint64_t blocks = (uint64_t)work->grid.x * work->grid.y * work->grid.z;
	uint64_t each = threads ? profile->threads_each / threads : 0;
	double share;

	if (work->kind != TFSIM_KERNEL || !profile->threads_each || !blocks)
		return 1;
	share = (double)blocks / ((double)(each ? each : 1) * profile->multiprocessors);
	return share < 1 ? share : 1;
}

static enum sim_call call_of(const struct tfsim_work *work)
{
	switch (work->kind) {
	case TFSIM_KERNEL:
		return sim_first_use(work->name) ? SIM_CALL_LAUNCH_FIRST : SIM_CALL_LAUNCH;
	case TFSIM_MEMCPY:
		return work->src == TFSIM_PAGEABLE ? SIM_CALL_STAGED : SIM_CALL_COPY;
	case TFSIM_MEMSET:
		return SIM_CALL_FILL;
	case TFSIM_GRAPH:
		return SIM_CALL_GRAPH;
	case TFSIM_HOST:
		return SIM_CALL_HOST;
	case TFSIM_WAIT:
		return SIM_CALL_WAIT;
	case TFSIM_ALLOC:
	case TFSIM_FREE:
		return SIM_CALL_POOL;
	default:
		return SIM_CALL_RECORD;
	}
}

static bool uses_engine(const struct sim_op *op, enum sim_engine engine)
{
	return engine != SIM_NO_ENGINE && op->cost_ns;
}

/* Operations that take no time of an engine do not wait between others. */
static uint64_t behind(const struct sim_op *op, uint64_t end_ns)
{
	return end_ns ? end_ns + op->gap_ns : 0;
}

void sim_time_model(struct CUstream_st *stream, struct sim_op *op)
{
	struct sim_device *device = &sim.device[stream->device];
	const struct tfsim_work *work = &op->payload->work;
	enum sim_engine engine = engine_of(work);
	const uint64_t now = sim_self.model_ns;
	uint64_t start, cost = op->cost_ns;

	op->latency_ns = sim_draw(&sim.profile->latency) + work->lead_ns;
	op->gap_ns = uses_engine(op, engine) ? sim_draw(&sim.profile->gap) : 0;
	op->share = share_of(work);
	start = now + op->latency_ns;
	sim_call_spend(sim_draw(&sim.profile->call[call_of(work)]));
	if (stream->last)
		start = later(start, behind(op, stream->last->model_end_ns));
	for (unsigned i = 0; i < op->dep_count; i++)
		start = later(start, op->deps[i]->model_end_ns);
	if (uses_engine(op, engine))
		start = sim_lane_place(&device->modelled[engine], now, start, op->cost_ns,
			op->share, sim.profile->beside, &cost);
	op->model_start_ns = start;
	op->model_end_ns = start + cost;
	sim.highest_model_ns = later(sim.highest_model_ns, op->model_end_ns);
}

void sim_time_show(struct CUstream_st *stream, struct sim_op *op)
{
	struct sim_device *device = &sim.device[stream->device];
	enum sim_engine engine = engine_of(&op->payload->work);
	uint64_t cost = op->cost_ns;
	uint64_t start = later(op->submit_ns + op->latency_ns, behind(op, stream->shown_end_ns));

	for (unsigned i = 0; i < op->dep_count; i++)
		start = later(start, op->deps[i]->shown_end_ns);
	if (uses_engine(op, engine))
		start = sim_lane_place(&device->shown[engine], op->submit_ns, start, op->cost_ns,
			op->share, sim.profile->beside, &cost);
	op->shown_start_ns = start;
	op->shown_end_ns = start + cost;
	stream->shown_end_ns = later(stream->shown_end_ns, op->shown_end_ns);
}

void sim_time_moved(struct CUstream_st *stream, const struct sim_op *op, uint64_t planned_ns)
{
	const struct sim_slot slot = {op->shown_start_ns, planned_ns, op->share};
	enum sim_engine engine = engine_of(&op->payload->work);

	stream->shown_end_ns = op->shown_end_ns;
	if (uses_engine(op, engine) && op->shown_end_ns != planned_ns)
		sim_lane_move(&sim.device[stream->device].shown[engine], &slot, op->shown_end_ns);
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
	uint64_t now = tfsim_now_ns(), behind_ns;

	if (op->payload->work.kind == TFSIM_HOST) {
		op->shown_end_ns = later(op->shown_end_ns, now);
		return;
	}
	atomic_fetch_add(&sim.computed_ns, computed_ns);
	atomic_fetch_add(&sim.modelled_ns, op->cost_ns);
	behind_ns = op->cost_ns && now > op->shown_end_ns ? now - op->shown_end_ns : 0;
	if (behind_ns > stream->behind_ns) {
		atomic_fetch_add(&sim.overruns, 1);
		atomic_fetch_add(&sim.overrun_ns, behind_ns - stream->behind_ns);
	}
	stream->behind_ns = behind_ns;
}
