/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core.h"

#include <stdlib.h>

#include "tests/sim/core/core_private.h"

/* As CUPTI numbers them on hardware: the null stream is 7, created ones start at 13. */
#define LEGACY_ID 7
#define FIRST_ID 13

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static uint64_t next_stream_id = FIRST_ID;

bool sim_blocking(const struct CUstream_st *stream)
{
	return !stream->legacy && !(stream->flags & cudaStreamNonBlocking);
}

void sim_stream_unref(struct CUstream_st *stream)
{
	struct sim_device *device = &sim.device[stream->device];
	struct CUstream_st **link = &device->streams;
	struct sim_op **gone = &device->gone[sim_blocking(stream)];
	struct sim_op *before = *gone;

	if (--stream->refs)
		return;
	*gone = sim_op_join(before, stream->last);
	sim_op_unref(before);
	while (*link && *link != stream)
		link = &(*link)->next;
	if (*link)
		*link = stream->next;
	sim_op_unref(stream->last);
	pthread_cond_destroy(&stream->work);
	free(stream);
}

/* The handle is dead at once; the queue drains, and device waits still see it until then. */
void sim_stream_close(struct CUstream_st *stream)
{
	stream->closing = true;
	sim_capture_forget(stream);
	pthread_cond_signal(&stream->work);
	sim_stream_unref(stream);
}

static struct CUstream_st *create(int device, unsigned flags, int priority, bool legacy)
{
	struct CUstream_st *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return NULL;
	pthread_cond_init(&stream->work, NULL);
	stream->id = legacy ? LEGACY_ID : next_stream_id++;
	stream->device = device;
	stream->context = legacy ? 0 : sim_self.context;
	stream->flags = flags;
	stream->priority = priority;
	stream->legacy = legacy;
	stream->refs = 1;
	stream->next = sim.device[device].streams;
	sim.device[device].streams = stream;
	sim.device[device].used = true;
	sim_emit_later(true);
	sim_emit_stream(stream);
	sim_emit_later(false);
	return stream;
}

static void thread_over(void *value)
{
	struct sim_thread *self = value;

	if (atomic_load(&sim.forked) || atomic_load(&sim.stopping))
		return;
	pthread_mutex_lock(&sim.lock);
	for (int i = 0; i < sim.device_count; i++) {
		if (self->stream[i] && self->generation == sim.generation)
			sim_stream_close(self->stream[i]);
		self->stream[i] = NULL;
	}
	pthread_mutex_unlock(&sim.lock);
}

static void make_key(void)
{
	pthread_key_create(&key, thread_over);
}

static struct CUstream_st *own_stream(void)
{
	struct CUstream_st **slot = &sim_self.stream[sim_self.device];

	if (sim_self.generation != sim.generation) {
		for (int i = 0; i < SIM_MAX_DEVICES; i++)
			sim_self.stream[i] = NULL;
		sim_self.generation = sim.generation;
	}
	if (!*slot) {
		pthread_once(&key_once, make_key);
		pthread_setspecific(key, &sim_self);
		*slot = create(sim_self.device, cudaStreamDefault, 0, false);
		if (*slot)
			(*slot)->per_thread = true;
	}
	return *slot;
}

cudaError_t sim_stream_resolve(cudaStream_t handle, struct CUstream_st **out_stream)
{
	struct sim_device *device = &sim.device[sim_self.device];
	struct CUstream_st *found = NULL;

	if (sim_is_naive(SIM_NAIVE_PER_THREAD) && handle == cudaStreamPerThread)
		handle = cudaStreamLegacy;
	if (!handle || handle == cudaStreamLegacy) {
		if (!device->legacy)
			device->legacy = create(sim_self.device, cudaStreamDefault, 0, true);
		found = device->legacy;
	} else if (handle == cudaStreamPerThread) {
		found = own_stream();
	} else {
		for (int i = 0; i < sim.device_count && !found; i++)
			for (struct CUstream_st *s = sim.device[i].streams; s && !found;
				s = s->next)
				found = s == handle && !s->closing ? s : NULL;
		if (!found)
			return cudaErrorInvalidResourceHandle;
	}
	if (!found)
		return cudaErrorMemoryAllocation;
	*out_stream = found;
	return cudaSuccess;
}

