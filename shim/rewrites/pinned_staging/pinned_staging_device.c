/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/pinned_staging/pinned_staging_device.h"

#include <cuda_runtime_api.h>
#include <stdatomic.h>

#include "shim/base/driver_api.h"
#include "shim/resolve/direct.h"
#include "shim/resolve/layers.h"
#include "shim/state/memory.h"

#define TWINS(field, runtime) TFS_LAYER_TWINS(tfs_staging_device, field, TFS_TWINS_##runtime)
#define CALLS(field, runtime, driver)                                                              \
	TFS_LAYER_CALLS(tfs_staging_device, field, TFS_DIRECT_##runtime, TFS_DIRECT_##driver)
static const struct tfs_layer_row rows[] = {
	TWINS(wait, cudaStreamSynchronize),
	TWINS(is_capturing, cudaStreamIsCapturing),
	TWINS(pin, cudaHostAlloc),
	TWINS(unpin, cudaFreeHost),
	TWINS(alloc, cudaMalloc),
	TWINS(release, cudaFree),
	TWINS(event_create, cudaEventCreateWithFlags),
	TWINS(event_destroy, cudaEventDestroy),
	TWINS(event_record, cudaEventRecord),
	TWINS(event_query, cudaEventQuery),
	TWINS(event_wait, cudaEventSynchronize),
	TWINS(event_elapsed, cudaEventElapsedTime),
	TWINS(call, cudaLaunchHostFunc),
	TWINS(device, cudaGetDevice),
	TWINS(attribute, cudaDeviceGetAttribute),
	TWINS(bus_id, cudaDeviceGetPCIBusId),
	TWINS(capture_mode, cudaThreadExchangeStreamCaptureMode),
	TWINS(copy, cudaMemcpy),
	TWINS(copy_on, cudaMemcpyAsync),
	TWINS(pointer, cudaPointerGetAttributes),
	CALLS(peek_error, cudaPeekAtLastError, NONE),
	CALLS(take_error, cudaGetLastError, NONE),
	CALLS(context, NONE, cuCtxGetCurrent),
};

enum { UNKNOWN, LOOKING, USABLE, UNUSABLE };

#define FORMS 16u /* of a copy, on one layer */

/* Of a layer, with the functions of the program's that were found in the same library. */
static struct layer {
	struct tfs_staging_device device;
	_Atomic int state;
	_Atomic(const void *) known[FORMS];
	uint64_t library; /* where it is mapped */
} layers[2];

static bool look_up(struct layer *layer, bool driver)
{
	struct tfs_object object;

	if (!tfs_layer_fill(&layer->device, rows, sizeof(rows) / sizeof(rows[0]), driver))
		return false;
	layer->device.driver = driver;
	if (!tfs_lookup_object(layer->device.copy_on, &object))
		return false;
	layer->library = object.start;
	return true;
}

/* Finds out once; another thread meanwhile goes without. */
static __attribute__((noinline)) int learn_layer(struct layer *layer, bool driver)
{
	int state = UNKNOWN;

	if (atomic_compare_exchange_strong(&layer->state, &state, LOOKING)) {
		state = look_up(layer, driver) ? USABLE : UNUSABLE;
		atomic_store(&layer->state, state);
	}
	return state;
}

static __attribute__((noinline)) bool learn_form(struct layer *layer, const void *real)
{
	struct tfs_object object;
	uint32_t i = 0;

	while (i < FORMS && atomic_load(&layer->known[i]))
		i++;
	if (!tfs_lookup_object(real, &object) || object.start != layer->library)
		return false;
	if (i < FORMS)
		atomic_store(&layer->known[i], real);
	return true;
}

const struct tfs_staging_device *tfs_staging_device_of(const struct tfs_op *op)
{
	struct layer *layer = &layers[op->driver];
	int state = atomic_load(&layer->state);

	if (state == UNKNOWN && tfs_lookup_steady(TFS_LIBRARY_cuda))
		state = learn_layer(layer, op->driver);
	if (state != USABLE)
		return NULL;
	for (uint32_t i = 0; i < FORMS && atomic_load(&layer->known[i]); i++)
		if (atomic_load(&layer->known[i]) == op->copy.real)
			return &layer->device;
	return learn_form(layer, op->copy.real) ? &layer->device : NULL;
}

bool tfs_staging_context(
	const struct tfs_staging_device *device, struct tfs_staging_context *out_context)
{
	void *context = NULL;

	if (device->driver) {
		if (device->context(&context) != 0 || device->device(&out_context->device) != 0)
			return false;
	} else if (device->device(&out_context->device) != 0) {
		return false;
	} else if (!TFS_DIRECT(cuCtxGetCurrent)) {
		out_context->key = (uint64_t)out_context->device + 1;
		return true;
	} else if (TFS_DIRECT(cuCtxGetCurrent)((CUcontext *)&context) != CUDA_SUCCESS) {
		return false;
	}
	/* A new thread has none before its first call of the runtime. */
	out_context->key = (uint64_t)(uintptr_t)context;
	return context != NULL;
}

static enum tfs_staging_place place_by_driver(const struct tfs_staging_device *device,
	const struct tfs_staging_context *context, const void *address)
{
	int (*get)(unsigned, CUpointer_attribute *, void **, CUdeviceptr) =
		(__typeof__(get))device->pointer;
	CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
		CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_CONTEXT};
	unsigned type = 0;
	unsigned managed = 0;
	void *owner = NULL;
	void *values[] = {&type, &managed, &owner};

	if (get(3, which, values, (CUdeviceptr)(uintptr_t)address) != 0)
		return TFS_PLACE_OTHER;
	if (type == 0)
		return TFS_PLACE_PAGEABLE;
	return type == CU_MEMORYTYPE_DEVICE && managed == 0 &&
			       (uint64_t)(uintptr_t)owner == context->key
		       ? TFS_PLACE_OWN_DEVICE
		       : TFS_PLACE_OTHER;
}

