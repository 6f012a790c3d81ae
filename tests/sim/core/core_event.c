/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core.h"

#include <stdlib.h>

#include "tests/sim/core/core_private.h"

static uint32_t next_event_id = 1;

static bool known(const struct CUevent_st *event)
{
	for (const struct CUevent_st *e = sim.events; e; e = e->next)
		if (e == event)
			return true;
	return false;
}

cudaError_t tfsim_event_create(cudaEvent_t *out_event, unsigned flags)
{
	cudaError_t error = sim_enter();
	struct CUevent_st *event;

	if (error != cudaSuccess)
		return error;
	if (!out_event ||
		flags > (cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess) ||
		((flags & cudaEventInterprocess) && !(flags & cudaEventDisableTiming)))
		return cudaErrorInvalidValue;
	event = calloc(1, sizeof(*event));
	if (!event)
		return cudaErrorMemoryAllocation;
	event->device = sim_self.device;
	event->flags = flags;
	pthread_mutex_lock(&sim.lock);
	event->id = next_event_id++;
	event->next = sim.events;
	sim.events = event;
	pthread_mutex_unlock(&sim.lock);
	*out_event = event;
	return cudaSuccess;
}

/* Returns at once also when the event is still pending: whoever waits holds the operation. */
cudaError_t tfsim_event_destroy(cudaEvent_t event)
{
	cudaError_t error = sim_enter();
	struct CUevent_st **link;

	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&sim.lock);
	for (link = &sim.events; *link && *link != event; link = &(*link)->next)
		continue;
	if (*link && event) {
		*link = event->next;
		sim_op_unref(event->op);
		free(event->capture_nodes);
		free(event);
	} else {
		error = cudaErrorInvalidResourceHandle;
	}
	pthread_mutex_unlock(&sim.lock);
	return error;
}

static cudaError_t record(struct CUevent_st *event, struct CUstream_st *stream)
{
	struct tfsim_work work = {.kind = TFSIM_RECORD};
	struct sim_op *op = NULL;
	cudaError_t error = sim_capture_implicit(stream);

	if (error != cudaSuccess)
		return error;
	if (sim_capture_active(stream))
		return sim_capture_record(stream, event);
	if (event->device != stream->device)
		return cudaErrorInvalidResourceHandle;
	work.value = event->id;
	error = sim_enqueue_locked(stream, &work, &op);
	if (error != cudaSuccess)
		return error;
	sim_op_unref(event->op);
	event->op = op;
	event->capture = NULL;
	return cudaSuccess;
}

/* External recording matters to graphs only; outside of capture the flag changes nothing. */
cudaError_t tfsim_event_record(cudaEvent_t event, cudaStream_t handle, unsigned flags)
{
	cudaError_t error = sim_enter();
	struct CUstream_st *stream;

	if (error != cudaSuccess)
		return error;
	if (flags > cudaEventRecordExternal)
		return cudaErrorInvalidValue;
	pthread_mutex_lock(&sim.lock);
	error = known(event) ? sim_stream_resolve(handle, &stream) : cudaErrorInvalidResourceHandle;
	if (error == cudaSuccess)
		error = record(event, stream);
	if (error == cudaSuccess)
		sim_depth_wait(stream, TFSIM_RECORD);
	pthread_mutex_unlock(&sim.lock);
	return error;
}

/* What stands on no stream of its own: behind all that the device's streams hold by now. */
static cudaError_t record_behind_all(struct CUevent_st *event, struct CUstream_st *stream)
{
	struct sim_device *device = &sim.device[stream->device];
	struct tfsim_work work = {.kind = TFSIM_WAIT};
	struct sim_payload *payload = sim_payload_create(&work);
	struct sim_op *op = payload ? sim_op_create(payload) : NULL;
	bool whole = op != NULL;

	if (!op && payload)
		sim_payload_unref(payload);
	for (struct CUstream_st *s = device->streams; s; s = s->next)
		whole = whole && sim_op_depend(op, s->last);
	whole = whole && sim_op_depend(op, device->gone[0]) && sim_op_depend(op, device->gone[1]);
	if (!whole) {
		if (op)
			sim_op_unref(op);
		return cudaErrorMemoryAllocation;
	}
	cudaError_t error = sim_submit(stream, op);

	return error == cudaSuccess ? record(event, stream) : error;
}

cudaError_t tfsim_event_record_device(cudaEvent_t event)
{
	cudaStream_t own;
	struct CUstream_st *stream;
	cudaError_t error = tfsim_stream_create(&own, cudaStreamNonBlocking, 0);

	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&sim.lock);
	error = known(event) ? sim_stream_resolve(own, &stream) : cudaErrorInvalidResourceHandle;
	for (struct CUstream_st *s = sim.device[sim_self.device].streams; s; s = s->next)
		if (error == cudaSuccess && sim_capture_active(s)) {
			sim_capture_invalidate(s->capture);
			error = cudaErrorStreamCaptureUnsupported;
		}
	if (error == cudaSuccess)
		error = record_behind_all(event, stream);
	pthread_mutex_unlock(&sim.lock);
	tfsim_stream_destroy(own);
	return error;
}

