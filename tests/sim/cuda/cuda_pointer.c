/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tests/sim/cuda/cuda_private.h"

static CUmemorytype memory_type(const struct tfsim_range *range)
{
	return range->kind == TFSIM_PINNED ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

/* Memory that the driver does not know is an error here, unlike in the runtime. */
static CUresult one(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
	struct tfsim_range range;
	void *start;

	if (!tfsim_memory_find(sim_pointer(ptr), &range))
		return CUDA_ERROR_INVALID_VALUE;
	start = range.base;
	switch (attribute) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		*(CUcontext *)data = sim_context_numbered(range.device, range.context);
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(unsigned int *)data = memory_type(&range);
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		*(CUdeviceptr *)data = ptr;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		if (range.kind == TFSIM_DEVICE)
			return CUDA_ERROR_INVALID_VALUE;
		*(void **)data = sim_pointer(ptr);
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
		*(int *)data = 0;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_BUFFER_ID:
		*(unsigned long long *)data = range.id;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*(bool *)data = range.kind == TFSIM_MANAGED;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*(int *)data = range.device;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		*(CUdeviceptr *)data = (uintptr_t)start;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		*(size_t *)data = range.size;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MAPPED:
		*(bool *)data = true;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		*(CUmemoryPool *)data = range.pool;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
}

static CUresult get(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
	return data ? one(data, attribute, ptr) : CUDA_ERROR_INVALID_VALUE;
}

SIM_DRIVER(cuPointerGetAttribute, (void *data, CUpointer_attribute attribute, CUdeviceptr ptr),
	get(data, attribute, ptr))

static size_t size_of(CUpointer_attribute attribute)
{
	switch (attribute) {
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
	case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		return 4;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
	case CU_POINTER_ATTRIBUTE_MAPPED:
		return 1;
	default:
		return 8;
	}
}

/* This form knows no error for unknown memory: what does not apply is zero, the ordinal -2. */
static CUresult get_all(
	unsigned count, CUpointer_attribute *attributes, void **data, CUdeviceptr ptr)
{
	unsigned i;

	if (!count || !attributes || !data)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < count; i++) {
		if (!data[i])
			return CUDA_ERROR_INVALID_VALUE;
		if (one(data[i], attributes[i], ptr) == CUDA_SUCCESS)
			continue;
		memset(data[i], 0, size_of(attributes[i]));
		if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
			*(int *)data[i] = -2;
	}
	return CUDA_SUCCESS;
}

SIM_DRIVER(cuPointerGetAttributes,
	(unsigned int numAttributes, CUpointer_attribute *attributes, void **data, CUdeviceptr ptr),
	get_all(numAttributes, attributes, data, ptr))

static CUresult set(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr)
{
	struct tfsim_range range;

	if (!value || !tfsim_memory_find(sim_pointer(ptr), &range))
		return CUDA_ERROR_INVALID_VALUE;
	return attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ? CUDA_SUCCESS
							     : CUDA_ERROR_INVALID_VALUE;
}

SIM_DRIVER(cuPointerSetAttribute,
	(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr),
	set(value, attribute, ptr))
