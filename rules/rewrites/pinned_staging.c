/* SPDX-License-Identifier: MIT */
/*
 * pinned-staging: a copy from pageable host memory to the device goes through a ring of pinned
 * chunks, so that the copy into the ring overlaps the transfers out of it, and the host may go on
 * while the last ones still run.
 *
 * Contract (exact: the same bytes, in the same order, on the caller's stream):
 * - The call returns only after the last byte has left the caller's memory, blocking or not:
 *   programs reuse or free a pageable source at once.
 * - cudaMemcpy first waits for the stream, as it is documented to do for pageable memory.
 * - Transfers are made on the caller's stream; nothing is moved to another one.
 * - A chunk is filled again only after the event recorded behind its last transfer.
 * - Anything that is not a plain copy from unregistered memory to this device's own memory is left
 *   alone, and so is every copy while a stream is being captured.
 * - Never more pinned memory than the option staging_limit allows; allocated once.
 *
 * Its own model of a copy's gain: bytes over the pageable rate, less the longer of the copy into
 * the ring and bytes over the pinned rate. The rates are those of the program's own copies, a few
 * of which go the pageable way for it; until then what is usual.
 */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rules/rewrites/rewrite.h"
#include "shim/capture.h"
#include "shim/clock.h"
#include "shim/env.h"
#include "shim/hook.h"
#include "shim/memory.h"

#define CHUNK_BYTES (UINT64_C(2) << 20)
#define MOST_CHUNKS 8u
#define PAGE 4096u
#define MANY_BYTES (UINT64_C(1) << 20) /* from here on a copy is worth idle cores */

/* Tests only, option `naive`: what the contract forbids, so that its tests are seen to bite. */
#define NAIVE_LATE 1u    /* returns before the source was read */
#define NAIVE_CAPTURE 2u /* works while a stream is being captured */
#define NAIVE_SLOW 32u   /* wastes time: loses when measured */
#define NAIVE_WRONG 64u  /* changes a byte: shadow mode must see it */

#define SAMPLES 4u         /* copies that each rate is taken from */
#define UNSAMPLED 16u      /* copies after which the usual rates must do */
#define USUAL_PAGEABLE 8e0 /* bytes per ns: PCIe 4, one thread */
#define USUAL_PINNED 25e0

enum check {
	CHECK_DIRECTION,
	CHECK_SIZE,
	CHECK_CAPTURE,
	CHECK_SOURCE,
	CHECK_TARGET,
	CHECK_HOST_TABLES,
	CHECK_MAPPED,
	CHECK_CORES,
	CHECK_RING,
	CHECK_BUSY,
};

static const char *const checks[] = {"host-to-device", "size", "not-capturing", "source-pageable",
	"target-device-memory", "no-host-page-tables", "source-mapped", "idle-cores",
	"pinned-memory", "ring-free", NULL};

extern const struct tfs_rewrite tfs_rewrite_pinned_staging;
#define SELF (&tfs_rewrite_pinned_staging)

/* The runtime's own functions; a hook is never called from here. */
static struct {
	__typeof__(&cudaMemcpyAsync) copy;
	__typeof__(&cudaStreamSynchronize) synchronize;
	__typeof__(&cudaHostAlloc) host_alloc;
	__typeof__(&cudaEventCreateWithFlags) event_create;
	__typeof__(&cudaEventRecord) event_record;
	__typeof__(&cudaEventSynchronize) event_wait;
	__typeof__(&cudaEventElapsedTime) event_elapsed;
	__typeof__(&cudaPeekAtLastError) peek_error;
	__typeof__(&cudaGetLastError) take_error;
	__typeof__(&cudaMemcpy) copy_and_wait;
	__typeof__(&cudaLaunchHostFunc) host_function;
	__typeof__(&cudaGetDevice) device;
	__typeof__(&cudaDeviceGetAttribute) attribute;
	cudaError_t (*alloc)(void **, size_t);
	__typeof__(&cudaFree) release;
	cudaError_t (*pointer)(struct cudaPointerAttributes *, const void *);
} cuda;

struct chunk {
	char *memory;
	cudaEvent_t empty; /* recorded behind the chunk's latest transfer */
	bool used;
};

