/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/cudnn_desc.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The device takes memory in such pages. */
#define PAGE ((size_t)2 << 20)

static __thread char last_message[256];

cudnnStatus_t tfs_dnn_fail(cudnnStatus_t status, const char *message)
{
	snprintf(
		last_message, sizeof(last_message), "%s: %s", cudnnGetErrorString(status), message);
	return status;
}

TFS_DNN_API void cudnnGetLastErrorString(char *message, size_t max_size)
{
	if (!message || max_size == 0)
		return;
	snprintf(message, max_size, "%s", last_message);
	last_message[0] = '\0';
}

TFS_DNN_API size_t cudnnGetVersion(void)
{
	return CUDNN_VERSION;
}

TFS_DNN_API size_t cudnnGetMaxDeviceVersion(void)
{
	return 1210;
}

TFS_DNN_API size_t cudnnGetCudartVersion(void)
{
	return CUDART_VERSION;
}

TFS_DNN_API cudnnStatus_t cudnnGetProperty(libraryPropertyType type, int *value)
{
	if (!value)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	switch (type) {
	case MAJOR_VERSION:
		*value = CUDNN_MAJOR;
		return CUDNN_STATUS_SUCCESS;
	case MINOR_VERSION:
		*value = CUDNN_MINOR;
		return CUDNN_STATUS_SUCCESS;
	case PATCH_LEVEL:
		*value = CUDNN_PATCHLEVEL;
		return CUDNN_STATUS_SUCCESS;
	}
	return CUDNN_STATUS_BAD_PARAM;
}

