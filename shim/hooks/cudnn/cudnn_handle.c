/* SPDX-License-Identifier: MIT */
#include <cudnn.h>

#include "shim/hooks/take.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudnn

TFS_HOOK(cudnnStatus_t, cudnnCreate, (cudnnHandle_t * handle))
{
	struct tfs_frame frame = TFS_ENTER(cudnnCreate);
	const cudnnStatus_t status = TFS_REAL(cudnnCreate)(handle);

	if (TFS_END(&frame, status, 0)) {
		struct tfs_details details;

		tfs_details_init(&details, TFS_NO_STREAM);
		tfs_hook_details(&frame, &details);
	}
	if (status == CUDNN_STATUS_SUCCESS)
		tfs_tell(&frame, TFS_OP_HANDLE);
	TFS_LEAVE(&frame);
	return status;
}

TFS_PLAIN_HOOK(cudnnStatus_t, cudnnDestroy, (cudnnHandle_t handle), (handle))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnSetStream, (cudnnHandle_t handle, cudaStream_t streamId),
	(handle, streamId))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnCreateTensorDescriptor, (cudnnTensorDescriptor_t * tensorDesc),
	(tensorDesc))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnDestroyTensorDescriptor, (cudnnTensorDescriptor_t tensorDesc),
	(tensorDesc))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnSetTensor4dDescriptor,
	(cudnnTensorDescriptor_t tensorDesc, cudnnTensorFormat_t format, cudnnDataType_t dataType,
		int n, int c, int h, int w),
	(tensorDesc, format, dataType, n, c, h, w))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnSetTensor4dDescriptorEx,
	(cudnnTensorDescriptor_t tensorDesc, cudnnDataType_t dataType, int n, int c, int h, int w,
		int nStride, int cStride, int hStride, int wStride),
	(tensorDesc, dataType, n, c, h, w, nStride, cStride, hStride, wStride))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnSetTensorNdDescriptor,
	(cudnnTensorDescriptor_t tensorDesc, cudnnDataType_t dataType, int nbDims, const int dimA[],
		const int strideA[]),
	(tensorDesc, dataType, nbDims, dimA, strideA))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnCreateFilterDescriptor, (cudnnFilterDescriptor_t * filterDesc),
	(filterDesc))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnDestroyFilterDescriptor, (cudnnFilterDescriptor_t filterDesc),
	(filterDesc))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnSetFilter4dDescriptor,
	(cudnnFilterDescriptor_t filterDesc, cudnnDataType_t dataType, cudnnTensorFormat_t format,
		int k, int c, int h, int w),
	(filterDesc, dataType, format, k, c, h, w))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnSetFilterNdDescriptor,
	(cudnnFilterDescriptor_t filterDesc, cudnnDataType_t dataType, cudnnTensorFormat_t format,
		int nbDims, const int filterDimA[]),
	(filterDesc, dataType, format, nbDims, filterDimA))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnCreateConvolutionDescriptor,
	(cudnnConvolutionDescriptor_t * convDesc), (convDesc))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnDestroyConvolutionDescriptor,
	(cudnnConvolutionDescriptor_t convDesc), (convDesc))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnSetConvolution2dDescriptor,
	(cudnnConvolutionDescriptor_t convDesc, int pad_h, int pad_w, int u, int v, int dilation_h,
		int dilation_w, cudnnConvolutionMode_t mode, cudnnDataType_t computeType),
	(convDesc, pad_h, pad_w, u, v, dilation_h, dilation_w, mode, computeType))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnSetConvolutionNdDescriptor,
	(cudnnConvolutionDescriptor_t convDesc, int arrayLength, const int padA[],
		const int filterStrideA[], const int dilationA[], cudnnConvolutionMode_t mode,
		cudnnDataType_t computeType),
	(convDesc, arrayLength, padA, filterStrideA, dilationA, mode, computeType))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnSetConvolutionMathType,
	(cudnnConvolutionDescriptor_t convDesc, cudnnMathType_t mathType), (convDesc, mathType))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnSetConvolutionGroupCount,
	(cudnnConvolutionDescriptor_t convDesc, int groupCount), (convDesc, groupCount))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnCreatePoolingDescriptor,
	(cudnnPoolingDescriptor_t * poolingDesc), (poolingDesc))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnDestroyPoolingDescriptor, (cudnnPoolingDescriptor_t poolingDesc),
	(poolingDesc))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnSetPooling2dDescriptor,
	(cudnnPoolingDescriptor_t poolingDesc, cudnnPoolingMode_t mode,
		cudnnNanPropagation_t maxpoolingNanOpt, int windowHeight, int windowWidth,
		int verticalPadding, int horizontalPadding, int verticalStride,
		int horizontalStride),
	(poolingDesc, mode, maxpoolingNanOpt, windowHeight, windowWidth, verticalPadding,
		horizontalPadding, verticalStride, horizontalStride))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnSetPoolingNdDescriptor,
	(cudnnPoolingDescriptor_t poolingDesc, const cudnnPoolingMode_t mode,
		const cudnnNanPropagation_t maxpoolingNanOpt, int nbDims, const int windowDimA[],
		const int paddingA[], const int strideA[]),
	(poolingDesc, mode, maxpoolingNanOpt, nbDims, windowDimA, paddingA, strideA))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnCreateActivationDescriptor,
	(cudnnActivationDescriptor_t * activationDesc), (activationDesc))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnDestroyActivationDescriptor,
	(cudnnActivationDescriptor_t activationDesc), (activationDesc))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnSetActivationDescriptor,
	(cudnnActivationDescriptor_t activationDesc, cudnnActivationMode_t mode,
		cudnnNanPropagation_t reluNanOpt, double coef),
	(activationDesc, mode, reluNanOpt, coef))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnGetConvolutionForwardWorkspaceSize,
	(cudnnHandle_t handle, const cudnnTensorDescriptor_t xDesc,
		const cudnnFilterDescriptor_t wDesc, const cudnnConvolutionDescriptor_t convDesc,
		const cudnnTensorDescriptor_t yDesc, cudnnConvolutionFwdAlgo_t algo,
		size_t *sizeInBytes),
	(handle, xDesc, wDesc, convDesc, yDesc, algo, sizeInBytes))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnGetConvolutionBackwardDataWorkspaceSize,
	(cudnnHandle_t handle, const cudnnFilterDescriptor_t wDesc,
		const cudnnTensorDescriptor_t dyDesc, const cudnnConvolutionDescriptor_t convDesc,
		const cudnnTensorDescriptor_t dxDesc, cudnnConvolutionBwdDataAlgo_t algo,
		size_t *sizeInBytes),
	(handle, wDesc, dyDesc, convDesc, dxDesc, algo, sizeInBytes))