static struct {
	pthread_mutex_t lock; /* only ever tried */
	struct chunk chunks[MOST_CHUNKS];
	uint32_t count;
	uint32_t next;
	int device; /* the ring's events belong to it */
	bool failed;
	cudaEvent_t probe[2]; /* around a transfer that is timed */
	const struct chunk *probed;
	size_t probed_bytes;
} ring = {.lock = PTHREAD_MUTEX_INITIALIZER, .device = -1};

/* Best of what was seen, in bytes per nanosecond; of copies below and from MANY_BYTES on. */
static struct rates {
	double pageable;
	double pinned;
	uint32_t pageable_samples;
	uint32_t pinned_samples;
	uint32_t staged;
} rates[2];

#define LOOK_UP(field, name)                                                                       \
	(cuda.field = (__typeof__(cuda.field))tfs_lookup_named(TFS_LIBRARY_cudart, name))

static bool start(void)
{
	return LOOK_UP(copy, "cudaMemcpyAsync") && LOOK_UP(synchronize, "cudaStreamSynchronize") &&
	       LOOK_UP(host_alloc, "cudaHostAlloc") &&
	       LOOK_UP(event_create, "cudaEventCreateWithFlags") &&
	       LOOK_UP(event_record, "cudaEventRecord") &&
	       LOOK_UP(event_wait, "cudaEventSynchronize") &&
	       LOOK_UP(event_elapsed, "cudaEventElapsedTime") &&
	       LOOK_UP(peek_error, "cudaPeekAtLastError") &&
	       LOOK_UP(take_error, "cudaGetLastError") && LOOK_UP(copy_and_wait, "cudaMemcpy") &&
	       LOOK_UP(host_function, "cudaLaunchHostFunc") && LOOK_UP(device, "cudaGetDevice") &&
	       LOOK_UP(attribute, "cudaDeviceGetAttribute") && LOOK_UP(alloc, "cudaMalloc") &&
	       LOOK_UP(release, "cudaFree") && LOOK_UP(pointer, "cudaPointerGetAttributes");
}

/* Plain host memory, by the registry and by CUDA itself. */
static bool is_pageable(const void *source)
{
	struct cudaPointerAttributes attributes;
	struct tfs_range range;

	return !tfs_memory_find((uint64_t)(uintptr_t)source, &range) &&
	       cuda.pointer(&attributes, source) == cudaSuccess &&
	       attributes.type == cudaMemoryTypeUnregistered;
}

static bool is_own_memory(const void *target, size_t bytes, int device)
{
	struct cudaPointerAttributes attributes;
	struct tfs_range range;

	if (!tfs_memory_find((uint64_t)(uintptr_t)target, &range) ||
		range.kind != TFS_MEMORY_DEVICE || (range.flags & TFS_RANGE_ORDERED) != 0 ||
		(uint64_t)(uintptr_t)target + bytes > range.address + range.bytes)
		return false;
	return cuda.pointer(&attributes, target) == cudaSuccess &&
	       attributes.type == cudaMemoryTypeDevice && attributes.device == device;
}

/* On coherent systems the device reads pageable memory itself, and as fast. */
static bool reads_host_tables(int device)
{
	int value = 0;

	return cuda.attribute(&value, cudaDevAttrPageableMemoryAccessUsesHostPageTables, device) !=
		       cudaSuccess ||
	       value != 0;
}

/* A hole in the source must stay the caller's own fault, in the caller's own frame. */
static bool is_mapped(const void *source, size_t bytes)
{
	unsigned char present[256];
	uint64_t from = (uint64_t)(uintptr_t)source & ~(uint64_t)(PAGE - 1);
	const uint64_t end = (uint64_t)(uintptr_t)source + bytes;

	for (; from < end; from += sizeof(present) * PAGE) {
		const uint64_t rest = end - from;
		const size_t length = rest < sizeof(present) * PAGE ? rest : sizeof(present) * PAGE;

		if (mincore((void *)from, length, present) != 0)
			return false;
	}
	return true;
}

static bool has_cores(size_t bytes)
{
	cpu_set_t usable;

	return bytes < MANY_BYTES || tfs_options.staging_cores == 0 ||
	       (sched_getaffinity(0, sizeof(usable), &usable) == 0 &&
		       (uint64_t)CPU_COUNT(&usable) >= tfs_options.staging_cores);
}

