/* SPDX-License-Identifier: MIT */
/*
 * The calls on descriptors. Where the documentation leaves the status open, it is the one that the
 * real library of this version gives.
 */
#include <string.h>

#include "tests/sim/cudnn/backend/cudnn_backend.h"

TFS_DNN_API cudnnStatus_t cudnnBackendCreateDescriptor(
	cudnnBackendDescriptorType_t descriptorType, cudnnBackendDescriptor_t *descriptor)
{
	if (!descriptor)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "descriptor is NULL");
	if (!tfs_backend_name(descriptorType))
		return tfs_dnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "descriptor type");
	*descriptor = tfs_backend_create(descriptorType);
	return *descriptor ? CUDNN_STATUS_SUCCESS
			   : CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
}

TFS_DNN_API cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor)
{
	if (!descriptor)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "descriptor is NULL");
	tfs_backend_unref(descriptor);
	return CUDNN_STATUS_SUCCESS;
}

/* Memory that the program brought; cuDNN 9 allocates and has nothing left to do. */
TFS_DNN_API cudnnStatus_t cudnnBackendInitialize(cudnnBackendDescriptor_t descriptor)
{
	if (!descriptor)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "descriptor is NULL");
	return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t check_children(int64_t count, const void *elements)
{
	struct tfs_backend *const *child = elements;

	for (int64_t i = 0; i < count; i++)
		if (!child[i])
			return tfs_dnn_fail(
				CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "a descriptor is NULL");
	for (int64_t i = 0; i < count; i++)
		if (!child[i]->finalized)
			return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED,
				"a descriptor is not finalized");
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
	cudnnBackendAttributeName_t attributeName, cudnnBackendAttributeType_t attributeType,
	int64_t elementCount, const void *arrayOfElements)
{
	struct tfs_backend *desc = descriptor;
	const struct tfs_attr *attr;
	cudnnStatus_t rc;

	if (!desc)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "descriptor is NULL");
	if (desc->finalized)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "the descriptor is finalized");
	if (!tfs_attr_any(desc->type))
		return CUDNN_STATUS_SUCCESS;
	attr = tfs_attr_find(desc->type, attributeName);
	if (!attr)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "no attribute of this descriptor");
	if (attr->flags & TFS_ATTR_COMPUTED)
		return tfs_dnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "the attribute cannot be set");
	if (!tfs_attr_fits(attr, attributeType))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, "type of the attribute");
	/* A list may be set to nothing, a single value may not. */
	if (elementCount < (attr->max > 8 ? 0 : 1) || elementCount > attr->max)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "number of elements");
	if (elementCount && !arrayOfElements)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "elements are NULL");
	if (attributeType == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
		rc = check_children(elementCount, arrayOfElements);
		if (rc)
			return rc;
	}
	if (tfs_backend_put(desc, attributeName, attributeType, elementCount, arrayOfElements))
		return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
	return CUDNN_STATUS_SUCCESS;
}

/* Descriptors are handed out by filling those that the caller has created. */
static cudnnStatus_t give(const struct tfs_value *value, int64_t count, void *elements)
{
	struct tfs_backend *const *from = value->data;
	struct tfs_backend *const *to = elements;

	if (value->type != CUDNN_TYPE_BACKEND_DESCRIPTOR) {
		memcpy(elements, value->data, (size_t)count * tfs_attr_size(value->type));
		return CUDNN_STATUS_SUCCESS;
	}
	for (int64_t i = 0; i < count; i++) {
		if (!to[i])
			return tfs_dnn_fail(
				CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "a descriptor is NULL");
		if (to[i]->type != from[i]->type)
			return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE,
				"type of a descriptor to fill");
		if (tfs_backend_fill(to[i], from[i]))
			return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
	}
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const descriptor,
	cudnnBackendAttributeName_t attributeName, cudnnBackendAttributeType_t attributeType,
	int64_t requestedElementCount, int64_t *elementCount, void *arrayOfElements)
{
	const struct tfs_backend *desc = descriptor;
	const struct tfs_attr *attr;
	const struct tfs_value *value;
	int64_t count;

	if (!desc)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "descriptor is NULL");
	if (!desc->finalized)
		return tfs_dnn_fail(
			CUDNN_STATUS_NOT_INITIALIZED, "the descriptor is not finalized");
	attr = tfs_attr_find(desc->type, attributeName);
	if (!attr)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "no attribute of this descriptor");
	if (!tfs_attr_fits(attr, attributeType))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, "type of the attribute");
	value = tfs_backend_value(desc, attributeName);
	count = value ? value->count : 0;
	if (value && value->type != attributeType)
		return tfs_dnn_fail(
			CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, "type of the attribute's value");
	/* Without room it is the question how many there are. */
	if (!arrayOfElements || requestedElementCount <= 0) {
		if (elementCount)
			*elementCount = count;
		return CUDNN_STATUS_SUCCESS;
	}
	if (requestedElementCount < count)
		count = requestedElementCount;
	if (elementCount)
		*elementCount = count;
	if (!count)
		return CUDNN_STATUS_SUCCESS;
	return give(value, count, arrayOfElements);
}

TFS_DNN_API cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor)
{
	struct tfs_backend *desc = descriptor;
	cudnnStatus_t rc;

	if (!desc)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "descriptor is NULL");
	if (desc->finalized)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "the descriptor is finalized");
	rc = tfs_attr_complete(desc);
	if (!rc)
		rc = tfs_backend_check(desc);
	desc->finalized = !rc;
	return rc;
}
