/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/cudnn_search/search_device.h"

#include <sched.h>
#include <stdatomic.h>

#include "shim/base/env.h"
#include "shim/resolve/lookup.h"
#include "shim/rewrites/cudnn_search/decisions.h"
#include "shim/rewrites/memory/patience.h"
#include "shim/rewrites/memory/reserves.h"
#include "shim/rewrites/memory/search_held.h"
#include "shim/state/capture.h"

#define MARGIN_BYTES (UINT64_C(256) << 20) /* left free on the device */

enum { STATE_NONE, STATE_MAKING, STATE_READY, STATE_TAKEN, STATE_FAILED };

static struct tfs_search_device devices[TFS_SEARCH_DEVICES];

enum { NOT_LOOKED, LOOKED, NOT_THERE };
static _Atomic int looked;

static struct {
	__typeof__(&cudnnCreate) create;
	__typeof__(&cudnnDestroy) destroy;
	__typeof__(&cudnnSetStream) set_stream;
	__typeof__(&cudnnGetVersion) version;
	CUresult (*device)(CUdevice *);
	CUresult (*context)(CUcontext *);
	CUresult (*name)(char *, int, CUdevice);
	CUresult (*stream)(CUstream *, unsigned);
	CUresult (*query)(CUstream);
	CUresult (*capturing)(CUstream, CUstreamCaptureStatus *);
	CUresult (*capture)(CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *,
		const CUgraphNode **, size_t *);
	CUresult (*object)(CUuserObject *, void *, CUhostFn, unsigned, unsigned);
	CUresult (*retain)(CUgraph, CUuserObject, unsigned, unsigned);
	CUresult (*synchronize)(CUstream);
	CUresult (*synchronize_all)(void);
	CUresult (*event)(CUevent *, unsigned);
	CUresult (*record)(CUcontext, CUevent);
	CUresult (*event_query)(CUevent);
	CUresult (*mark)(CUevent, CUstream);
	CUresult (*pool)(CUmemoryPool *, const CUmemPoolProps *);
	CUresult (*pool_get)(CUmemoryPool, CUmemPool_attribute, void *);
	CUresult (*pool_set)(CUmemoryPool, CUmemPool_attribute, void *);
	CUresult (*trim)(CUmemoryPool, size_t);
	CUresult (*allocate)(CUdeviceptr *, size_t, CUmemoryPool, CUstream);
	CUresult (*free)(CUdeviceptr, CUstream);
	CUresult (*info)(size_t *, size_t *);
	CUresult (*range)(CUdeviceptr *, size_t *, CUdeviceptr);
	CUresult (*send)(CUdeviceptr, const void *, size_t, CUstream);
	CUresult (*copy)(CUdeviceptr, CUdeviceptr, size_t, CUstream);
	CUresult (*fetch)(void *, CUdeviceptr, size_t, CUstream);
	CUresult (*set)(CUdeviceptr, unsigned char, size_t, CUstream);
	CUresult (*capture_mode)(CUstreamCaptureMode *);
} real;