/* On failure what was made stays ours; it is of no use to anyone and never freed. */
static bool fill_ring(uint32_t count)
{
	char *memory = NULL;
	cudaError_t status =
		cuda.host_alloc((void **)&memory, count * CHUNK_BYTES, cudaHostAllocPortable);

	for (uint32_t i = 0; i < count && status == cudaSuccess; i++) {
		ring.chunks[i] = (struct chunk){.memory = memory + i * CHUNK_BYTES};
		status = cuda.event_create(&ring.chunks[i].empty, cudaEventDisableTiming);
	}
	for (uint32_t i = 0; i < 2 && status == cudaSuccess; i++)
		status = cuda.event_create(&ring.probe[i], cudaEventDefault);
	return status == cudaSuccess;
}

/* Makes the ring on first use; the lock is held. */
static bool make_ring(int device)
{
	const uint64_t most = tfs_options.staging_limit_bytes / CHUNK_BYTES;

	if (ring.count > 0)
		return ring.device == device;
	/* An error that waits for the program to ask must not be covered by one of ours. */
	if (ring.failed || most < 2 || cuda.peek_error() != cudaSuccess)
		return false;
	const uint32_t count = most < MOST_CHUNKS ? (uint32_t)most : MOST_CHUNKS;
	ring.failed = !fill_ring(count);
	if (ring.failed) {
		cuda.take_error();
		return false;
	}
	ring.count = count;
	ring.next = 0;
	ring.device = device;
	ring.probed = NULL;
	return true;
}

static struct rates *rates_of(size_t bytes)
{
	return &rates[bytes >= MANY_BYTES];
}

static void keep_rate(double *rate, uint32_t *samples, double bytes, double ns)
{
	if (ns > 0 && bytes / ns > *rate)
		*rate = bytes / ns;
	(*samples)++;
}

/* The chunk's transfer is over: how long did it take? */
static void read_probe(const struct chunk *chunk)
{
	struct rates *one = rates_of(ring.probed_bytes);
	float ms = 0;

	if (ring.probed != chunk)
		return;
	ring.probed = NULL;
	if (cuda.event_elapsed(&ms, ring.probe[0], ring.probe[1]) == cudaSuccess)
		keep_rate(&one->pinned, &one->pinned_samples, (double)ring.probed_bytes,
			(double)ms * 1e6);
}

struct late {
	void *memory;
	const void *source;
	size_t bytes;
};

static void read_late(void *argument)
{
	const struct late *late = argument;

	memcpy(late->memory, late->source, late->bytes);
}

static void read_source(struct chunk *chunk, const char *source, size_t bytes, cudaStream_t stream)
{
	static struct late late[MOST_CHUNKS];
	struct late *one = &late[chunk - ring.chunks];

	if (TFS_LIKELY((tfs_options.naive & NAIVE_LATE) == 0)) {
		memcpy(chunk->memory, source, bytes);
		if (TFS_UNLIKELY((tfs_options.naive & NAIVE_WRONG) != 0))
			chunk->memory[bytes / 2] ^= 1;
		return;
	}
	*one = (struct late){chunk->memory, source, bytes};
	cuda.host_function(stream, read_late, one);
}

static cudaError_t transfer(char *target, struct chunk *chunk, size_t bytes, cudaStream_t stream)
{
	const bool probing = ring.probed == NULL && rates_of(bytes)->pinned_samples < SAMPLES;
	cudaError_t status = probing ? cuda.event_record(ring.probe[0], stream) : cudaSuccess;

	if (status == cudaSuccess)
		status = cuda.copy(target, chunk->memory, bytes, cudaMemcpyHostToDevice, stream);
	if (status == cudaSuccess && probing)
		status = cuda.event_record(ring.probe[1], stream);
	if (status == cudaSuccess && probing) {
		ring.probed = chunk;
		ring.probed_bytes = bytes;
	}
	if (status == cudaSuccess)
		status = cuda.event_record(chunk->empty, stream);
	chunk->used = status == cudaSuccess;
	return status;
}

