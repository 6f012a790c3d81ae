/* SPDX-License-Identifier: MIT */
/* Descriptors and handles of cuDNN tell what they were given. */
#include <cudnn.h>

#include "tests/libraries/lib_check.h"

static cudnnHandle_t dnn;

static void check_numbers(const char *what, const int *got, const int *want, int n)
{
	for (int i = 0; i < n; i++)
		if (!LIB_EQ(got[i], want[i]))
			printf("%s, number %d\n", what, i);
}

static void see_tensor(
	const char *what, cudnnTensorDescriptor_t t, const int *dim, const int *stride, size_t size)
{
	cudnnDataType_t type = CUDNN_DATA_INT8;
	int got[8] = {0}, far[8] = {7, 7, 7, 7, 7, 7, 7, 7}, nd = 0;
	size_t bytes = 0;

	LIB_EQ(cudnnGetTensor4dDescriptor(t, &type, &got[0], &got[1], &got[2], &got[3], &got[4],
		       &got[5], &got[6], &got[7]),
		0);
	LIB_EQ(type, CUDNN_DATA_FLOAT);
	check_numbers(what, got, dim, 4);
	check_numbers(what, got + 4, stride, 4);
	memset(got, 0, sizeof(got));
	type = CUDNN_DATA_INT8;
	LIB_EQ(cudnnGetTensorNdDescriptor(t, 8, &type, &nd, got, far), 0);
	LIB_TRUE(type == CUDNN_DATA_FLOAT && nd == 4);
	check_numbers(what, got, dim, 4);
	check_numbers(what, far, stride, 4);
	LIB_EQ(cudnnGetTensorSizeInBytes(t, &bytes), 0);
	LIB_EQ(bytes, size);
}

static void check_tensor(void)
{
	static const int dim[5] = {2, 3, 4, 5, 6}, rows[4] = {60, 20, 5, 1};
	static const int pixels[4] = {60, 1, 15, 3}, gaps[4] = {100, 30, 7, 1};
	static const int deep[5] = {360, 120, 30, 6, 1};
	int got[5] = {0}, stride[5] = {0}, nd = 0;
	cudnnTensorDescriptor_t t;
	cudnnDataType_t type;
	size_t bytes = 0;

	LIB_EQ(cudnnCreateTensorDescriptor(&t), 0);
	LIB_EQ(cudnnSetTensor4dDescriptor(t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2, 3, 4, 5), 0);
	see_tensor("NCHW", t, dim, rows, 480);
	LIB_EQ(cudnnSetTensor4dDescriptor(t, CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT, 2, 3, 4, 5), 0);
	see_tensor("NHWC", t, dim, pixels, 480);
	/* From the first element to the last. */
	LIB_EQ(cudnnSetTensor4dDescriptorEx(t, CUDNN_DATA_FLOAT, 2, 3, 4, 5, 100, 30, 7, 1), 0);
	see_tensor("gaps", t, dim, gaps, 4 * (100 + 2 * 30 + 3 * 7 + 4 + 1));
	LIB_EQ(cudnnSetTensorNdDescriptorEx(t, CUDNN_TENSOR_NCHW, CUDNN_DATA_HALF, 5, dim), 0);
	LIB_EQ(cudnnGetTensorNdDescriptor(t, 5, &type, &nd, got, stride), 0);
	LIB_TRUE(type == CUDNN_DATA_HALF && nd == 5);
	check_numbers("five dimensions", got, dim, 5);
	check_numbers("five dimensions", stride, deep, 5);
	LIB_EQ(cudnnGetTensorSizeInBytes(t, &bytes), 0);
	LIB_EQ(bytes, 2 * 720);
	LIB_EQ(cudnnDestroyTensorDescriptor(t), 0);
}

