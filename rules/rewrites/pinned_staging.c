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
 */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rules/rewrites/rewrite.h"
#include "shim/capture.h"
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
	__typeof__(&cudaLaunchHostFunc) host_function;
	__typeof__(&cudaGetDevice) device;
	__typeof__(&cudaDeviceGetAttribute) attribute;
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
} ring = {.lock = PTHREAD_MUTEX_INITIALIZER, .device = -1};

#define LOOK_UP(field, name)                                                                       \
	(cuda.field = (__typeof__(cuda.field))tfs_lookup_named(TFS_LIBRARY_cudart, name))

static bool start(void)
{
	return LOOK_UP(copy, "cudaMemcpyAsync") && LOOK_UP(synchronize, "cudaStreamSynchronize") &&
	       LOOK_UP(host_alloc, "cudaHostAlloc") &&
	       LOOK_UP(event_create, "cudaEventCreateWithFlags") &&
	       LOOK_UP(event_record, "cudaEventRecord") &&
	       LOOK_UP(event_wait, "cudaEventSynchronize") &&
	       LOOK_UP(host_function, "cudaLaunchHostFunc") && LOOK_UP(device, "cudaGetDevice") &&
	       LOOK_UP(attribute, "cudaDeviceGetAttribute") &&
	       LOOK_UP(pointer, "cudaPointerGetAttributes");
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

/* Makes the ring on first use; the lock is held. */
static bool make_ring(int device)
{
	const uint64_t most = tfs_options.staging_limit_bytes / CHUNK_BYTES;
	char *memory = NULL;

	if (ring.count > 0)
		return ring.device == device;
	if (ring.failed || most < 2)
		return false;
	const uint32_t count = most < MOST_CHUNKS ? (uint32_t)most : MOST_CHUNKS;
	ring.failed = cuda.host_alloc((void **)&memory, count * CHUNK_BYTES,
			      cudaHostAllocPortable) != cudaSuccess;
	for (uint32_t i = 0; i < count && !ring.failed; i++) {
		ring.chunks[i] = (struct chunk){.memory = memory + i * CHUNK_BYTES};
		ring.failed = cuda.event_create(&ring.chunks[i].empty, cudaEventDisableTiming) !=
			      cudaSuccess;
	}
	if (ring.failed)
		return false;
	ring.count = count;
	ring.next = 0;
	ring.device = device;
	return true;
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
		return;
	}
	*one = (struct late){chunk->memory, source, bytes};
	cuda.host_function(stream, read_late, one);
}

static cudaError_t send_chunk(char *target, const char *source, size_t bytes, cudaStream_t stream)
{
	struct chunk *chunk = &ring.chunks[ring.next];
	cudaError_t status = cudaSuccess;

	ring.next = (ring.next + 1) % ring.count;
	if (chunk->used)
		status = cuda.event_wait(chunk->empty);
	if (status != cudaSuccess)
		return status;
	read_source(chunk, source, bytes, stream);
	status = cuda.copy(target, chunk->memory, bytes, cudaMemcpyHostToDevice, stream);
	if (status == cudaSuccess)
		status = cuda.event_record(chunk->empty, stream);
	chunk->used = status == cudaSuccess;
	return status;
}

static cudaError_t send(const struct tfs_copy_call *call)
{
	cudaStream_t stream = call->stream;
	cudaError_t status = cudaSuccess;

	if (stream == NULL)
		stream = call->per_thread ? cudaStreamPerThread : cudaStreamLegacy;
	if (!call->async)
		status = cuda.synchronize(stream);
	for (size_t done = 0; done < call->bytes && status == cudaSuccess;) {
		const size_t rest = call->bytes - done;
		const size_t bytes = rest < CHUNK_BYTES ? rest : CHUNK_BYTES;

		status = send_chunk((char *)call->target + done, (const char *)call->source + done,
			bytes, stream);
		done += bytes;
	}
	return status;
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
	       tfs_rewrite_check(SELF, CHECK_SOURCE, is_pageable(call->source), site) &&
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
	if (tfs_rewrite_check(SELF, CHECK_RING, make_ring(device), call->site) &&
		tfs_rewrite_apply(SELF, call->bytes)) {
		*out_status = (uint32_t)send(call);
		taken = true;
	}
	pthread_mutex_unlock(&ring.lock);
	return taken;
}

/* The runtime has freed the pinned memory and the events itself. */
static void reset(void)
{
	pthread_mutex_lock(&ring.lock);
	ring.count = 0;
	ring.device = -1;
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
	.reset = reset,
};
