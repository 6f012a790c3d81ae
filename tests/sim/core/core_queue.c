/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "tests/sim/core/core_private.h"

/* A hostile hold ends when somebody waits, or after this: a program may poll memory for ever. */
#define HOLD_NS 4000000
/* What a blocking copy from pageable memory leaves to the device may come long after the call has
 * returned, and nobody's wait for other work brings it; nor that of a large buffer's clearing. So
 * late are those that a program begins with. */
#define LANDING_NS 15000000
#define LATE_LANDINGS 8u
#define LARGE_BYTES ((uint64_t)8 << 20)
/* More than this is not written in the call that asked for it. */
#define LONG_BYTES ((uint64_t)256 << 10)

/* Long before its time the operation waits for company: then everything still pending is late. */
static void hold(const struct sim_op *op)
{
	uint32_t mood = tfsim_hostile_pick(op->number * 2 + 1, 4);
	uint64_t span = mood == 0   ? 0
			: mood == 1 ? tfsim_hostile_pick(op->number, 300000)
				    : HOLD_NS;
	struct timespec limit;

	if (span == 0)
		return;
	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_nsec += (long)span;
	if (limit.tv_nsec >= 1000000000) {
		limit.tv_nsec -= 1000000000;
		limit.tv_sec++;
	}
	while (sim.waiting == 0 && op->number >= sim.dropped)
		if (pthread_cond_timedwait(&sim.moved, &sim.lock, &limit) == ETIMEDOUT)
			break;
}

/* The computation itself; a faulted device computes nothing any more. */
static void execute(struct sim_op *op)
{
	const struct tfsim_work *work = &op->payload->work;

	if (atomic_load(&sim.sticky) != 0 && work->kind != TFSIM_HOST)
		return;
	if (work->kind == TFSIM_HOST) {
		sim_pace_until(op->shown_start_ns);
		sim_self.in_host_function = true;
	}
	if (work->kind == TFSIM_GRAPH)
		sim_graph_run(op);
	else
		op->shown_end_ns =
			sim_run_work(work, op->payload->args, op->shown_start_ns, op->shown_end_ns);
	sim_self.in_host_function = false;
}

/* Until a copy is over, its destination holds neither the old nor the new. */
static void spoil(const struct tfsim_work *work)
{
	if (sim.hostile == 0 || (work->kind != TFSIM_MEMCPY && work->kind != TFSIM_MEMSET) ||
		atomic_load(&sim.sticky) != 0)
		return;
	for (unsigned i = 0; i < TFSIM_SPANS; i++)
		if (work->spans[i].write)
			sim_poison((void *)(uintptr_t)work->spans[i].address, work->spans[i].size);
}

static bool may_land_late(const struct tfsim_work *work)
{
	if (work->kind == TFSIM_MEMSET)
		return work->bytes >= LARGE_BYTES;
	return work->kind == TFSIM_MEMCPY && work->synchronous && work->src == TFSIM_PAGEABLE;
}

static void land_late(const struct tfsim_work *work)
{
	static const struct timespec late = {.tv_nsec = LANDING_NS};
	static _Atomic unsigned landings[TFSIM_GRAPH + 1];

	if (sim.hostile && may_land_late(work) && landings[work->kind] < LATE_LANDINGS) {
		landings[work->kind]++;
		nanosleep(&late, NULL);
	}
}

/* Whether its end depends on the host or on work of other streams. */
static bool end_moves(const struct sim_op *op)
{
	const struct tfsim_work *work = &op->payload->work;

	return work->kind == TFSIM_HOST || work->meets || sim_plan_meets(op->plan);
}

static void run_one(struct CUstream_st *stream, struct sim_op *op)
{
	const struct tfsim_work *work = &op->payload->work;
	uint64_t began, planned_ns;

	for (unsigned i = 0; i < op->dep_count; i++)
		while (!op->deps[i]->done && op->number >= sim.dropped)
			pthread_cond_wait(&sim.moved, &sim.lock);
	if (sim.hostile && work->kind != TFSIM_RECORD && work->kind != TFSIM_WAIT)
		hold(op);
	if (op->number < sim.dropped)
		return;
	if (!op->timed)
		sim_time_show(stream, op);
	op->timed = !end_moves(op);
	planned_ns = op->shown_end_ns;
	stream->running = true;
	pthread_mutex_unlock(&sim.lock);
	spoil(work);
	land_late(work);
	began = sim_time_cpu();
	execute(op);
	sim_time_settle(stream, op, sim_time_cpu() - began);
	atomic_fetch_add(&sim.ops_run, 1);
	sim_emit_op(op, work, op->shown_start_ns, op->shown_end_ns, 0);
	pthread_mutex_lock(&sim.lock);
	sim_managed_return(work);
	sim_plan_return(op->plan);
	stream->running = false;
	if (end_moves(op)) {
		sim_time_moved(stream, op, planned_ns);
		op->timed = true;
	}
}

