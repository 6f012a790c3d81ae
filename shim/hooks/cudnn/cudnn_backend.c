/* SPDX-License-Identifier: MIT */
#include <cudnn.h>

#include "shim/hooks/cudnn.h"
#include "shim/hooks/take.h"
#include "shim/state/plans.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudnn

static bool is_convolution(cudnnBackendDescriptorType_t type)
{
	return type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR ||
	       type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR ||
	       type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR;
}

TFS_HOOK(cudnnStatus_t, cudnnBackendCreateDescriptor,
	(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t *descriptor))
{
	struct tfs_frame frame = TFS_ENTER(cudnnBackendCreateDescriptor);
	const cudnnStatus_t status = TFS_REAL(cudnnBackendCreateDescriptor)(type, descriptor);

	if (status == CUDNN_STATUS_SUCCESS)
		tfs_plan_created(*descriptor, type);
	if (is_convolution(type))
		tfs_tell(&frame, TFS_OP_BACKEND);
	tfs_hook_plain(&frame, (uint32_t)status);
	return status;
}

/* Looked at, not recorded: there are a handful of these for each plan that is run. */
TFS_HOOK(cudnnStatus_t, cudnnBackendDestroyDescriptor, (cudnnBackendDescriptor_t descriptor))
{
	/* Before: another thread may get the same address for a new one. */
	tfs_plan_destroyed(descriptor);
	return TFS_REAL(cudnnBackendDestroyDescriptor)(descriptor);
}

TFS_HOOK(cudnnStatus_t, cudnnBackendSetAttribute,
	(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
		cudnnBackendAttributeType_t type, int64_t count, const void *elements))
{
	const cudnnStatus_t status =
		TFS_REAL(cudnnBackendSetAttribute)(descriptor, name, type, count, elements);

	if (status == CUDNN_STATUS_SUCCESS)
		tfs_plan_set(descriptor, name, type, count, elements);
	return status;
}

TFS_HOOK(cudnnStatus_t, cudnnBackendGetAttribute,
	(const cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
		cudnnBackendAttributeType_t type, int64_t count, int64_t *got, void *elements))
{
	const cudnnStatus_t status =
		TFS_REAL(cudnnBackendGetAttribute)(descriptor, name, type, count, got, elements);

	if (status == CUDNN_STATUS_SUCCESS)
		tfs_plan_got(descriptor, type, got && *got < count ? *got : count, elements);
	return status;
}

TFS_HOOK(cudnnStatus_t, cudnnBackendExecute,
	(cudnnHandle_t handle, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack))
{
	struct tfs_frame frame = TFS_ENTER(cudnnBackendExecute);
	const cudnnStatus_t status = TFS_REAL(cudnnBackendExecute)(handle, plan, pack);

	if (TFS_END(&frame, status, 0)) {
		struct tfs_details details;

		tfs_cudnn_details(&details, handle);
		tfs_put_attribute(&details, TFS_ATTRIBUTE_operations, tfs_plan_operations(plan));
		tfs_hook_details(&frame, &details);
	}
	return TFS_LEAVE(&frame), status;
}

#define FUNCTIONS(X)                                                                               \
	X(cudnnBackendCreateDescriptor, descriptor_create)                                         \
	X(cudnnBackendDestroyDescriptor, descriptor_destroy)                                       \
	X(cudnnBackendSetAttribute, descriptor)                                                    \
	X(cudnnBackendGetAttribute, descriptor)                                                    \
	X(cudnnBackendExecute, other)

FUNCTIONS(TFS_FUNCTION_ROW)