TFS_PLAIN_HOOK(cudnnStatus_t, cudnnGetConvolutionBackwardFilterWorkspaceSize,
	(cudnnHandle_t handle, const cudnnTensorDescriptor_t xDesc,
		const cudnnTensorDescriptor_t dyDesc, const cudnnConvolutionDescriptor_t convDesc,
		const cudnnFilterDescriptor_t gradDesc, cudnnConvolutionBwdFilterAlgo_t algo,
		size_t *sizeInBytes),
	(handle, xDesc, dyDesc, convDesc, gradDesc, algo, sizeInBytes))

#define FUNCTIONS(X)                                                                               \
	X(cudnnCreate, handle_create)                                                              \
	X(cudnnDestroy, handle_destroy)                                                            \
	X(cudnnSetStream, handle)                                                                  \
	X(cudnnCreateTensorDescriptor, descriptor_create)                                          \
	X(cudnnDestroyTensorDescriptor, descriptor_destroy)                                        \
	X(cudnnSetTensor4dDescriptor, descriptor)                                                  \
	X(cudnnSetTensor4dDescriptorEx, descriptor)                                                \
	X(cudnnSetTensorNdDescriptor, descriptor)                                                  \
	X(cudnnCreateFilterDescriptor, descriptor_create)                                          \
	X(cudnnDestroyFilterDescriptor, descriptor_destroy)                                        \
	X(cudnnSetFilter4dDescriptor, descriptor)                                                  \
	X(cudnnSetFilterNdDescriptor, descriptor)                                                  \
	X(cudnnCreateConvolutionDescriptor, descriptor_create)                                     \
	X(cudnnDestroyConvolutionDescriptor, descriptor_destroy)                                   \
	X(cudnnSetConvolution2dDescriptor, descriptor)                                             \
	X(cudnnSetConvolutionNdDescriptor, descriptor)                                             \
	X(cudnnSetConvolutionMathType, descriptor)                                                 \
	X(cudnnSetConvolutionGroupCount, descriptor)                                               \
	X(cudnnCreatePoolingDescriptor, descriptor_create)                                         \
	X(cudnnDestroyPoolingDescriptor, descriptor_destroy)                                       \
	X(cudnnSetPooling2dDescriptor, descriptor)                                                 \
	X(cudnnSetPoolingNdDescriptor, descriptor)                                                 \
	X(cudnnCreateActivationDescriptor, descriptor_create)                                      \
	X(cudnnDestroyActivationDescriptor, descriptor_destroy)                                    \
	X(cudnnSetActivationDescriptor, descriptor)                                                \
	X(cudnnGetConvolutionForwardWorkspaceSize, workspace_query)                                \
	X(cudnnGetConvolutionBackwardDataWorkspaceSize, workspace_query)                           \
	X(cudnnGetConvolutionBackwardFilterWorkspaceSize, workspace_query)

FUNCTIONS(TFS_FUNCTION_ROW)
