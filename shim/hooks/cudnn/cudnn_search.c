/* SPDX-License-Identifier: MIT */
#include <cudnn.h>

#include "shim/hooks/cudnn.h"
#include "shim/hooks/memory.h"
#include "shim/hooks/take.h"
#include "shim/rewrites/common/held.h"
#include "shim/rewrites/convolution.h"
#include "shim/rewrites/memory/blocks.h"
#include "shim/rewrites/memory/memory_functions.h"
#include "shim/rewrites/memory/reserves.h"
#include "shim/rewrites/search/search_held.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudnn

/* A search with memory of its own leaves out the algorithms that it finds too little for, and says
 * nothing else: what rewrites hold is free memory to it, as it is to the program. */
static void make_room(const struct tfs_choice_call *call)
{
	if (!call->measured || call->workspace_bytes != TFS_CHOICE_OWN_MEMORY || !tfs_held_any())
		return;
	const bool driver = !tfs_memory_functions(false);
	const uint32_t device = tfs_current_device(driver);

	if (tfs_blocks_bytes(device) != 0)
		tfs_blocks_flush(driver, device);
	tfs_reserves_give_back(driver, device);
	if (tfs_search_devices_any())
		tfs_search_device_drop_short(0);
}

static void note(struct tfs_frame *frame, uint32_t status, const struct tfs_choice_call *call)
{
	const bool wanted = TFS_END(frame, status, 0);

	/* For which shape the program searched counts, whenever it did. */
	if (wanted || (call->measured && frame->thread)) {
		struct tfs_details details;
		struct tfs_problem problem;

		tfs_cudnn_details(&details, call->handle);
		if (tfs_problem_read(call->family, call->x_descriptor, call->w_descriptor,
			    call->convolution, call->y_descriptor, &problem))
			tfs_put_attribute(
				&details, TFS_ATTRIBUTE_problem, tfs_problem_id(&problem));
		if (call->measured)
			tfs_hook_details_always(frame, &details);
		else
			tfs_hook_details(frame, &details);
	}
	TFS_LEAVE(frame);
}

#define PLACES(...)                                                                                \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

/* The block of all nine functions: they differ in the order of their arguments. */
#define CHOICE_HOOK(name, direction, is_measured, places, bytes, x, w, y, parameters, arguments)   \
	TFS_HOOK(cudnnStatus_t, name, parameters)                                                  \
	{                                                                                          \
		struct tfs_frame frame = TFS_ENTER(name);                                          \
		struct tfs_choice_call call = {.family = TFS_FAMILY_##direction,                   \
			.measured = (is_measured),                                                 \
			.handle = handle,                                                          \
			.x_descriptor = (x),                                                       \
			.w_descriptor = (w),                                                       \
			.y_descriptor = (y),                                                       \
			.convolution = convDesc,                                                   \
			.list = (struct tfs_performance *)perfResults,                             \
			.returned = returnedAlgoCount,                                             \
			.requested = requestedAlgoCount,                                           \
			.memory = places,                                                          \
			.workspace_bytes = (bytes)};                                               \
		struct tfs_op op = {.kind = TFS_OP_CHOICE, .choice = &call};                       \
                                                                                                   \
		if (!tfs_take(&frame, &op))                                                        \
			do {                                                                       \
				make_room(&call);                                                  \
				op.status = TFS_REAL(name) arguments;                              \
			} while (tfs_again(&op));                                                  \
		note(&frame, op.status, &call);                                                    \
		return (cudnnStatus_t)op.status;                                                   \
	}

CHOICE_HOOK(cudnnGetConvolutionForwardAlgorithm_v7, conv_forward, false, PLACES(NULL),
	TFS_CHOICE_OWN_MEMORY, srcDesc, filterDesc, destDesc,
	(cudnnHandle_t handle, const cudnnTensorDescriptor_t srcDesc,
		const cudnnFilterDescriptor_t filterDesc,
		const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t destDesc,
		const int requestedAlgoCount, int *returnedAlgoCount,
		cudnnConvolutionFwdAlgoPerf_t *perfResults),
	(handle, srcDesc, filterDesc, convDesc, destDesc, requestedAlgoCount, returnedAlgoCount,
		perfResults))
