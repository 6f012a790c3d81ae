/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_UNIT_RACES_MADE_UP_DEVICE_H
#define TFS_TESTS_UNIT_RACES_MADE_UP_DEVICE_H

/*
 * As much of CUDA's runtime as rewrites of copies ask for: one device, whose memory is the host's,
 * and that does what a thread gave it one after the other in a thread of its own, as late as it
 * can: once somebody waits for it, or much is to be done.
 */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MADE_UP_LANES 8u
#define MADE_UP_QUEUE 64u
#define MADE_UP_LATE 24u /* things that it lets lie */
#define MADE_UP_PINNED 64u

/* What one thread of the program gave it. */
struct made_up_lane {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	struct {
		void *target;
		const void *source;
		size_t bytes;
	} queue[MADE_UP_QUEUE];
	unsigned long given, done, wanted;
	bool over;
};

struct made_up_event {
	struct made_up_lane *lane;
	unsigned long recorded; /* the latest of what came before it, counted from 1 */
};

static struct {
	struct made_up_lane lanes[MADE_UP_LANES];
	atomic_uint used;
	char *memory;
	size_t bytes;
	_Atomic(char *) pinned[MADE_UP_PINNED];
	atomic_uint pinned_count;
} made_up;

static inline void *made_up_work(void *argument)
{
	struct made_up_lane *lane = argument;

	pthread_mutex_lock(&lane->lock);
	while (!lane->over || lane->done < lane->given) {
		if (!lane->over && lane->done >= lane->wanted &&
			lane->given - lane->done <= MADE_UP_LATE) {
			pthread_cond_wait(&lane->changed, &lane->lock);
			continue;
		}
		const unsigned long i = lane->done % MADE_UP_QUEUE;

		pthread_mutex_unlock(&lane->lock);
		memcpy(lane->queue[i].target, lane->queue[i].source, lane->queue[i].bytes);
		pthread_mutex_lock(&lane->lock);
		lane->done++;
		pthread_cond_broadcast(&lane->changed);
	}
	pthread_mutex_unlock(&lane->lock);
	return NULL;
}

/* The calling thread's. */
static inline struct made_up_lane *made_up_lane(void)
{
	static _Thread_local struct made_up_lane *own;

	if (!own)
		own = &made_up.lanes[atomic_fetch_add(&made_up.used, 1) % MADE_UP_LANES];
	return own;
}

/* The device's memory. */
static inline char *made_up_start(size_t bytes)
{
	for (unsigned i = 0; i < MADE_UP_LANES; i++) {
		struct made_up_lane *lane = &made_up.lanes[i];

		pthread_mutex_init(&lane->lock, NULL);
		pthread_cond_init(&lane->changed, NULL);
		pthread_create(&lane->thread, NULL, made_up_work, lane);
	}
	made_up.memory = calloc(1, bytes);
	made_up.bytes = bytes;
	return made_up.memory;
}

/* How much it did. */
static inline unsigned long made_up_end(void)
{
	unsigned long done = 0;

	for (unsigned i = 0; i < MADE_UP_LANES; i++) {
		struct made_up_lane *lane = &made_up.lanes[i];

		pthread_mutex_lock(&lane->lock);
		lane->over = true;
		pthread_cond_broadcast(&lane->changed);
		pthread_mutex_unlock(&lane->lock);
		pthread_join(lane->thread, NULL);
		done += lane->done;
	}
	return done;
}

static inline void made_up_wait(struct made_up_lane *lane, unsigned long number)
{
	pthread_mutex_lock(&lane->lock);
	if (lane->wanted < number)
		lane->wanted = number;
	pthread_cond_broadcast(&lane->changed);
	while (lane->done < number)
		pthread_cond_wait(&lane->changed, &lane->lock);
	pthread_mutex_unlock(&lane->lock);
}

/* Its number. */
static inline unsigned long made_up_give(void *target, const void *source, size_t bytes)
{
	struct made_up_lane *lane = made_up_lane();

	pthread_mutex_lock(&lane->lock);
	while (lane->given - lane->done == MADE_UP_QUEUE)
		pthread_cond_wait(&lane->changed, &lane->lock);
	const unsigned long i = lane->given % MADE_UP_QUEUE;

	lane->queue[i].target = target;
	lane->queue[i].source = source;
	lane->queue[i].bytes = bytes;
	const unsigned long number = ++lane->given;
	pthread_cond_broadcast(&lane->changed);
	pthread_mutex_unlock(&lane->lock);
	return number;
}

static inline int made_up_copy(void *target, const void *source, size_t bytes, int kind)
{
	(void)kind;
	made_up_wait(made_up_lane(), made_up_give(target, source, bytes));
	return 0;
}