#define LOOK_UP(field, library, name)                                                              \
	(real.field = (__typeof__(real.field))tfs_lookup_named(TFS_LIBRARY_##library, name))

static bool look_up_all(void)
{
	/* Since CUDA 12.5. Without it other streams' work is not seen, but never waited for. */
	LOOK_UP(record, cuda, "cuCtxRecordEvent");
	return LOOK_UP(create, cudnn, "cudnnCreate") && LOOK_UP(destroy, cudnn, "cudnnDestroy") &&
	       LOOK_UP(set_stream, cudnn, "cudnnSetStream") &&
	       LOOK_UP(version, cudnn, "cudnnGetVersion") &&
	       LOOK_UP(device, cuda, "cuCtxGetDevice") &&
	       LOOK_UP(context, cuda, "cuCtxGetCurrent") &&
	       LOOK_UP(name, cuda, "cuDeviceGetName") && LOOK_UP(stream, cuda, "cuStreamCreate") &&
	       LOOK_UP(query, cuda, "cuStreamQuery") &&
	       LOOK_UP(capturing, cuda, "cuStreamIsCapturing") &&
	       LOOK_UP(capture, cuda, "cuStreamGetCaptureInfo_v2") &&
	       LOOK_UP(object, cuda, "cuUserObjectCreate") &&
	       LOOK_UP(retain, cuda, "cuGraphRetainUserObject") &&
	       LOOK_UP(synchronize, cuda, "cuStreamSynchronize") &&
	       LOOK_UP(synchronize_all, cuda, "cuCtxSynchronize") &&
	       LOOK_UP(event, cuda, "cuEventCreate") &&
	       LOOK_UP(event_query, cuda, "cuEventQuery") && LOOK_UP(mark, cuda, "cuEventRecord") &&
	       LOOK_UP(pool, cuda, "cuMemPoolCreate") && LOOK_UP(trim, cuda, "cuMemPoolTrimTo") &&
	       LOOK_UP(pool_get, cuda, "cuMemPoolGetAttribute") &&
	       LOOK_UP(pool_set, cuda, "cuMemPoolSetAttribute") &&
	       LOOK_UP(range, cuda, "cuMemGetAddressRange_v2") &&
	       LOOK_UP(allocate, cuda, "cuMemAllocFromPoolAsync") &&
	       LOOK_UP(free, cuda, "cuMemFreeAsync") && LOOK_UP(info, cuda, "cuMemGetInfo_v2") &&
	       LOOK_UP(send, cuda, "cuMemcpyHtoDAsync_v2") &&
	       LOOK_UP(copy, cuda, "cuMemcpyDtoDAsync_v2") &&
	       LOOK_UP(fetch, cuda, "cuMemcpyDtoHAsync_v2") &&
	       LOOK_UP(set, cuda, "cuMemsetD8Async") &&
	       LOOK_UP(capture_mode, cuda, "cuThreadExchangeStreamCaptureMode");
}

/* Two threads may do this at once; both find the same. */
static bool look_up(void)
{
	int now = atomic_load_explicit(&looked, memory_order_acquire);

	if (now == NOT_LOOKED && tfs_lookup_steady(TFS_LIBRARY_cudnn) &&
		tfs_lookup_steady(TFS_LIBRARY_cuda)) {
		now = look_up_all() ? LOOKED : NOT_THERE;
		atomic_store_explicit(&looked, now, memory_order_release);
	}
	return now == LOOKED;
}

struct tfs_search_device *tfs_search_device(void)
{
	CUdevice device;
	char name[96];

	if (!look_up() || real.device(&device) != CUDA_SUCCESS || device < 0 ||
		device >= TFS_SEARCH_DEVICES)
		return NULL;
	struct tfs_search_device *one = &devices[device];
	if (__atomic_load_n(&one->machine, __ATOMIC_ACQUIRE) != 0)
		return one;
	/* Two threads may do this at once; both find the same. */
	if (real.name(name, sizeof(name), device) != CUDA_SUCCESS)
		return NULL;
	one->number = device;
	const uint32_t machine = tfs_decisions_machine(name, real.version());
	__atomic_store_n(&one->machine, machine, __ATOMIC_RELEASE);
	return machine != 0 ? one : NULL;
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

	real.capture_mode(&mode);
	return mode;
}

void tfs_search_unrelax(CUstreamCaptureMode mode)
{
	real.capture_mode(&mode);
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

	return real.pool(&device->pool, &properties) == CUDA_SUCCESS &&
	       real.pool_set(device->pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES,
		       &no) == CUDA_SUCCESS &&
	       tfs_reserves_keep(true, device->pool, (uint32_t)device->number,
		       tfs_options.search_workspace_bytes);
}

static bool make(struct tfs_search_device *device)
{
	if (!make_pool(device) ||
		real.stream(&device->stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS ||
		real.event(&device->reached, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
		return false;
	device->handle = NULL;
	atomic_store(&device->handle_bytes, 0);
	atomic_store(&device->poor, false);
	device->event = NULL;
	if (real.record && real.event(&device->event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
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

bool tfs_search_device_spares(uint64_t bytes)
{
	size_t available;
	size_t all;

	return real.info(&available, &all) == CUDA_SUCCESS && available >= bytes + MARGIN_BYTES;
}

uint64_t tfs_search_device_reserved(struct tfs_search_device *device)
{
	cuuint64_t bytes = 0;

	real.pool_get(device->pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &bytes);
	return bytes;
}

/* Memory is short: what the pool keeps goes back with the next wait. */
static void keep_nothing(struct tfs_search_device *device)
{
	cuuint64_t none = 0;

	atomic_store(&device->poor, true);
	tfs_reserves_leave(device->pool);
	real.pool_set(device->pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &none);
}

bool tfs_search_device_equip(struct tfs_search_device *device)
{
	size_t before, after, all;

	if (device->handle)
		return true;
	if (real.info(&before, &all) != CUDA_SUCCESS || before < MARGIN_BYTES ||
		real.create(&device->handle) != CUDNN_STATUS_SUCCESS) {
		device->handle = NULL;
		return false;
	}
	if (real.info(&after, &all) == CUDA_SUCCESS && after < before)
		atomic_store(&device->handle_bytes, before - after);
	return real.set_stream(device->handle, device->stream) == CUDNN_STATUS_SUCCESS;
}

void tfs_search_device_end_handle(struct tfs_search_device *device)
{
	if (device->handle)
		real.destroy(device->handle);
	device->handle = NULL;
	atomic_store(&device->handle_bytes, 0);
}

bool tfs_search_capturing(CUstream stream)
{
	CUstreamCaptureStatus status;

	return tfs_capturing() || real.capturing(stream, &status) != CUDA_SUCCESS ||
	       status != CU_STREAM_CAPTURE_STATUS_NONE;
}

bool tfs_search_captured(CUstream stream, uint64_t *out_capture)
{
	CUstreamCaptureStatus status;
	cuuint64_t capture = 0;

	if (real.capture(stream, &status, &capture, NULL, NULL, NULL) != CUDA_SUCCESS ||
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
	return real.capture(stream, &status, NULL, &graph, NULL, NULL) == CUDA_SUCCESS &&
	       status == CU_STREAM_CAPTURE_STATUS_ACTIVE && graph &&
	       real.object(&object, data, ended, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) ==
		       CUDA_SUCCESS &&
	       real.retain(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE) == CUDA_SUCCESS;
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

static bool is_over(struct tfs_search_device *device, CUstream stream, bool recorded)
{
	return real.query(stream) == CUDA_SUCCESS && real.query(NULL) == CUDA_SUCCESS &&
	       (!recorded || real.event_query(device->event) == CUDA_SUCCESS);
}

bool tfs_search_device_idle(struct tfs_search_device *device, CUstream stream)
{
	CUcontext context = NULL;
	bool over = false;

	/* A capture that begins now would be spoilt by the questions. */
	if (tfs_search_capturing(stream) || tfs_search_capturing(NULL))
		return false;
	const bool recorded = device->event && real.context(&context) == CUDA_SUCCESS &&
			      real.record(context, device->event) == CUDA_SUCCESS;
	const struct tfs_patience patience = tfs_patience_begin(TFS_PATIENCE_SEARCH);
	while (!tfs_capturing() && !(over = is_over(device, stream, recorded)) &&
		tfs_patience_lasts(&patience))
		sched_yield();
	tfs_patience_end(&patience, over);
	return over;
}

bool tfs_search_device_wait(CUstream stream, bool all)
{
	return (all ? real.synchronize_all() : real.synchronize(stream)) == CUDA_SUCCESS;
}

static void *allocate(struct tfs_search_device *device, uint64_t bytes, CUstream stream)
{
	CUdeviceptr memory = 0;

	return real.allocate(&memory, bytes > 0 ? bytes : 1, device->pool, stream) == CUDA_SUCCESS
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

	if (memory && real.synchronize(device->stream) != CUDA_SUCCESS)
		memory = NULL;
	tfs_search_unrelax(mode);
	return memory;
}

bool tfs_search_is_memory(const void *memory)
{
	CUdeviceptr base;
	size_t bytes;

	return memory && real.range(&base, &bytes, (CUdeviceptr)(uintptr_t)memory) == CUDA_SUCCESS;
}

void tfs_search_free(void *memory, CUstream stream)
{
	if (memory)
		real.free((CUdeviceptr)(uintptr_t)memory, stream);
}

static CUdeviceptr address(const void *memory)
{
	return (CUdeviceptr)(uintptr_t)memory;
}

void tfs_search_send(
	struct tfs_search_device *device, void *target, const void *host, uint64_t bytes)
{
	real.send(address(target), host, bytes, device->stream);
}

bool tfs_search_copy(void *target, const void *source, uint64_t bytes, CUstream stream)
{
	return real.copy(address(target), address(source), bytes, stream) == CUDA_SUCCESS;
}

void tfs_search_set(
	struct tfs_search_device *device, void *target, unsigned char value, uint64_t bytes)
{
	real.set(address(target), value, bytes, device->stream);
}

bool tfs_search_fetch(
	struct tfs_search_device *device, void *host, const void *source, uint64_t bytes)
{
	return real.fetch(host, address(source), bytes, device->stream) == CUDA_SUCCESS &&
	       real.synchronize(device->stream) == CUDA_SUCCESS;
}

bool tfs_search_mark(struct tfs_search_device *device, CUstream stream)
{
	return real.mark(device->reached, stream) == CUDA_SUCCESS;
}

bool tfs_search_reached(struct tfs_search_device *device)
{
	return real.event_query(device->reached) == CUDA_SUCCESS;
}

void tfs_search_device_settle(struct tfs_search_device *device)
{
	real.synchronize(device->stream);
	real.trim(device->pool, 0);
}

void tfs_search_device_forget(uint32_t device)
{
	if (device >= TFS_SEARCH_DEVICES)
		return;
	if (tfs_search_device_made(&devices[device]))
		atomic_fetch_sub(&tfs_search_devices_made, 1);
	atomic_store(&devices[device].state, STATE_NONE);
}