static void check_filter(void)
{
	static const int dim[5] = {8, 3, 5, 7, 2};
	cudnnTensorFormat_t format = CUDNN_TENSOR_NCHW;
	cudnnDataType_t type = CUDNN_DATA_INT8;
	cudnnFilterDescriptor_t w;
	int got[5] = {0}, nd = 0;
	size_t bytes = 0;

	LIB_EQ(cudnnCreateFilterDescriptor(&w), 0);
	LIB_EQ(cudnnSetFilter4dDescriptor(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NHWC, 8, 3, 5, 7), 0);
	LIB_EQ(cudnnGetFilter4dDescriptor(w, &type, &format, &got[0], &got[1], &got[2], &got[3]),
		0);
	LIB_TRUE(type == CUDNN_DATA_FLOAT && format == CUDNN_TENSOR_NHWC);
	check_numbers("filter", got, dim, 4);
	LIB_EQ(cudnnGetFilterSizeInBytes(w, &bytes), 0);
	LIB_EQ(bytes, 4 * 840);
	memset(got, 0, sizeof(got));
	LIB_EQ(cudnnSetFilterNdDescriptor(w, CUDNN_DATA_HALF, CUDNN_TENSOR_NCHW, 5, dim), 0);
	LIB_EQ(cudnnGetFilterNdDescriptor(w, 5, &type, &format, &nd, got), 0);
	LIB_TRUE(type == CUDNN_DATA_HALF && format == CUDNN_TENSOR_NCHW && nd == 5);
	check_numbers("filter of five dimensions", got, dim, 5);
	LIB_EQ(cudnnGetFilterSizeInBytes(w, &bytes), 0);
	LIB_EQ(bytes, 2 * 1680);
	LIB_EQ(cudnnDestroyFilterDescriptor(w), 0);
}

/* What a convolution makes of an image, too. */
static void check_output(cudnnConvolutionDescriptor_t conv)
{
	static const int want[4] = {2, 8, 5, 3};
	cudnnFilterDescriptor_t w;
	cudnnTensorDescriptor_t x;
	int got[4] = {0};

	LIB_EQ(cudnnCreateTensorDescriptor(&x), 0);
	LIB_EQ(cudnnCreateFilterDescriptor(&w), 0);
	LIB_EQ(cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2, 6, 11, 12), 0);
	LIB_EQ(cudnnSetFilter4dDescriptor(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 8, 3, 3, 2), 0);
	LIB_EQ(cudnnGetConvolutionNdForwardOutputDim(conv, x, w, 4, got), 0);
	check_numbers("output", got, want, 4);
	LIB_EQ(cudnnDestroyFilterDescriptor(w), 0);
	LIB_EQ(cudnnDestroyTensorDescriptor(x), 0);
}