/* What is over needs neither its arguments nor what it waited for. */
static void finish(struct CUstream_st *stream, struct sim_op *op)
{
	sim_depth_leave(op);
	stream->head = op->next;
	if (!stream->head)
		stream->tail = NULL;
	for (unsigned i = 0; i < op->dep_count; i++)
		sim_op_unref(op->deps[i]);
	op->dep_count = 0;
	sim_plan_unref(op->plan);
	op->plan = NULL;
	op->timed = true;
	op->done = true;
	op->stream = NULL;
	pthread_cond_broadcast(&sim.moved);
}

/*
 * Where nothing is computed, the end of an operation is known at once, unless it depends on what is
 * not: a host function, a meeting, or what stands behind one.
 */
static bool end_is_known(const struct CUstream_st *stream, const struct sim_op *op)
{
	if (sim.compute || end_moves(op) || (stream->last && !stream->last->timed))
		return false;
	for (unsigned i = 0; i < op->dep_count; i++)
		if (!op->deps[i]->timed)
			return false;
	return true;
}

/* What only stands for a result is written by the caller, but where that would hold it up. */
static bool takes_long(const struct tfsim_work *work)
{
	return sim_must_run(work) && work->bytes > LONG_BYTES;
}

/* Without the stream's thread: nobody else is at this stream's queue. */
static void finish_at_once(struct CUstream_st *stream, struct sim_op *op)
{
	struct sim_payload *payload = op->payload;

	stream->head = op;
	stream->tail = op;
	sim_emit_later(true);
	execute(op);
	sim_managed_return(&payload->work);
	sim_plan_return(op->plan);
	atomic_fetch_add(&sim.ops_run, 1);
	atomic_fetch_add(&sim.modelled_ns, op->cost_ns);
	sim_emit_op(op, &payload->work, op->shown_start_ns, op->shown_end_ns, 0);
	sim_emit_later(false);
	finish(stream, op);
	op->payload = NULL;
	sim_payload_unref(payload);
	sim_op_unref(op);
}

static void *serve(void *argument)
{
	struct CUstream_st *stream = argument;

	pthread_mutex_lock(&sim.lock);
	sim_self.known = true;
	sim_self.device = stream->device;
	for (;;) {
		struct sim_payload *payload;
		struct sim_op *op;

		while (!stream->head && !stream->closing)
			pthread_cond_wait(&stream->work, &sim.lock);
		op = stream->head;
		if (!op)
			break;
		run_one(stream, op);
		finish(stream, op);
		payload = op->payload;
		op->payload = NULL;
		pthread_mutex_unlock(&sim.lock);
		sim_payload_unref(payload);
		pthread_mutex_lock(&sim.lock);
		sim_op_unref(op);
	}
	sim_stream_unref(stream);
	pthread_mutex_unlock(&sim.lock);
	return NULL;
}

/* The program's signals are for its own threads. */
static cudaError_t start_thread(struct CUstream_st *stream)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;
	int error;

	sigfillset(&all);
	/* A copy may fault in the program's memory: the program's handler may mend that. */
	sigdelset(&all, SIGSEGV);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, &attr, serve, stream);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (error)
		return cudaErrorMemoryAllocation;
	stream->refs++;
	stream->served = true;
	return cudaSuccess;
}

/* The legacy stream and the blocking streams wait for each other. */
static bool join_legacy(struct CUstream_st *stream, struct sim_op *op)
{
	struct sim_device *device = &sim.device[stream->device];

	if (sim_is_naive(SIM_NAIVE_LEGACY))
		return true;
	if (!stream->legacy)
		return !sim_blocking(stream) || !device->legacy ||
		       sim_op_depend(op, device->legacy->last);
	for (struct CUstream_st *s = device->streams; s; s = s->next)
		if (s != stream && sim_blocking(s) && !sim_op_depend(op, s->last))
			return false;
	return sim_op_depend(op, device->gone[1]);
}