CHOICE_HOOK(cudnnGetConvolutionBackwardDataAlgorithm_v7, conv_backward_data, false, PLACES(NULL),
	TFS_CHOICE_OWN_MEMORY, gradDesc, filterDesc, diffDesc,
	(cudnnHandle_t handle, const cudnnFilterDescriptor_t filterDesc,
		const cudnnTensorDescriptor_t diffDesc, const cudnnConvolutionDescriptor_t convDesc,
		const cudnnTensorDescriptor_t gradDesc, const int requestedAlgoCount,
		int *returnedAlgoCount, cudnnConvolutionBwdDataAlgoPerf_t *perfResults),
	(handle, filterDesc, diffDesc, convDesc, gradDesc, requestedAlgoCount, returnedAlgoCount,
		perfResults))
CHOICE_HOOK(cudnnGetConvolutionBackwardFilterAlgorithm_v7, conv_backward_filter, false,
	PLACES(NULL), TFS_CHOICE_OWN_MEMORY, srcDesc, gradDesc, diffDesc,
	(cudnnHandle_t handle, const cudnnTensorDescriptor_t srcDesc,
		const cudnnTensorDescriptor_t diffDesc, const cudnnConvolutionDescriptor_t convDesc,
		const cudnnFilterDescriptor_t gradDesc, const int requestedAlgoCount,
		int *returnedAlgoCount, cudnnConvolutionBwdFilterAlgoPerf_t *perfResults),
	(handle, srcDesc, diffDesc, convDesc, gradDesc, requestedAlgoCount, returnedAlgoCount,
		perfResults))
CHOICE_HOOK(cudnnFindConvolutionForwardAlgorithm, conv_forward, true, PLACES(NULL),
	TFS_CHOICE_OWN_MEMORY, xDesc, wDesc, yDesc,
	(cudnnHandle_t handle, const cudnnTensorDescriptor_t xDesc,
		const cudnnFilterDescriptor_t wDesc, const cudnnConvolutionDescriptor_t convDesc,
		const cudnnTensorDescriptor_t yDesc, const int requestedAlgoCount,
		int *returnedAlgoCount, cudnnConvolutionFwdAlgoPerf_t *perfResults),
	(handle, xDesc, wDesc, convDesc, yDesc, requestedAlgoCount, returnedAlgoCount, perfResults))
CHOICE_HOOK(cudnnFindConvolutionBackwardDataAlgorithm, conv_backward_data, true, PLACES(NULL),
	TFS_CHOICE_OWN_MEMORY, dxDesc, wDesc, dyDesc,
	(cudnnHandle_t handle, const cudnnFilterDescriptor_t wDesc,
		const cudnnTensorDescriptor_t dyDesc, const cudnnConvolutionDescriptor_t convDesc,
		const cudnnTensorDescriptor_t dxDesc, const int requestedAlgoCount,
		int *returnedAlgoCount, cudnnConvolutionBwdDataAlgoPerf_t *perfResults),
	(handle, wDesc, dyDesc, convDesc, dxDesc, requestedAlgoCount, returnedAlgoCount,
		perfResults))
CHOICE_HOOK(cudnnFindConvolutionBackwardFilterAlgorithm, conv_backward_filter, true, PLACES(NULL),
	TFS_CHOICE_OWN_MEMORY, xDesc, dwDesc, dyDesc,
	(cudnnHandle_t handle, const cudnnTensorDescriptor_t xDesc,
		const cudnnTensorDescriptor_t dyDesc, const cudnnConvolutionDescriptor_t convDesc,
		const cudnnFilterDescriptor_t dwDesc, const int requestedAlgoCount,
		int *returnedAlgoCount, cudnnConvolutionBwdFilterAlgoPerf_t *perfResults),
	(handle, xDesc, dyDesc, convDesc, dwDesc, requestedAlgoCount, returnedAlgoCount,
		perfResults))