static void check_convolution(void)
{
	static const int pad[2] = {1, 2}, stride[2] = {2, 4}, dilation[2] = {2, 5};
	int got[3][2] = {{0}}, nd = 0, groups = 0;
	cudnnReorderType_t reorder = CUDNN_DEFAULT_REORDER;
	cudnnConvolutionMode_t mode = CUDNN_CONVOLUTION;
	cudnnDataType_t type = CUDNN_DATA_INT8;
	cudnnMathType_t math = CUDNN_DEFAULT_MATH;
	cudnnConvolutionDescriptor_t conv;

	LIB_EQ(cudnnCreateConvolutionDescriptor(&conv), 0);
	LIB_EQ(cudnnGetConvolutionGroupCount(conv, &groups), 0);
	LIB_EQ(groups, 1);
	LIB_EQ(cudnnSetConvolution2dDescriptor(
		       conv, 1, 2, 2, 4, 2, 5, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
		0);
	LIB_EQ(cudnnGetConvolution2dDescriptor(conv, &got[0][0], &got[0][1], &got[1][0], &got[1][1],
		       &got[2][0], &got[2][1], &mode, &type),
		0);
	LIB_TRUE(mode == CUDNN_CROSS_CORRELATION && type == CUDNN_DATA_FLOAT);
	check_numbers("padding", got[0], pad, 2);
	check_numbers("stride", got[1], stride, 2);
	check_numbers("dilation", got[2], dilation, 2);
	memset(got, 0, sizeof(got));
	mode = CUDNN_CONVOLUTION;
	LIB_EQ(cudnnGetConvolutionNdDescriptor(conv, 2, &nd, got[0], got[1], got[2], &mode, &type),
		0);
	LIB_TRUE(nd == 2 && mode == CUDNN_CROSS_CORRELATION);
	check_numbers("padding", got[0], pad, 2);
	check_numbers("stride", got[1], stride, 2);
	check_numbers("dilation", got[2], dilation, 2);
	LIB_EQ(cudnnSetConvolutionGroupCount(conv, 2), 0);
	LIB_EQ(cudnnGetConvolutionGroupCount(conv, &groups), 0);
	LIB_EQ(groups, 2);
	LIB_EQ(cudnnSetConvolutionMathType(conv, CUDNN_FMA_MATH), 0);
	LIB_EQ(cudnnGetConvolutionMathType(conv, &math), 0);
	LIB_EQ(math, CUDNN_FMA_MATH);
	LIB_EQ(cudnnSetConvolutionReorderType(conv, CUDNN_NO_REORDER), 0);
	LIB_EQ(cudnnGetConvolutionReorderType(conv, &reorder), 0);
	LIB_EQ(reorder, CUDNN_NO_REORDER);
	check_output(conv);
	LIB_EQ(cudnnDestroyConvolutionDescriptor(conv), 0);
}

static void check_pooling(void)
{
	static const int want[6] = {3, 2, 1, 0, 2, 4}, out[4] = {2, 6, 6, 3};
	cudnnNanPropagation_t nan = CUDNN_NOT_PROPAGATE_NAN;
	cudnnPoolingMode_t mode = CUDNN_POOLING_MAX;
	cudnnPoolingDescriptor_t pool;
	cudnnTensorDescriptor_t x;
	int got[6] = {0};

	LIB_EQ(cudnnCreatePoolingDescriptor(&pool), 0);
	LIB_EQ(cudnnSetPooling2dDescriptor(pool, CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING,
		       CUDNN_PROPAGATE_NAN, 3, 2, 1, 0, 2, 4),
		0);
	LIB_EQ(cudnnGetPooling2dDescriptor(
		       pool, &mode, &nan, &got[0], &got[1], &got[2], &got[3], &got[4], &got[5]),
		0);
	LIB_TRUE(mode == CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING && nan == CUDNN_PROPAGATE_NAN);
	check_numbers("pooling", got, want, 6);
	LIB_EQ(cudnnCreateTensorDescriptor(&x), 0);
	LIB_EQ(cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2, 6, 11, 12), 0);
	LIB_EQ(cudnnGetPoolingNdForwardOutputDim(pool, x, 4, got), 0);
	check_numbers("pooled", got, out, 4);
	LIB_EQ(cudnnDestroyTensorDescriptor(x), 0);
	LIB_EQ(cudnnDestroyPoolingDescriptor(pool), 0);
}

static void check_layers(void)
{
	cudnnActivationMode_t mode = CUDNN_ACTIVATION_SIGMOID;
	cudnnNanPropagation_t nan = CUDNN_NOT_PROPAGATE_NAN;
	cudnnActivationDescriptor_t act;
	double a = 0, b = 0, k = 0;
	cudnnLRNDescriptor_t lrn;
	unsigned n = 0;

	LIB_EQ(cudnnCreateActivationDescriptor(&act), 0);
	LIB_EQ(cudnnSetActivationDescriptor(
		       act, CUDNN_ACTIVATION_CLIPPED_RELU, CUDNN_PROPAGATE_NAN, 6.5),
		0);
	LIB_EQ(cudnnGetActivationDescriptor(act, &mode, &nan, &a), 0);
	LIB_TRUE(mode == CUDNN_ACTIVATION_CLIPPED_RELU && nan == CUDNN_PROPAGATE_NAN && a == 6.5);
	LIB_EQ(cudnnSetActivationDescriptorSwishBeta(act, 0.75), 0);
	LIB_EQ(cudnnGetActivationDescriptorSwishBeta(act, &b), 0);
	LIB_TRUE(b == 0.75);
	LIB_EQ(cudnnDestroyActivationDescriptor(act), 0);
	LIB_EQ(cudnnCreateLRNDescriptor(&lrn), 0);
	LIB_EQ(cudnnSetLRNDescriptor(lrn, 7, 0.25, 0.5, 3), 0);
	LIB_EQ(cudnnGetLRNDescriptor(lrn, &n, &a, &b, &k), 0);
	LIB_TRUE(n == 7 && a == 0.25 && b == 0.5 && k == 3);
	LIB_EQ(cudnnDestroyLRNDescriptor(lrn), 0);
}