enum tfs_staging_place tfs_staging_place(const struct tfs_staging_device *device,
	const struct tfs_staging_context *context, const void *address)
{
	int (*get)(struct cudaPointerAttributes *, const void *) = (__typeof__(get))device->pointer;
	struct cudaPointerAttributes attributes;

	if (device->driver)
		return place_by_driver(device, context, address);
	if (get(&attributes, address) != 0)
		return TFS_PLACE_OTHER;
	if (attributes.type == cudaMemoryTypeUnregistered)
		return TFS_PLACE_PAGEABLE;
	return attributes.type == cudaMemoryTypeDevice && attributes.device == context->device
		       ? TFS_PLACE_OWN_DEVICE
		       : TFS_PLACE_OTHER;
}

bool tfs_staging_is_pageable(const struct tfs_staging_device *device,
	const struct tfs_staging_context *context, const void *address, size_t bytes)
{
	const char *last = (const char *)address + bytes - 1;
	struct tfs_range range;

	return !tfs_memory_find((uint64_t)(uintptr_t)address, &range) &&
	       !tfs_memory_find((uint64_t)(uintptr_t)last, &range) &&
	       tfs_staging_place(device, context, address) == TFS_PLACE_PAGEABLE &&
	       tfs_staging_place(device, context, last) == TFS_PLACE_PAGEABLE;
}

uint64_t tfs_staging_stamp(const struct tfs_staging_device *device, const void *pinned)
{
	int (*get)(struct cudaPointerAttributes *, const void *) = (__typeof__(get))device->pointer;
	struct cudaPointerAttributes attributes;
	unsigned long long id = 0;
	CUresult status;

	if (!TFS_DIRECT(cuPointerGetAttribute))
		return !device->driver && get(&attributes, pinned) == 0 &&
		       attributes.type == cudaMemoryTypeHost;
	status = TFS_DIRECT(cuPointerGetAttribute)(
		&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, (CUdeviceptr)(uintptr_t)pinned);
	if (status == CUDA_SUCCESS)
		return id;
	return status == CUDA_ERROR_INVALID_VALUE ? 0 : TFS_STAMP_UNKNOWN;
}

int tfs_staging_copy_on(const struct tfs_staging_device *device, void *target, const void *source,
	size_t bytes, int kind, void *stream)
{
	int (*runtime)(void *, const void *, size_t, int, void *) =
		(__typeof__(runtime))device->copy_on;
	int (*driver)(CUdeviceptr, CUdeviceptr, size_t, void *) =
		(__typeof__(driver))device->copy_on;

	return device->driver ? driver((CUdeviceptr)(uintptr_t)target,
					(CUdeviceptr)(uintptr_t)source, bytes, stream)
			      : runtime(target, source, bytes, kind, stream);
}

/* Both layers have the same two special streams. */
void *tfs_staging_stream(const struct tfs_op *op)
{
	if (op->stream)
		return op->stream;
	return op->per_thread ? (void *)cudaStreamPerThread : (void *)cudaStreamLegacy;
}

bool tfs_staging_has_error(const struct tfs_staging_device *device)
{
	return !device->driver && device->peek_error() != 0;
}

void tfs_staging_drop_error(const struct tfs_staging_device *device)
{
	if (!device->driver)
		device->take_error();
}

/* Where the driver is mapped its own say is had, which leaves no error behind in the runtime. */
bool tfs_staging_is_ready(const struct tfs_staging_device *device, void *event)
{
	if (TFS_DIRECT(cuEventQuery))
		return TFS_DIRECT(cuEventQuery)(event) == CUDA_SUCCESS;
	if (tfs_staging_has_error(device))
		return false;
	if (device->event_query(event) == 0)
		return true;
	tfs_staging_drop_error(device);
	return false;
}

bool tfs_staging_can_record(const struct tfs_staging_device *device, void *event, void *stream)
{
	/* The default streams are the current context's. */
	if (stream == (void *)cudaStreamLegacy || stream == (void *)cudaStreamPerThread)
		return true;
	if (TFS_DIRECT(cuEventRecord))
		return TFS_DIRECT(cuEventRecord)(event, stream) == CUDA_SUCCESS;
	if (tfs_staging_has_error(device))
		return false;
	if (device->event_record(event, stream) == 0)
		return true;
	tfs_staging_drop_error(device);
	return false;
}