/* Adds to *fill_ns what the copy into the chunk took. */
static cudaError_t send_chunk(
	char *target, const char *source, size_t bytes, cudaStream_t stream, double *fill_ns)
{
	struct chunk *chunk = &ring.chunks[ring.next];
	cudaError_t status = cudaSuccess;

	if (chunk->used) {
		status = cuda.event_wait(chunk->empty);
		if (status != cudaSuccess)
			return status;
		read_probe(chunk);
	}
	ring.next = (ring.next + 1) % ring.count;
	const uint64_t start_ns = tfs_clock_ns(CLOCK_MONOTONIC);
	read_source(chunk, source, bytes, stream);
	*fill_ns += (double)(tfs_clock_ns(CLOCK_MONOTONIC) - start_ns);
	return transfer(target, chunk, bytes, stream);
}

static void waste_time(void)
{
	const uint64_t end_ns = tfs_clock_ns(CLOCK_MONOTONIC) + 5000000;

	while (tfs_clock_ns(CLOCK_MONOTONIC) < end_ns)
		sched_yield();
}

static void predict(size_t bytes, double fill_ns)
{
	const struct rates *one = rates_of(bytes);
	const double pageable = one->pageable > 0 ? one->pageable : USUAL_PAGEABLE;
	const double pinned = one->pinned > 0 ? one->pinned : USUAL_PINNED;
	const double transfer_ns = (double)bytes / pinned;

	if ((one->pageable_samples == 0 || one->pinned_samples == 0) && one->staged < UNSAMPLED)
		return;
	tfs_rewrite_predict_call(
		SELF, (double)bytes / pageable - (fill_ns > transfer_ns ? fill_ns : transfer_ns));
}

static cudaError_t send(const struct tfs_copy_call *call)
{
	cudaStream_t stream = call->stream;
	cudaError_t status = cudaSuccess;
	double fill_ns = 0;

	if (stream == NULL)
		stream = call->per_thread ? cudaStreamPerThread : cudaStreamLegacy;
	if (!call->async)
		status = cuda.synchronize(stream);
	for (size_t done = 0; done < call->bytes && status == cudaSuccess;) {
		const size_t rest = call->bytes - done;
		const size_t bytes = rest < CHUNK_BYTES ? rest : CHUNK_BYTES;

		status = send_chunk((char *)call->target + done, (const char *)call->source + done,
			bytes, stream, &fill_ns);
		done += bytes;
	}
	if ((tfs_options.naive & NAIVE_SLOW) != 0)
		waste_time();
	rates_of(call->bytes)->staged++;
	predict(call->bytes, fill_ns);
	return status;
}

/* A few blocking copies go the program's way, to learn the rate of that. */
static bool send_pageable(const struct tfs_copy_call *call, uint32_t *out_status)
{
	struct rates *one = rates_of(call->bytes);

	if (call->async || call->per_thread || one->staged < SAMPLES ||
		one->pageable_samples >= SAMPLES)
		return false;
	*out_status = (uint32_t)cuda.synchronize(cudaStreamLegacy);
	if (*out_status != cudaSuccess)
		return true;
	const uint64_t start_ns = tfs_clock_ns(CLOCK_MONOTONIC);
	*out_status = (uint32_t)cuda.copy_and_wait(
		call->target, call->source, call->bytes, (enum cudaMemcpyKind)call->kind);
	keep_rate(&one->pageable, &one->pageable_samples, (double)call->bytes,
		(double)(tfs_clock_ns(CLOCK_MONOTONIC) - start_ns));
	return true;
}

/* All but the checks that need the ring; cheap ones first. */
static bool all_hold(const struct tfs_copy_call *call)
{
	const uint32_t site = call->site;
	int device = -1;

	return tfs_rewrite_check(SELF, CHECK_DIRECTION,
		       call->kind == cudaMemcpyHostToDevice || call->kind == cudaMemcpyDefault,
		       site) &&
	       tfs_rewrite_check(
		       SELF, CHECK_SIZE, call->bytes >= tfs_options.staging_min_bytes, site) &&
	       tfs_rewrite_check(SELF, CHECK_CAPTURE,
		       !tfs_capturing() || (tfs_options.naive & NAIVE_CAPTURE) != 0, site) &&
	       tfs_rewrite_check(SELF, CHECK_SOURCE,
		       is_pageable(call->source) &&
			       is_pageable((const char *)call->source + call->bytes - 1),
		       site) &&
	       tfs_rewrite_check(SELF, CHECK_TARGET,
		       cuda.device(&device) == cudaSuccess &&
			       is_own_memory(call->target, call->bytes, device),
		       site) &&
	       tfs_rewrite_check(SELF, CHECK_HOST_TABLES, !reads_host_tables(device), site) &&
	       tfs_rewrite_check(SELF, CHECK_MAPPED, is_mapped(call->source, call->bytes), site) &&
	       tfs_rewrite_check(SELF, CHECK_CORES, has_cores(call->bytes), site);
}