static void check_reduction(void)
{
	cudnnReduceTensorIndices_t indices = CUDNN_REDUCE_TENSOR_NO_INDICES;
	cudnnIndicesType_t width = CUDNN_32BIT_INDICES;
	cudnnNanPropagation_t nan = CUDNN_NOT_PROPAGATE_NAN;
	cudnnReduceTensorOp_t op = CUDNN_REDUCE_TENSOR_ADD;
	cudnnDataType_t type = CUDNN_DATA_FLOAT;
	cudnnReduceTensorDescriptor_t reduce;

	LIB_EQ(cudnnCreateReduceTensorDescriptor(&reduce), 0);
	LIB_EQ(cudnnSetReduceTensorDescriptor(reduce, CUDNN_REDUCE_TENSOR_MAX, CUDNN_DATA_DOUBLE,
		       CUDNN_PROPAGATE_NAN, CUDNN_REDUCE_TENSOR_FLATTENED_INDICES,
		       CUDNN_64BIT_INDICES),
		0);
	LIB_EQ(cudnnGetReduceTensorDescriptor(reduce, &op, &type, &nan, &indices, &width), 0);
	LIB_TRUE(op == CUDNN_REDUCE_TENSOR_MAX && type == CUDNN_DATA_DOUBLE);
	LIB_TRUE(nan == CUDNN_PROPAGATE_NAN && width == CUDNN_64BIT_INDICES);
	LIB_EQ(indices, CUDNN_REDUCE_TENSOR_FLATTENED_INDICES);
	LIB_EQ(cudnnDestroyReduceTensorDescriptor(reduce), 0);
}

static void check_dropout(void)
{
	cudnnDropoutDescriptor_t drop;
	unsigned long long seed = 0;
	void *states = NULL, *got = NULL;
	size_t size = 0;
	float rate = 0;

	LIB_EQ(cudnnCreateDropoutDescriptor(&drop), 0);
	LIB_EQ(cudnnDropoutGetStatesSize(dnn, &size), 0);
	LIB_EQ(cudaMalloc(&states, size), 0);
	LIB_EQ(cudnnSetDropoutDescriptor(drop, dnn, 0.25f, states, size, 42), 0);
	LIB_EQ(cudnnGetDropoutDescriptor(drop, dnn, &rate, &got, &seed), 0);
	LIB_TRUE(rate == 0.25f && got == states && seed == 42);
	LIB_EQ(cudnnRestoreDropoutDescriptor(drop, dnn, 0.5f, states, size, 43), 0);
	LIB_EQ(cudnnGetDropoutDescriptor(drop, dnn, &rate, &got, &seed), 0);
	LIB_TRUE(rate == 0.5f && got == states && seed == 43);
	LIB_EQ(cudaDeviceSynchronize(), 0);
	LIB_EQ(cudnnDestroyDropoutDescriptor(drop), 0);
	LIB_EQ(cudaFree(states), 0);
}

static void check_handle(void)
{
	cudaStream_t stream, got = NULL;
	int major = 0, minor = 0, patch = 0;

	LIB_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), 0);
	LIB_EQ(cudnnGetStream(dnn, &got), 0);
	LIB_TRUE(!got);
	LIB_EQ(cudnnSetStream(dnn, stream), 0);
	LIB_EQ(cudnnGetStream(dnn, &got), 0);
	LIB_TRUE(got == stream);
	LIB_EQ(cudnnSetStream(dnn, NULL), 0);
	LIB_EQ(cudaStreamDestroy(stream), 0);
	LIB_EQ(cudnnGetProperty(MAJOR_VERSION, &major), 0);
	LIB_EQ(cudnnGetProperty(MINOR_VERSION, &minor), 0);
	LIB_EQ(cudnnGetProperty(PATCH_LEVEL, &patch), 0);
	LIB_EQ(cudnnGetVersion(), major * 10000 + minor * 100 + patch);
}

int main(void)
{
	if (!LIB_EQ(cudnnCreate(&dnn), 0))
		return lib_result();
	check_tensor();
	check_filter();
	check_convolution();
	check_pooling();
	check_layers();
	check_reduction();
	check_dropout();
	check_handle();
	LIB_EQ(cudnnDestroy(dnn), 0);
	return lib_result();
}
