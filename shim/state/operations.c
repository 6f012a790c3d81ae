/* SPDX-License-Identifier: MIT */
#include "shim/state/operations.h"

#include <string.h>

#include "shim/resolve/lookup.h"

#define SPATIAL 6 /* of 8 dimensions, all that cuDNN has */

static struct {
	bool looked_up;
	__typeof__(&cudnnGetActivationDescriptor) activation;
	__typeof__(&cudnnGetActivationDescriptorSwishBeta) swish;
	__typeof__(&cudnnGetPoolingNdDescriptor) pooling;
	__typeof__(&cudnnGetConvolutionNdDescriptor) convolution;
	__typeof__(&cudnnGetConvolutionGroupCount) groups;
	__typeof__(&cudnnGetConvolutionMathType) math;
	__typeof__(&cudnnGetConvolutionReorderType) reorder;
} cudnn;

#define LOOK_UP(field, name)                                                                       \
	cudnn.field = (__typeof__(cudnn.field))tfs_lookup_named(TFS_LIBRARY_cudnn, name)

/* Two threads may do this at once; both find the same. */
static void look_up(void)
{
	if (__atomic_load_n(&cudnn.looked_up, __ATOMIC_ACQUIRE) ||
		!tfs_lookup_steady(TFS_LIBRARY_cudnn))
		return;
	LOOK_UP(activation, "cudnnGetActivationDescriptor");
	LOOK_UP(swish, "cudnnGetActivationDescriptorSwishBeta");
	LOOK_UP(pooling, "cudnnGetPoolingNdDescriptor");
	LOOK_UP(convolution, "cudnnGetConvolutionNdDescriptor");
	LOOK_UP(groups, "cudnnGetConvolutionGroupCount");
	LOOK_UP(math, "cudnnGetConvolutionMathType");
	LOOK_UP(reorder, "cudnnGetConvolutionReorderType");
	__atomic_store_n(&cudnn.looked_up, true, __ATOMIC_RELEASE);
}

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

	look_up();
	out->count = 0;
	if (!cudnn.activation || !activation ||
		cudnn.activation(activation, &mode, &nan, &bound) != CUDNN_STATUS_SUCCESS)
		return false;
	put(out, (uint64_t)mode);
	put(out, (uint64_t)nan);
	put_number(out, bound);
	if (mode != CUDNN_ACTIVATION_SWISH)
		return true;
	if (!cudnn.swish || cudnn.swish(activation, &swish) != CUDNN_STATUS_SUCCESS)
		return false;
	put_number(out, swish);
	return true;
}

bool tfs_pooling_read(cudnnPoolingDescriptor_t pooling, struct tfs_operation *out)
{
	int rank, windows[SPATIAL], pads[SPATIAL], strides[SPATIAL];
	cudnnPoolingMode_t mode;
	cudnnNanPropagation_t nan;

	look_up();
	out->count = 0;
	if (!cudnn.pooling || !pooling ||
		cudnn.pooling(pooling, SPATIAL, &mode, &nan, &rank, windows, pads, strides) !=
			CUDNN_STATUS_SUCCESS ||
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

	look_up();
	out->count = 0;
	if (!cudnn.convolution || !cudnn.groups || !cudnn.math || !cudnn.reorder || !convolution ||
		cudnn.convolution(convolution, SPATIAL, &rank, pads, strides, dilations, &mode,
			&compute) != CUDNN_STATUS_SUCCESS ||
		rank < 1 || rank > SPATIAL ||
		cudnn.groups(convolution, &groups) != CUDNN_STATUS_SUCCESS ||
		cudnn.math(convolution, &math) != CUDNN_STATUS_SUCCESS ||
		cudnn.reorder(convolution, &reorder) != CUDNN_STATUS_SUCCESS)
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