static bool copy(const struct tfs_copy_call *call, uint32_t *out_status)
{
	int device;
	bool taken = false;

	if (!all_hold(call) || cuda.device(&device) != cudaSuccess)
		return false;
	if (!tfs_rewrite_check(
		    SELF, CHECK_BUSY, pthread_mutex_trylock(&ring.lock) == 0, call->site))
		return false;
	if (!tfs_rewrite_check(SELF, CHECK_RING, make_ring(device), call->site)) {
		taken = false;
	} else if (tfs_rewrite_mode(SELF) == TFS_MODE_APPLY && send_pageable(call, out_status)) {
		taken = true;
	} else if (tfs_rewrite_apply(SELF, call->bytes)) {
		*out_status = (uint32_t)send(call);
		taken = true;
	}
	pthread_mutex_unlock(&ring.lock);
	return taken;
}

/* Where the two copies differ first; `bytes` when they do not, or cannot be read. */
static size_t first_difference(const struct tfs_copy_call *call, const char *aside)
{
	static char one[1 << 16], other[1 << 16]; /* the ring's lock is held */
	cudaStream_t stream = call->stream;

	if (stream == NULL)
		stream = call->per_thread ? cudaStreamPerThread : cudaStreamLegacy;
	for (size_t done = 0; done < call->bytes; done += sizeof(one)) {
		const size_t rest = call->bytes - done;
		const size_t bytes = rest < sizeof(one) ? rest : sizeof(one);

		if (cuda.copy(one, (char *)call->target + done, bytes, cudaMemcpyDeviceToHost,
			    stream) != cudaSuccess ||
			cuda.copy(other, aside + done, bytes, cudaMemcpyDeviceToHost, stream) !=
				cudaSuccess ||
			cuda.synchronize(stream) != cudaSuccess)
			return call->bytes;
		for (size_t i = 0; i < bytes; i++)
			if (one[i] != other[i])
				return done + i;
	}
	return call->bytes;
}

/* The same copy through the ring, to memory of our own. The lock is held. */
static size_t compare(const struct tfs_copy_call *call)
{
	struct tfs_copy_call again = *call;
	size_t at = call->bytes;

	if (cuda.peek_error() != cudaSuccess)
		return at;
	if (cuda.alloc(&again.target, call->bytes) != cudaSuccess) {
		cuda.take_error();
		return at;
	}
	tfs_rewrite_shadow(SELF, call->bytes);
	if (send(&again) == cudaSuccess)
		at = first_difference(call, again.target);
	cuda.release(again.target);
	return at;
}

static bool shadow(const struct tfs_copy_call *call, char *out_evidence, size_t bytes)
{
	size_t at = call->bytes;
	int device;

	if (!all_hold(call) || cuda.device(&device) != cudaSuccess)
		return true;
	if (!tfs_rewrite_check(
		    SELF, CHECK_BUSY, pthread_mutex_trylock(&ring.lock) == 0, call->site))
		return true;
	if (tfs_rewrite_check(SELF, CHECK_RING, make_ring(device), call->site))
		at = compare(call);
	pthread_mutex_unlock(&ring.lock);
	if (at < call->bytes)
		snprintf(out_evidence, bytes, "a copy of %zu bytes differed from byte %zu on",
			call->bytes, at);
	return at == call->bytes;
}

/* The runtime has freed the pinned memory and the events itself. */
static void reset(void)
{
	pthread_mutex_lock(&ring.lock);
	ring.count = 0;
	ring.device = -1;
	ring.probed = NULL;
	pthread_mutex_unlock(&ring.lock);
}

const struct tfs_rewrite tfs_rewrite_pinned_staging = {
	.name = "pinned-staging",
	.rank = TFS_CLASS_EXACT,
	.rules = "TFS101",
	.switchable = true,
	.checks = checks,
	.start = start,
	.copy = copy,
	.shadow = shadow,
	.reset = reset,
};