cudaError_t tfsim_stream_create(cudaStream_t *out_stream, unsigned flags, int priority)
{
	cudaError_t error = sim_enter();
	struct CUstream_st *stream;

	if (error != cudaSuccess)
		return error;
	if (!out_stream || flags > cudaStreamNonBlocking)
		return cudaErrorInvalidValue;
	priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
	pthread_mutex_lock(&sim.lock);
	stream = create(sim_self.device, flags, priority, false);
	pthread_mutex_unlock(&sim.lock);
	if (!stream)
		return cudaErrorMemoryAllocation;
	*out_stream = stream;
	return cudaSuccess;
}

cudaError_t tfsim_stream_destroy(cudaStream_t handle)
{
	cudaError_t error = sim_enter();
	struct CUstream_st *stream;

	if (error != cudaSuccess)
		return error;
	if (!handle || handle == cudaStreamLegacy || handle == cudaStreamPerThread)
		return cudaErrorInvalidResourceHandle;
	pthread_mutex_lock(&sim.lock);
	error = sim_stream_resolve(handle, &stream);
	if (error == cudaSuccess)
		sim_stream_close(stream);
	pthread_mutex_unlock(&sim.lock);
	return error;
}

static unsigned collect(
	int device, bool all, const struct CUstream_st *legacy, struct sim_op **out_ops)
{
	struct sim_op *const *gone = sim.device[device].gone;
	unsigned count = 0;

	for (struct CUstream_st *s = sim.device[device].streams; s; s = s->next)
		if (s->last && (all || s == legacy || sim_blocking(s)))
			out_ops[count++] = sim_op_ref(s->last);
	for (int blocking = all ? 0 : 1; blocking < 2; blocking++)
		if (gone[blocking])
			out_ops[count++] = sim_op_ref(gone[blocking]);
	return count;
}

static unsigned gather(
	int device, bool all, const struct CUstream_st *legacy, struct sim_op ***out_ops)
{
	unsigned room = 2;

	for (struct CUstream_st *s = sim.device[device].streams; s; s = s->next)
		room++;
	*out_ops = calloc(room, sizeof(**out_ops));
	return *out_ops ? collect(device, all, legacy, *out_ops) : 0;
}

unsigned sim_device_tails(int device, struct sim_op ***out_ops)
{
	return gather(device, true, NULL, out_ops);
}

/* A wait for the legacy stream is an action in it: it sees the blocking streams too. */
unsigned sim_stream_tails(struct CUstream_st *stream, struct sim_op ***out_ops)
{
	if (stream->legacy)
		return gather(stream->device, false, stream, out_ops);
	*out_ops = stream->last ? malloc(sizeof(**out_ops)) : NULL;
	if (!*out_ops)
		return 0;
	(*out_ops)[0] = sim_op_ref(stream->last);
	return 1;
}

void sim_wait_all(struct sim_op **ops, unsigned count, enum sim_call call)
{
	sim_call_spend(sim_draw(&sim.profile->call[call]));
	sim_ops_wait(ops, count);
	for (unsigned i = 0; i < count; i++)
		sim_op_unref(ops[i]);
	free(ops);
}

void sim_wait_device(int device)
{
	struct sim_op **ops;
	unsigned count;

	pthread_mutex_lock(&sim.lock);
	count = sim_device_tails(device, &ops);
	pthread_mutex_unlock(&sim.lock);
	sim_wait_all(ops, count, SIM_CALL_DEVICE_SYNC);
}

static cudaError_t waitable(struct CUstream_st *stream)
{
	cudaError_t error = sim_capture_implicit(stream);

	if (error == cudaSuccess && sim_capture_active(stream)) {
		sim_capture_invalidate(stream->capture);
		error = cudaErrorStreamCaptureUnsupported;
	}
	return error;
}

