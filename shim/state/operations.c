/* SPDX-License-Identifier: MIT */
#include "shim/state/operations.h"

#include <string.h>

#include "shim/resolve/direct.h"

#define SPATIAL 6 /* of 8 dimensions, all that cuDNN has */

static void put(struct tfs_operation *out, uint64_t part)
{
	out->parts[out->count++] = part;
}

static void put_number(struct tfs_operation *out, double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	put(out, bits);
}

static void put_dimensions(struct tfs_operation *out, int rank, const int *numbers)
{
	for (int i = 0; i < rank; i++)
		put(out, (uint64_t)(int64_t)numbers[i]);
}

bool tfs_activation_read(cudnnActivationDescriptor_t activation, struct tfs_operation *out)
{
	cudnnActivationMode_t mode;
	cudnnNanPropagation_t nan;
	double bound, swish = 0;

	out->count = 0;
	if (!TFS_DIRECT(cudnnGetActivationDescriptor) || !activation ||
		TFS_DIRECT(cudnnGetActivationDescriptor)(activation, &mode, &nan, &bound) !=
			CUDNN_STATUS_SUCCESS)
		return false;
	put(out, (uint64_t)mode);
	put(out, (uint64_t)nan);
	put_number(out, bound);
	if (mode != CUDNN_ACTIVATION_SWISH)
		return true;
	if (!TFS_DIRECT(cudnnGetActivationDescriptorSwishBeta) ||
		TFS_DIRECT(cudnnGetActivationDescriptorSwishBeta)(activation, &swish) !=
			CUDNN_STATUS_SUCCESS)
		return false;
	put_number(out, swish);
	return true;
}

bool tfs_pooling_read(cudnnPoolingDescriptor_t pooling, struct tfs_operation *out)
{
	int rank, windows[SPATIAL], pads[SPATIAL], strides[SPATIAL];
	cudnnPoolingMode_t mode;
	cudnnNanPropagation_t nan;

	out->count = 0;
	if (!TFS_DIRECT(cudnnGetPoolingNdDescriptor) || !pooling ||
		TFS_DIRECT(cudnnGetPoolingNdDescriptor)(pooling, SPATIAL, &mode, &nan, &rank,
			windows, pads, strides) != CUDNN_STATUS_SUCCESS ||
		rank < 1 || rank > SPATIAL)
		return false;
	put(out, (uint64_t)mode);
	put(out, (uint64_t)nan);
	put_dimensions(out, rank, windows);
	put_dimensions(out, rank, pads);
	put_dimensions(out, rank, strides);
	return true;
}

bool tfs_convolution_read(cudnnConvolutionDescriptor_t convolution, struct tfs_operation *out)
{
	int rank, groups, pads[SPATIAL], strides[SPATIAL], dilations[SPATIAL];
	cudnnConvolutionMode_t mode;
	cudnnDataType_t compute;
	cudnnMathType_t math;
	cudnnReorderType_t reorder;

	out->count = 0;
	if (!TFS_DIRECT(cudnnGetConvolutionNdDescriptor) ||
		!TFS_DIRECT(cudnnGetConvolutionGroupCount) ||
		!TFS_DIRECT(cudnnGetConvolutionMathType) ||
		!TFS_DIRECT(cudnnGetConvolutionReorderType) || !convolution ||
		TFS_DIRECT(cudnnGetConvolutionNdDescriptor)(convolution, SPATIAL, &rank, pads,
			strides, dilations, &mode, &compute) != CUDNN_STATUS_SUCCESS ||
		rank < 1 || rank > SPATIAL ||
		TFS_DIRECT(cudnnGetConvolutionGroupCount)(convolution, &groups) !=
			CUDNN_STATUS_SUCCESS ||
		TFS_DIRECT(cudnnGetConvolutionMathType)(convolution, &math) !=
			CUDNN_STATUS_SUCCESS ||
		TFS_DIRECT(cudnnGetConvolutionReorderType)(convolution, &reorder) !=
			CUDNN_STATUS_SUCCESS)
		return false;
	put(out, (uint64_t)mode);
	put(out, (uint64_t)compute);
	put(out, (uint64_t)groups);
	put(out, (uint64_t)math);
	put(out, (uint64_t)reorder);
	put_dimensions(out, rank, pads);
	put_dimensions(out, rank, strides);
	put_dimensions(out, rank, dilations);
	return true;
}
