/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/search/search_device.h"

#include <sched.h>
#include <stdatomic.h>

#include "shim/base/clock.h"
#include "shim/base/env.h"
#include "shim/resolve/direct.h"
#include "shim/rewrites/memory/holding.h"
#include "shim/rewrites/memory/patience.h"
#include "shim/rewrites/memory/reserves.h"
#include "shim/state/capture.h"

#define MARGIN_BYTES (UINT64_C(256) << 20) /* left free on the device */

enum { STATE_NONE, STATE_MAKING, STATE_READY, STATE_TAKEN, STATE_FAILED };

static struct tfs_search_device devices[TFS_SEARCH_DEVICES];

/* Not cuCtxRecordEvent, since CUDA 12.5: without it other streams' work is not seen, but never
 * waited for. */
static const uint8_t needed[] = {TFS_DIRECT_cuCtxGetDevice, TFS_DIRECT_cuCtxGetCurrent,
	TFS_DIRECT_cuStreamCreate, TFS_DIRECT_cuStreamQuery, TFS_DIRECT_cuStreamIsCapturing,
	TFS_DIRECT_cuStreamGetCaptureInfo_v2, TFS_DIRECT_cuUserObjectCreate,
	TFS_DIRECT_cuGraphRetainUserObject, TFS_DIRECT_cuStreamSynchronize,
	TFS_DIRECT_cuCtxSynchronize, TFS_DIRECT_cuEventCreate, TFS_DIRECT_cuEventQuery,
	TFS_DIRECT_cuEventRecord, TFS_DIRECT_cuMemPoolCreate, TFS_DIRECT_cuMemPoolTrimTo,
	TFS_DIRECT_cuMemPoolGetAttribute, TFS_DIRECT_cuMemPoolSetAttribute,
	TFS_DIRECT_cuMemGetAddressRange_v2, TFS_DIRECT_cuMemAllocFromPoolAsync,
	TFS_DIRECT_cuMemFreeAsync, TFS_DIRECT_cuMemGetInfo_v2, TFS_DIRECT_cuMemcpyHtoDAsync_v2,
	TFS_DIRECT_cuMemcpyDtoDAsync_v2, TFS_DIRECT_cuMemcpyDtoHAsync_v2,
	TFS_DIRECT_cuMemsetD8Async, TFS_DIRECT_cuThreadExchangeStreamCaptureMode};

static bool look_up(void)
{
	static _Atomic int known;

	return (atomic_load(&known) != 0 || tfs_lookup_steady(TFS_LIBRARY_cuda)) &&
	       TFS_DIRECT_THERE(needed, &known);
}

struct tfs_search_device *tfs_search_device(void)
{
	CUdevice device;

	if (!look_up() || TFS_DIRECT(cuCtxGetDevice)(&device) != CUDA_SUCCESS || device < 0 ||
		device >= TFS_SEARCH_DEVICES)
		return NULL;
	atomic_store_explicit(&devices[device].number, device, memory_order_relaxed);
	return &devices[device];
}

struct tfs_search_device *tfs_search_device_at(uint32_t number)
{
	return number < TFS_SEARCH_DEVICES && tfs_search_device_made(&devices[number])
		       ? &devices[number]
		       : NULL;
}

CUstreamCaptureMode tfs_search_relax(void)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

	TFS_DIRECT(cuThreadExchangeStreamCaptureMode)(&mode);
	return mode;
}

void tfs_search_unrelax(CUstreamCaptureMode mode)
{
	TFS_DIRECT(cuThreadExchangeStreamCaptureMode)(&mode);
}

/* Nothing of one stream's is to wait for another: the pool hands out what is free by then. What it
 * has it keeps, but for whoever needs it more. */