static int made_up_copy_on(void *target, const void *source, size_t bytes, int kind, void *stream)
{
	(void)kind, (void)stream;
	made_up_give(target, source, bytes);
	return 0;
}

static int made_up_drain(void *stream)
{
	struct made_up_lane *lane = made_up_lane();

	(void)stream;
	made_up_wait(lane, lane->given);
	return 0;
}

static int made_up_record(struct made_up_event *event, void *stream)
{
	(void)stream;
	event->lane = made_up_lane();
	event->recorded = event->lane->given;
	return 0;
}

static int made_up_event_wait(struct made_up_event *event)
{
	made_up_wait(event->lane, event->recorded);
	return 0;
}

static int made_up_query(struct made_up_event *event)
{
	pthread_mutex_lock(&event->lane->lock);
	const bool over = event->lane->done >= event->recorded;
	pthread_mutex_unlock(&event->lane->lock);
	return over ? 0 : cudaErrorNotReady;
}

static int made_up_elapsed(float *out_ms, void *from, void *to)
{
	(void)from, (void)to;
	*out_ms = 0.001f;
	return 0;
}

static int made_up_create(void **out, unsigned flags)
{
	(void)flags;
	*out = calloc(1, sizeof(struct made_up_event));
	return !*out;
}

static int made_up_destroy(void *event)
{
	free(event);
	return 0;
}

/* Never freed: a reset takes it along, and here it stays. */
static int made_up_pin(void **out, size_t bytes, unsigned flags)
{
	const unsigned i = atomic_fetch_add(&made_up.pinned_count, 1);

	(void)flags;
	if (i >= MADE_UP_PINNED)
		return cudaErrorMemoryAllocation;
	*out = malloc(bytes);
	atomic_store(&made_up.pinned[i], (char *)*out);
	return !*out;
}

static int made_up_pointer(struct cudaPointerAttributes *out, const char *address)
{
	*out = (struct cudaPointerAttributes){.type = cudaMemoryTypeUnregistered};
	if (address >= made_up.memory && address < made_up.memory + made_up.bytes)
		out->type = cudaMemoryTypeDevice;
	for (unsigned i = 0; i < MADE_UP_PINNED; i++)
		if (atomic_load(&made_up.pinned[i]) == address)
			out->type = cudaMemoryTypeHost;
	return 0;
}

static int made_up_alloc(void **out, size_t bytes)
{
	*out = calloc(1, bytes);
	return !*out;
}

static int made_up_attribute(int *out, int which, int device)
{
	(void)which;
	*out = device;
	return 0;
}

static int made_up_bus(char *out, int bytes, int device)
{
	(void)bytes, (void)device;
	*out = '\0';
	return 0;
}

static int made_up_device(int *out)
{
	*out = 0;
	return 0;
}

static int made_up_is_capturing(void *stream, int *out_status)
{
	(void)stream;
	*out_status = 0;
	return 0;
}

/* Nothing to be done, and no error. */
static int made_up_nothing(void)
{
	return 0;
}

static inline void *made_up_function(const char *name)
{
	static const struct {
		const char *name;
		void *function;
	} functions[] = {
		{"cudaStreamSynchronize", (void *)made_up_drain},
		{"cudaStreamIsCapturing", (void *)made_up_is_capturing},
		{"cudaHostAlloc", (void *)made_up_pin},
		{"cudaFreeHost", (void *)made_up_nothing},
		{"cudaMalloc", (void *)made_up_alloc},
		{"cudaFree", (void *)made_up_nothing},
		{"cudaEventCreateWithFlags", (void *)made_up_create},
		{"cudaEventDestroy", (void *)made_up_destroy},
		{"cudaEventRecord", (void *)made_up_record},
		{"cudaEventQuery", (void *)made_up_query},
		{"cudaEventSynchronize", (void *)made_up_event_wait},
		{"cudaEventElapsedTime", (void *)made_up_elapsed},
		{"cudaLaunchHostFunc", (void *)made_up_nothing},
		{"cudaDeviceGetAttribute", (void *)made_up_attribute},
		{"cudaDeviceGetPCIBusId", (void *)made_up_bus},
		{"cudaThreadExchangeStreamCaptureMode", (void *)made_up_nothing},
		{"cudaMemcpy", (void *)made_up_copy},
		{"cudaMemcpyAsync", (void *)made_up_copy_on},
		{"cudaPointerGetAttributes", (void *)made_up_pointer},
		{"cudaGetDevice", (void *)made_up_device},
		{"cudaPeekAtLastError", (void *)made_up_nothing},
		{"cudaGetLastError", (void *)made_up_nothing},
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strcmp(functions[i].name, name) == 0)
			return functions[i].function;
	return NULL;
}

#endif