static cudaError_t wait_for(struct CUstream_st *stream, struct CUevent_st *event)
{
	struct tfsim_work work = {.kind = TFSIM_WAIT};
	struct sim_payload *payload;
	struct sim_op *op;
	cudaError_t error = sim_capture_implicit(stream);

	if (error != cudaSuccess)
		return error;
	if (sim_capture_active(stream) || event->capture)
		return sim_capture_wait(stream, event);
	if (!event->op || sim_is_naive(SIM_NAIVE_WAIT))
		return cudaSuccess;
	work.value = event->id;
	payload = sim_payload_create(&work);
	op = payload ? sim_op_create(payload) : NULL;
	if (!op || !sim_op_depend(op, event->op)) {
		if (op)
			sim_op_unref(op);
		else
			sim_payload_unref(payload);
		return cudaErrorMemoryAllocation;
	}
	op->correlation = sim_correlation();
	return sim_submit(stream, op);
}

cudaError_t tfsim_stream_wait(cudaStream_t handle, cudaEvent_t event, unsigned flags)
{
	cudaError_t error = sim_enter();
	struct CUstream_st *stream;

	if (error != cudaSuccess)
		return error;
	if (flags > cudaEventWaitExternal)
		return cudaErrorInvalidValue;
	pthread_mutex_lock(&sim.lock);
	error = known(event) ? sim_stream_resolve(handle, &stream) : cudaErrorInvalidResourceHandle;
	if (error == cudaSuccess)
		error = wait_for(stream, event);
	if (error == cudaSuccess)
		sim_depth_wait(stream, TFSIM_WAIT);
	pthread_mutex_unlock(&sim.lock);
	return error;
}

cudaError_t tfsim_device_wait(cudaEvent_t event)
{
	cudaError_t error = sim_enter();

	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&sim.lock);
	error = known(event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
	for (struct CUstream_st *s = sim.device[sim_self.device].streams; s; s = s->next)
		if (error == cudaSuccess)
			error = wait_for(s, event);
	pthread_mutex_unlock(&sim.lock);
	return error;
}

/* What was recorded in a capture is a node, not a moment. */
static cudaError_t recorded(struct CUevent_st *event, struct sim_op **out_op)
{
	if (!known(event))
		return cudaErrorInvalidResourceHandle;
	if (event->capture) {
		sim_capture_invalidate(event->capture);
		return cudaErrorCapturedEvent;
	}
	*out_op = sim_op_ref(event->op);
	return cudaSuccess;
}

cudaError_t tfsim_event_query(cudaEvent_t event)
{
	cudaError_t error = sim_enter();
	struct sim_op *op = NULL;

	if (error == cudaSuccess)
		error = tfsim_capture_unsafe();
	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&sim.lock);
	error = recorded(event, &op);
	if (op && !sim_op_complete(op))
		error = cudaErrorNotReady;
	sim_op_unref(op);
	pthread_mutex_unlock(&sim.lock);
	return error;
}

cudaError_t tfsim_event_synchronize(cudaEvent_t event)
{
	uint64_t start_ns = tfsim_now_ns();
	cudaError_t error = sim_enter();
	struct sim_op *op = NULL;
	uint32_t id = 0;
	int device = 0;

	if (error == cudaSuccess)
		error = tfsim_capture_unsafe();
	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&sim.lock);
	error = recorded(event, &op);
	if (error == cudaSuccess) {
		id = event->id;
		device = event->device;
	}
	pthread_mutex_unlock(&sim.lock);
	if (error != cudaSuccess)
		return error;
	sim_call_spend(sim_draw(&sim.profile->call[SIM_CALL_EVENT_SYNC]));
	if (op)
		sim_op_wait(op);
	sim_op_unref(op);
	sim_pool_settle(device);
	error = sim_enter();
	sim_emit_sync(1, start_ns, device, NULL, id, (int)error);
	return error;
}

static cudaError_t elapsed(struct CUevent_st *start, struct CUevent_st *end, float *out_ms)
{
	int64_t span;

	if (!known(start) || !known(end))
		return cudaErrorInvalidResourceHandle;
	if (start->capture || end->capture)
		return cudaErrorCapturedEvent;
	if ((start->flags | end->flags) & cudaEventDisableTiming || !start->op || !end->op)
		return cudaErrorInvalidResourceHandle;
	if (!sim_op_complete(start->op) || !sim_op_complete(end->op))
		return cudaErrorNotReady;
	/* Where the host's calls take real time, so does what lies between two of them. */
	span = sim.profile->host_paced && sim.pace
		       ? (int64_t)(end->op->shown_end_ns - start->op->shown_end_ns)
		       : (int64_t)(end->op->model_end_ns - start->op->model_end_ns);
	*out_ms = (float)((double)span / 1e6);
	return cudaSuccess;
}

cudaError_t tfsim_event_elapsed(float *out_ms, cudaEvent_t start, cudaEvent_t end)
{
	cudaError_t error = sim_enter();

	if (error != cudaSuccess)
		return error;
	if (!out_ms)
		return cudaErrorInvalidValue;
	pthread_mutex_lock(&sim.lock);
	error = elapsed(start, end, out_ms);
	pthread_mutex_unlock(&sim.lock);
	return error;
}