CHOICE_HOOK(cudnnFindConvolutionForwardAlgorithmEx, conv_forward, true, PLACES(x, w, y, workSpace),
	workSpaceSizeInBytes, xDesc, wDesc, yDesc,
	(cudnnHandle_t handle, const cudnnTensorDescriptor_t xDesc, const void *x,
		const cudnnFilterDescriptor_t wDesc, const void *w,
		const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t yDesc,
		void *y, const int requestedAlgoCount, int *returnedAlgoCount,
		cudnnConvolutionFwdAlgoPerf_t *perfResults, void *workSpace,
		size_t workSpaceSizeInBytes),
	(handle, xDesc, x, wDesc, w, convDesc, yDesc, y, requestedAlgoCount, returnedAlgoCount,
		perfResults, workSpace, workSpaceSizeInBytes))
CHOICE_HOOK(cudnnFindConvolutionBackwardDataAlgorithmEx, conv_backward_data, true,
	PLACES(w, dy, dx, workSpace), workSpaceSizeInBytes, dxDesc, wDesc, dyDesc,
	(cudnnHandle_t handle, const cudnnFilterDescriptor_t wDesc, const void *w,
		const cudnnTensorDescriptor_t dyDesc, const void *dy,
		const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t dxDesc,
		void *dx, const int requestedAlgoCount, int *returnedAlgoCount,
		cudnnConvolutionBwdDataAlgoPerf_t *perfResults, void *workSpace,
		size_t workSpaceSizeInBytes),
	(handle, wDesc, w, dyDesc, dy, convDesc, dxDesc, dx, requestedAlgoCount, returnedAlgoCount,
		perfResults, workSpace, workSpaceSizeInBytes))
CHOICE_HOOK(cudnnFindConvolutionBackwardFilterAlgorithmEx, conv_backward_filter, true,
	PLACES(x, y, dw, workSpace), workSpaceSizeInBytes, xDesc, dwDesc, dyDesc,
	(cudnnHandle_t handle, const cudnnTensorDescriptor_t xDesc, const void *x,
		const cudnnTensorDescriptor_t dyDesc, const void *y,
		const cudnnConvolutionDescriptor_t convDesc, const cudnnFilterDescriptor_t dwDesc,
		void *dw, const int requestedAlgoCount, int *returnedAlgoCount,
		cudnnConvolutionBwdFilterAlgoPerf_t *perfResults, void *workSpace,
		size_t workSpaceSizeInBytes),
	(handle, xDesc, x, dyDesc, y, convDesc, dwDesc, dw, requestedAlgoCount, returnedAlgoCount,
		perfResults, workSpace, workSpaceSizeInBytes))

#define FUNCTIONS(X)                                                                               \
	X(cudnnGetConvolutionForwardAlgorithm_v7, conv_get)                                        \
	X(cudnnGetConvolutionBackwardDataAlgorithm_v7, conv_get)                                   \
	X(cudnnGetConvolutionBackwardFilterAlgorithm_v7, conv_get)                                 \
	X(cudnnFindConvolutionForwardAlgorithm, conv_find)                                         \
	X(cudnnFindConvolutionBackwardDataAlgorithm, conv_find)                                    \
	X(cudnnFindConvolutionBackwardFilterAlgorithm, conv_find)                                  \
	X(cudnnFindConvolutionForwardAlgorithmEx, conv_find)                                       \
	X(cudnnFindConvolutionBackwardDataAlgorithmEx, conv_find)                                  \
	X(cudnnFindConvolutionBackwardFilterAlgorithmEx, conv_find)

FUNCTIONS(TFS_FUNCTION_ROW)
