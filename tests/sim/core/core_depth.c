/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core.h"
#include "tests/sim/core/core_private.h"

/*
 * How far the host may run ahead of a stream. Records and waits pass through the queue without a
 * place in it, as recordings show; they have a bound of their own, so that a host that never waits
 * takes no more and more memory.
 */

static bool passes(enum tfsim_kind kind)
{
	return kind == TFSIM_RECORD || kind == TFSIM_WAIT || kind == TFSIM_EMPTY;
}

static struct sim_depth *depth_of(struct CUstream_st *stream, enum tfsim_kind kind)
{
	return passes(kind) ? &stream->passing : &stream->pending;
}

void sim_depth_enter(struct CUstream_st *stream, struct sim_op *op)
{
	const enum tfsim_kind kind = op->payload->work.kind;

	if (passes(kind) && ++stream->passed % SIM_ABREAST)
		return;
	op->depth = depth_of(stream, kind);
	op->depth->model_ends_ns[op->depth->entered++ % SIM_ENDS] = op->model_end_ns;
}

void sim_depth_leave(struct sim_op *op)
{
	if (op->depth)
		op->depth->shown_ends_ns[op->depth->left++ % SIM_ENDS] = op->shown_end_ns;
	op->depth = NULL;
}

void sim_depth_wait(struct CUstream_st *stream, enum tfsim_kind kind)
{
	struct sim_depth *depth = depth_of(stream, kind);
	uint64_t number, model_ns, shown_ns;

	if (depth->entered <= SIM_DEPTH)
		return;
	number = depth->entered - SIM_DEPTH;
	model_ns = depth->model_ends_ns[(number - 1) % SIM_ENDS];
	stream->refs++;
	if (depth->left < number) {
		sim.waiting++;
		pthread_cond_broadcast(&sim.moved);
		while (depth->left < number)
			pthread_cond_wait(&sim.moved, &sim.lock);
		sim.waiting--;
	}
	if (model_ns > sim_self.model_ns)
		sim_self.model_ns = model_ns;
	shown_ns = depth->shown_ends_ns[(number - 1) % SIM_ENDS];
	pthread_mutex_unlock(&sim.lock);
	sim_pace_until(shown_ns);
	pthread_mutex_lock(&sim.lock);
	sim_stream_unref(stream);
}