static bool make_pool(struct tfs_search_device *device)
{
	const CUmemPoolProps properties = {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
		.handleTypes = CU_MEM_HANDLE_TYPE_NONE,
		.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device->number},
	};
	int no = 0;

	return TFS_DIRECT(cuMemPoolCreate)(&device->pool, &properties) == CUDA_SUCCESS &&
	       TFS_DIRECT(cuMemPoolSetAttribute)(device->pool,
		       CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, &no) == CUDA_SUCCESS &&
	       tfs_reserves_keep(true, device->pool, (uint32_t)device->number,
		       tfs_options.search_workspace_bytes);
}

static bool make(struct tfs_search_device *device)
{
	if (!make_pool(device) ||
		TFS_DIRECT(cuStreamCreate)(&device->stream, CU_STREAM_NON_BLOCKING) !=
			CUDA_SUCCESS ||
		TFS_DIRECT(cuEventCreate)(&device->reached, CU_EVENT_DISABLE_TIMING) !=
			CUDA_SUCCESS)
		return false;
	atomic_store(&device->poor, false);
	device->event = NULL;
	if (TFS_DIRECT(cuCtxRecordEvent) &&
		TFS_DIRECT(cuEventCreate)(&device->event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
		device->event = NULL;
	return true;
}

void tfs_search_device_make(void)
{
	struct tfs_search_device *device = tfs_search_device();
	int state = STATE_NONE;

	if (!device || tfs_capturing() ||
		!atomic_compare_exchange_strong(&device->state, &state, STATE_MAKING))
		return;
	const CUstreamCaptureMode mode = tfs_search_relax();
	const bool made = make(device);
	tfs_search_unrelax(mode);
	if (made)
		atomic_fetch_add(&tfs_search_devices_made, 1);
	atomic_store(&device->state, made ? STATE_READY : STATE_FAILED);
}

bool tfs_search_device_made(struct tfs_search_device *device)
{
	const int state = device ? atomic_load(&device->state) : STATE_NONE;

	return state == STATE_READY || state == STATE_TAKEN;
}

uint64_t tfs_search_device_free(void)
{
	size_t available;
	size_t all;

	return TFS_DIRECT(cuMemGetInfo_v2)(&available, &all) == CUDA_SUCCESS ? available : 0;
}

bool tfs_search_device_spares(uint64_t bytes)
{
	return tfs_search_device_free() >= bytes + MARGIN_BYTES;
}

uint64_t tfs_search_device_reserved(struct tfs_search_device *device)
{
	const __typeof__(&cuMemPoolGetAttribute) get = TFS_DIRECT(cuMemPoolGetAttribute);
	cuuint64_t bytes = 0;

	get(device->pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &bytes);
	return bytes;
}

/* Memory is short: what the pool keeps goes back with the next wait. */
static void keep_nothing(struct tfs_search_device *device)
{
	cuuint64_t none = 0;

	atomic_store(&device->poor, true);
	tfs_reserves_leave(device->pool);
	TFS_DIRECT(cuMemPoolSetAttribute)(device->pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &none);
}

bool tfs_search_capturing(CUstream stream)
{
	CUstreamCaptureStatus status;

	return tfs_capturing() ||
	       TFS_DIRECT(cuStreamIsCapturing)(stream, &status) != CUDA_SUCCESS ||
	       status != CU_STREAM_CAPTURE_STATUS_NONE;
}

bool tfs_search_captured(CUstream stream, uint64_t *out_capture)
{
	CUstreamCaptureStatus status;
	cuuint64_t capture = 0;

	if (TFS_DIRECT(cuStreamGetCaptureInfo_v2)(stream, &status, &capture, NULL, NULL, NULL) !=
			CUDA_SUCCESS ||
		status == CU_STREAM_CAPTURE_STATUS_INVALIDATED)
		return false;
	*out_capture = status == CU_STREAM_CAPTURE_STATUS_NONE ? 0 : capture;
	return true;
}

bool tfs_search_tell_end(CUstream stream, CUhostFn ended, void *data)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	CUgraph graph = NULL;
	CUuserObject object;

	/* An object that no graph takes is left: giving it up would tell of its end. */
	return TFS_DIRECT(cuStreamGetCaptureInfo_v2)(stream, &status, NULL, &graph, NULL, NULL) ==
		       CUDA_SUCCESS &&
	       status == CU_STREAM_CAPTURE_STATUS_ACTIVE && graph &&
	       TFS_DIRECT(cuUserObjectCreate)(&object, data, ended, 1,
		       CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) == CUDA_SUCCESS &&
	       TFS_DIRECT(cuGraphRetainUserObject)(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE) ==
		       CUDA_SUCCESS;
}

bool tfs_search_device_take(struct tfs_search_device *device)
{
	int state = STATE_READY;

	if (!atomic_compare_exchange_strong(&device->state, &state, STATE_TAKEN))
		return false;
	device->mode = tfs_search_relax();
	return true;
}

void tfs_search_device_leave(struct tfs_search_device *device)
{
	int state = STATE_TAKEN;

	tfs_search_unrelax(device->mode);
	/* Not after a reset. */
	atomic_compare_exchange_strong(&device->state, &state, STATE_READY);
}

/* Marks what all of the context's streams have to do; false: only some of them can be asked. */
static bool record(struct tfs_search_device *device)
{
	CUcontext context = NULL;

	return device->event && TFS_DIRECT(cuCtxGetCurrent)(&context) == CUDA_SUCCESS &&
	       TFS_DIRECT(cuCtxRecordEvent)(context, device->event) == CUDA_SUCCESS;
}

static bool is_over(struct tfs_search_device *device, CUstream stream, bool recorded)
{
	return TFS_DIRECT(cuStreamQuery)(stream) == CUDA_SUCCESS &&
	       TFS_DIRECT(cuStreamQuery)(NULL) == CUDA_SUCCESS &&
	       (!recorded || TFS_DIRECT(cuEventQuery)(device->event) == CUDA_SUCCESS);
}

/* A capture that begins now would be spoilt by the questions. */
static bool may_ask(CUstream stream)
{
	return !tfs_search_capturing(stream) && !tfs_search_capturing(NULL);
}

bool tfs_search_device_idle(struct tfs_search_device *device, CUstream stream)
{
	bool over = false;

	if (!may_ask(stream))
		return false;
	const bool recorded = record(device);
	const struct tfs_patience patience = tfs_patience_begin(TFS_PATIENCE_SEARCH);
	while (!tfs_capturing() && !(over = is_over(device, stream, recorded)) &&
		tfs_patience_lasts(&patience))
		sched_yield();
	tfs_patience_end(&patience, over);
	return over;
}

bool tfs_search_device_idle_within(
	struct tfs_search_device *device, CUstream stream, uint64_t most_ns)
{
	const uint64_t start_ns = tfs_clock_ns(CLOCK_MONOTONIC);
	bool over = false;

	if (!may_ask(stream))
		return false;
	const bool recorded = record(device);
	while (!tfs_capturing() && !(over = is_over(device, stream, recorded)) &&
		tfs_clock_ns(CLOCK_MONOTONIC) - start_ns < most_ns)
		sched_yield();
	return over;
}

bool tfs_search_device_wait(CUstream stream, bool all)
{
	return (all ? TFS_DIRECT(cuCtxSynchronize)() : TFS_DIRECT(cuStreamSynchronize)(stream)) ==
	       CUDA_SUCCESS;
}

static void *allocate(struct tfs_search_device *device, uint64_t bytes, CUstream stream)
{
	CUdeviceptr memory = 0;

	return TFS_DIRECT(cuMemAllocFromPoolAsync)(
		       &memory, bytes > 0 ? bytes : 1, device->pool, stream) == CUDA_SUCCESS
		       ? (void *)(uintptr_t)memory
		       : NULL;
}

void *tfs_search_allocate(struct tfs_search_device *device, uint64_t bytes, CUstream stream)
{
	return tfs_search_device_spares(bytes) ? allocate(device, bytes, stream) : NULL;
}

void *tfs_search_borrow(struct tfs_search_device *device, uint64_t bytes, CUstream stream)
{
	if (atomic_load(&device->poor))
		return NULL;
	const CUstreamCaptureMode mode = tfs_search_relax();
	const uint64_t before = tfs_search_device_reserved(device);
	void *memory = allocate(device, bytes, stream);

	if (memory && tfs_search_device_reserved(device) > before && !tfs_search_device_spares(0)) {
		tfs_search_free(memory, stream);
		memory = NULL;
	}
	if (!memory)
		keep_nothing(device);
	tfs_search_unrelax(mode);
	return memory;
}

void *tfs_search_take(struct tfs_search_device *device, uint64_t bytes)
{
	const CUstreamCaptureMode mode = tfs_search_relax();
	void *memory = tfs_search_allocate(device, bytes, device->stream);

	if (memory && TFS_DIRECT(cuStreamSynchronize)(device->stream) != CUDA_SUCCESS)
		memory = NULL;
	tfs_search_unrelax(mode);
	return memory;
}

bool tfs_search_is_memory(const void *memory)
{
	CUdeviceptr base;
	size_t bytes;

	return memory && TFS_DIRECT(cuMemGetAddressRange_v2)(
				 &base, &bytes, (CUdeviceptr)(uintptr_t)memory) == CUDA_SUCCESS;
}

void tfs_search_free(void *memory, CUstream stream)
{
	if (memory)
		TFS_DIRECT(cuMemFreeAsync)((CUdeviceptr)(uintptr_t)memory, stream);
}

static CUdeviceptr address(const void *memory)
{
	return (CUdeviceptr)(uintptr_t)memory;
}

void tfs_search_send(
	struct tfs_search_device *device, void *target, const void *host, uint64_t bytes)
{
	TFS_DIRECT(cuMemcpyHtoDAsync_v2)(address(target), host, bytes, device->stream);
}

bool tfs_search_copy(void *target, const void *source, uint64_t bytes, CUstream stream)
{
	return TFS_DIRECT(cuMemcpyDtoDAsync_v2)(address(target), address(source), bytes, stream) ==
	       CUDA_SUCCESS;
}

void tfs_search_set(
	struct tfs_search_device *device, void *target, unsigned char value, uint64_t bytes)
{
	TFS_DIRECT(cuMemsetD8Async)(address(target), value, bytes, device->stream);
}

bool tfs_search_fetch(
	struct tfs_search_device *device, void *host, const void *source, uint64_t bytes)
{
	return TFS_DIRECT(cuMemcpyDtoHAsync_v2)(host, address(source), bytes, device->stream) ==
		       CUDA_SUCCESS &&
	       TFS_DIRECT(cuStreamSynchronize)(device->stream) == CUDA_SUCCESS;
}

bool tfs_search_mark(struct tfs_search_device *device, CUstream stream)
{
	return TFS_DIRECT(cuEventRecord)(device->reached, stream) == CUDA_SUCCESS;
}

bool tfs_search_reached(struct tfs_search_device *device)
{
	return TFS_DIRECT(cuEventQuery)(device->reached) == CUDA_SUCCESS;
}

void tfs_search_device_settle(struct tfs_search_device *device)
{
	TFS_DIRECT(cuStreamSynchronize)(device->stream);
	TFS_DIRECT(cuMemPoolTrimTo)(device->pool, 0);
}

void tfs_search_device_forget(uint32_t device)
{
	if (device >= TFS_SEARCH_DEVICES)
		return;
	if (tfs_search_device_made(&devices[device]))
		atomic_fetch_sub(&tfs_search_devices_made, 1);
	atomic_store(&devices[device].state, STATE_NONE);
}
