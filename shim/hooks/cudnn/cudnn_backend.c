/* SPDX-License-Identifier: MIT */
#include <cudnn.h>

#include "shim/hooks/cudnn.h"
#include "shim/hooks/take.h"

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

	if (is_convolution(type))
		tfs_tell(&frame, TFS_OP_BACKEND);
	tfs_hook_plain(&frame, (uint32_t)status);
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
		tfs_hook_details(&frame, &details);
	}
	return TFS_LEAVE(&frame), status;
}

#define FUNCTIONS(X)                                                                               \
	X(cudnnBackendCreateDescriptor, descriptor_create)                                         \
	X(cudnnBackendExecute, other)

FUNCTIONS(TFS_FUNCTION_ROW)