TFS_DNN_API cudnnStatus_t cudnnGraphVersionCheck(void)
{
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnOpsVersionCheck(void)
{
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnCnnVersionCheck(void)
{
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnAdvVersionCheck(void)
{
	return CUDNN_STATUS_SUCCESS;
}

/* The runtime inside the real library does so, whatever the program has. */
static void open_driver(void)
{
	dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
}

TFS_DNN_API cudnnStatus_t cudnnCreate(cudnnHandle_t *handle)
{
	struct cudnnContext *h;
	cudaError_t error;

	if (!handle)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "handle is NULL");
	open_driver();
	if (tfsim_device_count() < 1)
		return tfs_dnn_fail(CUDNN_STATUS_NOT_INITIALIZED, "no device");
	h = calloc(1, sizeof(*h));
	if (!h)
		return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
	h->device = tfsim_device_current();
	error = tfsim_library_alloc(2 * PAGE, &h->memory);
	if (error) {
		free(h);
		if (error == cudaErrorMemoryAllocation)
			return tfs_dnn_fail(CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED,
				"memory of the handle");
		return tfs_dnn_fail(CUDNN_STATUS_NOT_INITIALIZED, "no device");
	}
	*handle = h;
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnDestroy(cudnnHandle_t handle)
{
	if (!handle)
		return CUDNN_STATUS_SUCCESS;
	tfsim_library_free(&handle->more);
	tfsim_library_free(&handle->memory);
	free(handle);
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream)
{
	if (!handle)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "handle is NULL");
	if ((uintptr_t)stream > (uintptr_t)cudaStreamPerThread &&
		tfsim_stream_device(stream) != handle->device)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_STREAM_MISMATCH,
			"the stream belongs to another device");
	handle->stream = stream;
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t *stream)
{
	if (!handle || !stream)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	*stream = handle->stream;
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnQueryRuntimeError(cudnnHandle_t handle, cudnnStatus_t *status,
	cudnnErrQueryMode_t mode, cudnnRuntimeTag_t *tag)
{
	(void)tag;
	if (!handle || !status)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	if (mode == CUDNN_ERRQUERY_BLOCKING && tfsim_stream_synchronize(handle->stream))
		return CUDNN_STATUS_EXECUTION_FAILED;
	*status = CUDNN_STATUS_SUCCESS;
	return CUDNN_STATUS_SUCCESS;
}

static struct {
	unsigned mask;
	void *data;
	cudnnCallback_t fn;
} callback;

TFS_DNN_API cudnnStatus_t cudnnSetCallback(unsigned mask, void *udata, cudnnCallback_t fptr)
{
	callback.mask = mask;
	callback.data = udata;
	callback.fn = fptr;
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnGetCallback(unsigned *mask, void **udata, cudnnCallback_t *fptr)
{
	if (!mask || !udata || !fptr)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	*mask = callback.mask;
	*udata = callback.data;
	*fptr = callback.fn;
	return CUDNN_STATUS_SUCCESS;
}

uint64_t tfs_dnn_cost(const struct tfs_dnn_work *work)
{
	uint64_t ns = tfsim_cost_math(work->math, work->bytes, work->flops);

	return work->slower > 0.0 ? (uint64_t)((double)ns * work->slower + 0.5) : ns;
}

cudnnStatus_t tfs_dnn_load(const char *part)
{
	if (tfsim_library_load(part, PAGE) == cudaSuccess)
		return CUDNN_STATUS_SUCCESS;
	return tfs_dnn_fail(
		CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED, "memory for the code");
}

/* In hostile mode some handles need more than they said when they were made. */
static cudnnStatus_t first_use(cudnnHandle_t handle)
{
	const size_t size = PAGE * tfsim_hostile_pick(0x800, 4);

	if (handle->used)
		return CUDNN_STATUS_SUCCESS;
	if (size && tfsim_library_alloc(size, &handle->more))
		return tfs_dnn_fail(CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED,
			"more memory of the handle");
	handle->used = true;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t tfs_dnn_submit(cudnnHandle_t handle, const struct tfs_dnn_work *work)
{
	struct tfsim_work w = {.kind = TFSIM_KERNEL};
	uint64_t threads = work->bytes / sizeof(float) + 1;
	cudnnStatus_t rc = first_use(handle);
	int n = 0;

	if (rc)
		return rc;
	w.name = work->name;
	w.cost_ns = tfs_dnn_cost(work);
	w.run = work->run;
	w.args = work->args;
	w.args_size = work->args_size;
	w.block.x = 256;
	w.grid.x = (unsigned)(threads / 256 + 1);
	w.block.y = w.block.z = w.grid.y = w.grid.z = 1;
	for (int i = 0; i < 3; i++)
		if (work->writes[i] && work->write_bytes[i])
			w.spans[n++] =
				(struct tfsim_span){work->writes[i], work->write_bytes[i], true};
	for (int i = 0; i < 5; i++)
		if (work->reads[i] && work->read_bytes[i])
			w.spans[n++] =
				(struct tfsim_span){work->reads[i], work->read_bytes[i], false};
	if (tfsim_enqueue(handle->stream, &w))
		return tfs_dnn_fail(CUDNN_STATUS_EXECUTION_FAILED, "the device refused the work");
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t tfs_dnn_check(const cudnnTensorDescriptor_t *desc, int n)
{
	for (int i = 0; i < n; i++)
		if (!desc[i] || desc[i]->v.nd == 0)
			return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER,
				"a tensor descriptor is missing or not set");
	for (int i = 0; i < n; i++)
		if (desc[i]->type != CUDNN_DATA_FLOAT)
			return tfs_dnn_fail(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE,
				"the simulated device computes with float only");
	return CUDNN_STATUS_SUCCESS;
}

struct tfs_blend tfs_dnn_blend(const void *alpha, const void *beta)
{
	struct tfs_blend s = {*(const float *)alpha, beta ? *(const float *)beta : 0.0f};

	return s;
}

size_t tfs_dnn_bytes(const struct tfs_view *v)
{
	return tfs_view_span(v) * sizeof(float);
}

struct tfs_act tfs_dnn_act(const struct cudnnActivationStruct *desc)
{
	struct tfs_act a = {(int)desc->mode, desc->nan == CUDNN_PROPAGATE_NAN, (float)desc->coef,
		(float)desc->swish_beta};

	return a;
}