/* Takes over the reference to op. */
cudaError_t sim_submit(struct CUstream_st *stream, struct sim_op *op)
{
	cudaError_t error = cudaSuccess;
	bool known, at_once;

	if (!join_legacy(stream, op))
		error = cudaErrorMemoryAllocation;
	known = error == cudaSuccess && end_is_known(stream, op);
	at_once = known && !stream->head && !takes_long(&op->payload->work);
	if (error == cudaSuccess && !stream->served && !at_once)
		error = start_thread(stream);
	if (error != cudaSuccess) {
		sim_op_unref(op);
		return error;
	}
	op->stream = stream;
	op->cost_ns += sim_managed_claim(&op->payload->work) + sim_plan_claim(op->plan);
	op->submit_ns = sim_submit_ns();
	sim_time_model(stream, op);
	sim_depth_enter(stream, op);
	op->timed = known;
	if (known)
		sim_time_show(stream, op);
	sim_op_unref(stream->last);
	stream->last = sim_op_ref(op);
	if (at_once) {
		finish_at_once(stream, op);
		return cudaSuccess;
	}
	if (stream->tail)
		stream->tail->next = op;
	else
		stream->head = op;
	stream->tail = op;
	pthread_cond_signal(&stream->work);
	return cudaSuccess;
}

static void discard(const struct tfsim_work *work)
{
	if (work->drop)
		work->drop((void *)(uintptr_t)work->args);
}

/* out_op, if wanted, gets a reference, or NULL when the work went into a graph. */
cudaError_t sim_enqueue_locked(
	struct CUstream_st *stream, const struct tfsim_work *work, struct sim_op **out_op)
{
	struct sim_payload *payload = sim_payload_create(work);
	cudaError_t error = sim_capture_implicit(stream);
	struct sim_op *op;

	if (!payload) {
		discard(work);
		return cudaErrorMemoryAllocation;
	}
	if (error == cudaSuccess && sim_capture_active(stream)) {
		error = sim_capture_add(stream, payload, NULL);
		sim_payload_unref(payload);
		return error;
	}
	op = error == cudaSuccess ? sim_op_create(payload) : NULL;
	if (!op) {
		sim_payload_unref(payload);
		return error == cudaSuccess ? cudaErrorMemoryAllocation : error;
	}
	op->correlation = sim_correlation();
	if (out_op)
		*out_op = sim_op_ref(op);
	error = sim_submit(stream, op);
	if (error != cudaSuccess && out_op) {
		sim_op_unref(*out_op);
		*out_op = NULL;
	}
	return error;
}

static cudaError_t enqueue(
	cudaStream_t handle, const struct tfsim_work *work, struct sim_op **out_op)
{
	struct CUstream_st *stream;
	cudaError_t error;

	pthread_mutex_lock(&sim.lock);
	error = sim_stream_resolve(handle, &stream);
	if (error == cudaSuccess)
		error = sim_enqueue_locked(stream, work, out_op);
	else
		discard(work);
	if (error == cudaSuccess)
		sim_depth_wait(stream, work->kind);
	pthread_mutex_unlock(&sim.lock);
	return error;
}

cudaError_t sim_enqueue(cudaStream_t handle, const struct tfsim_work *work, struct sim_op **out_op)
{
	cudaError_t error = sim_enter();
	struct tfsim_api own;

	if (error != cudaSuccess) {
		discard(work);
		return error;
	}
	if (sim_self.api)
		return enqueue(handle, work, out_op);
	sim_library_frame(&own, work);
	error = enqueue(handle, work, out_op);
	tfsim_api_exit(&own, (int)error);
	return error;
}

cudaError_t tfsim_enqueue(cudaStream_t handle, const struct tfsim_work *work)
{
	struct sim_op *op = NULL;
	bool block =
		sim_enter() == cudaSuccess && sim.launch_blocking && work->kind == TFSIM_KERNEL;
	cudaError_t error = sim_enqueue(handle, work, block ? &op : NULL);

	if (op) {
		sim_op_wait(op);
		sim_op_unref(op);
		error = sim_enter();
	}
	return error;
}