cudaError_t tfsim_stream_synchronize(cudaStream_t handle)
{
	uint64_t start_ns = tfsim_now_ns();
	struct CUstream_st *stream = NULL;
	cudaError_t error = sim_enter();
	struct sim_op **ops = NULL;
	unsigned count = 0;
	int device;

	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&sim.lock);
	error = sim_stream_resolve(handle, &stream);
	if (error == cudaSuccess)
		error = waitable(stream);
	if (error == cudaSuccess)
		count = sim_stream_tails(stream, &ops);
	device = error == cudaSuccess ? stream->device : 0;
	if (error == cudaSuccess)
		stream->refs++;
	pthread_mutex_unlock(&sim.lock);
	if (error != cudaSuccess)
		return error;
	sim_wait_all(ops, count, SIM_CALL_STREAM_SYNC);
	sim_pool_settle(device);
	error = sim_enter();
	sim_emit_sync(3, start_ns, device, stream, 0, (int)error);
	pthread_mutex_lock(&sim.lock);
	sim_stream_unref(stream);
	pthread_mutex_unlock(&sim.lock);
	return error;
}

cudaError_t tfsim_device_synchronize(void)
{
	uint64_t start_ns = tfsim_now_ns();
	cudaError_t error = sim_enter();

	if (error == cudaSuccess)
		error = tfsim_capture_unsafe();
	if (error != cudaSuccess)
		return error;
	sim_wait_device(sim_self.device);
	sim_pool_settle(sim_self.device);
	error = sim_enter();
	sim_emit_sync(4, start_ns, sim_self.device, NULL, 0, (int)error);
	return error;
}

cudaError_t tfsim_stream_query(cudaStream_t handle)
{
	cudaError_t error = sim_enter();
	struct CUstream_st *stream;
	struct sim_op **ops = NULL;
	unsigned count = 0;

	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&sim.lock);
	error = sim_stream_resolve(handle, &stream);
	if (error == cudaSuccess)
		error = waitable(stream);
	if (error == cudaSuccess)
		count = sim_stream_tails(stream, &ops);
	for (unsigned i = 0; i < count; i++) {
		if (!sim_op_complete(ops[i]))
			error = cudaErrorNotReady;
		sim_op_unref(ops[i]);
	}
	pthread_mutex_unlock(&sim.lock);
	free(ops);
	return error;
}

/* What a stream was made with. */
struct making {
	uint64_t id;
	int device;
	unsigned flags;
	int priority;
};

static cudaError_t look(cudaStream_t handle, struct making *out_copy)
{
	cudaError_t error = sim_enter();
	struct CUstream_st *stream;

	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&sim.lock);
	error = sim_stream_resolve(handle, &stream);
	if (error == cudaSuccess)
		*out_copy = (struct making){
			stream->id, stream->device, stream->flags, stream->priority};
	pthread_mutex_unlock(&sim.lock);
	return error;
}

cudaError_t tfsim_stream_flags(cudaStream_t handle, unsigned *out_flags)
{
	struct making copy;
	cudaError_t error = look(handle, &copy);

	if (error == cudaSuccess)
		*out_flags = copy.flags;
	return error;
}

cudaError_t tfsim_stream_priority(cudaStream_t handle, int *out_priority)
{
	struct making copy;
	cudaError_t error = look(handle, &copy);

	if (error == cudaSuccess)
		*out_priority = copy.priority;
	return error;
}

cudaError_t tfsim_stream_id(cudaStream_t handle, unsigned long long *out_id)
{
	struct making copy;
	cudaError_t error = look(handle, &copy);

	if (error == cudaSuccess)
		*out_id = copy.id;
	return error;
}

int tfsim_stream_device(cudaStream_t handle)
{
	struct making copy;

	return look(handle, &copy) == cudaSuccess ? copy.device : sim_self.device;
}
