/* SPDX-License-Identifier: MIT */
/*
 * Calls behind a zeroing that are of one kind in the first half of the rounds and of another in the
 * second: what was found out of the one says nothing of the other. One case for each thing by which
 * they differ; the shapes of all tensors and the place of the call stay the same.
 */
#include <math.h>

#include "tests/rewrites/memset/rewrite_memset.h"

#define SIDE 4

static const volatile int half = ROUNDS / 2; /* no loop is split there */

static cudnnHandle_t dnn;
static cudnnTensorDescriptor_t four, two; /* SIDE by SIDE, and a quarter of it */

static cudnnTensorDescriptor_t square(int side)
{
	cudnnTensorDescriptor_t tensor;

	DNN(cudnnCreateTensorDescriptor(&tensor));
	DNN(cudnnSetTensor4dDescriptor(
		tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, side, side));
	return tensor;
}

/* What the operation gets to work on, and zeros where it adds to. */
static void prepare(int round, const float *input, size_t output_bytes)
{
	begin(&bench, round);
	OK(cudaMemcpy(bench.a, input, SIDE * SIDE * sizeof(float), cudaMemcpyHostToDevice));
	clear(&bench, output_bytes);
}

/* Of what was added to zeros none is -0. */
static void check_signs(size_t output_bytes)
{
	float back[SIDE * SIDE];
	int minus = 0;

	OK(cudaMemcpy(back, bench.c, output_bytes, cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < output_bytes / sizeof(float); i++)
		minus += back[i] == 0 && signbit(back[i]);
	TEST_EQ(minus, 0);
}

static void activation(void)
{
	static const float input[SIDE * SIDE] = {1, 2, 3, 4, 5, 6, 7, 8};
	cudnnActivationDescriptor_t kinds[2];

	for (int i = 0; i < 2; i++)
		DNN(cudnnCreateActivationDescriptor(&kinds[i]));
	DNN(cudnnSetActivationDescriptor(
		kinds[0], CUDNN_ACTIVATION_SIGMOID, CUDNN_NOT_PROPAGATE_NAN, 0));
	DNN(cudnnSetActivationDescriptor(
		kinds[1], CUDNN_ACTIVATION_TANH, CUDNN_NOT_PROPAGATE_NAN, 0));
	for (int i = 0; i < ROUNDS; i++) {
		prepare(i, input, sizeof(input));
		DNN(cudnnActivationForward(
			dnn, kinds[i >= half], &one, four, bench.a, &one, four, bench.c));
		check_signs(sizeof(input));
	}
}

static void ceiling(void)
{
	static const float input[SIDE * SIDE] = {1, 2, 3, 4, 5, 6, 7, 8};
	cudnnActivationDescriptor_t kind;

	DNN(cudnnCreateActivationDescriptor(&kind));
	for (int i = 0; i < ROUNDS; i++) {
		DNN(cudnnSetActivationDescriptor(kind, CUDNN_ACTIVATION_CLIPPED_RELU,
			CUDNN_NOT_PROPAGATE_NAN, i < half ? 4 : 6));
		prepare(i, input, sizeof(input));
		DNN(cudnnActivationForward(dnn, kind, &one, four, bench.a, &one, four, bench.c));
		check_signs(sizeof(input));
	}
}

static void activation_back(void)
{
	static const float input[SIDE * SIDE] = {1, 2, 3, 4, 5, 6, 7, 8};
	cudnnActivationDescriptor_t kind;

	DNN(cudnnCreateActivationDescriptor(&kind));
	for (int i = 0; i < ROUNDS; i++) {
		DNN(cudnnSetActivationDescriptor(kind,
			i < half ? CUDNN_ACTIVATION_RELU : CUDNN_ACTIVATION_TANH,
			CUDNN_NOT_PROPAGATE_NAN, 0));
		prepare(i, input, sizeof(input));
		DNN(cudnnActivationBackward(dnn, kind, &one, four, bench.a, four, bench.a, four,
			bench.a, &one, four, bench.c));
		check_signs(sizeof(input));
	}
}

/* The largest of four, then of one, which is -0. */
static void pooling_window(void)
{
	static const float input[SIDE * SIDE] = {
		-0.0f, 1, -0.0f, 1, 1, 1, 1, 1, -0.0f, 1, -0.0f, 1, 1, 1, 1, 1};
	cudnnPoolingDescriptor_t kind;

	DNN(cudnnCreatePoolingDescriptor(&kind));
	for (int i = 0; i < ROUNDS; i++) {
		const int window = i < half ? 2 : 1;

		DNN(cudnnSetPooling2dDescriptor(kind, CUDNN_POOLING_MAX, CUDNN_NOT_PROPAGATE_NAN,
			window, window, 0, 0, 2, 2));
		prepare(i, input, sizeof(input) / 4);
		DNN(cudnnPoolingForward(dnn, kind, &one, four, bench.a, &one, two, bench.c));
		check_signs(sizeof(input) / 4);
	}
}

/* A quarter of what is there, its rows beside each other and then its columns. */
static void layout(void)
{
	static const float input[SIDE * SIDE] = {1, 2, 3, 4, 5, 6, 7, 8};
	cudnnTensorDescriptor_t parts[2];

	for (int i = 0; i < 2; i++) {
		DNN(cudnnCreateTensorDescriptor(&parts[i]));
		DNN(cudnnSetTensor4dDescriptorEx(parts[i], CUDNN_DATA_FLOAT, 1, 1, SIDE / 2,
			SIDE / 2, SIDE * SIDE, SIDE * SIDE, i ? 1 : SIDE, i ? SIDE : 1));
	}
	for (int i = 0; i < ROUNDS; i++) {
		prepare(i, input, sizeof(input) / 4);
		DNN(cudnnTransformTensor(dnn, &one, parts[i >= half], bench.a, &one, two, bench.c));
		check_signs(sizeof(input) / 4);
	}
}

static void pooling_mode(void)
{
	static const float input[SIDE * SIDE] = {1, 2, 3, 4, 5, 6, 7, 8};
	cudnnPoolingDescriptor_t kind;

	DNN(cudnnCreatePoolingDescriptor(&kind));
	for (int i = 0; i < ROUNDS; i++) {
		DNN(cudnnSetPooling2dDescriptor(kind,
			i < half ? CUDNN_POOLING_MAX : CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING,
			CUDNN_NOT_PROPAGATE_NAN, 2, 2, 0, 0, 2, 2));
		prepare(i, input, sizeof(input) / 4);
		DNN(cudnnPoolingForward(dnn, kind, &one, four, bench.a, &one, two, bench.c));
		check_signs(sizeof(input) / 4);
	}
}

/* One that takes every second pixel or every third, of four, with a filter of one. */
static void convolve(int round, int stride, cudnnMathType_t math)
{
	static const float input[SIDE * SIDE] = {1, 2, 3, 4, 5, 6, 7, 8};
	static cudnnConvolutionDescriptor_t kind;
	static cudnnFilterDescriptor_t filter;

	if (!kind) {
		DNN(cudnnCreateConvolutionDescriptor(&kind));
		DNN(cudnnCreateFilterDescriptor(&filter));
		DNN(cudnnSetFilter4dDescriptor(
			filter, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 1, 1, 1, 1));
	}
	DNN(cudnnSetConvolution2dDescriptor(
		kind, 0, 0, stride, stride, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
	DNN(cudnnSetConvolutionMathType(kind, math));
	prepare(round, input, sizeof(input) / 4);
	DNN(cudnnConvolutionForward(dnn, &one, four, bench.a, filter, bench.b, kind,
		CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, NULL, 0, &one, two, bench.c));
	check_signs(sizeof(input) / 4);
}

static void convolution_stride(void)
{
	for (int i = 0; i < ROUNDS; i++)
		convolve(i, i < half ? 2 : 3, CUDNN_DEFAULT_MATH);
}

static void convolution_math(void)
{
	for (int i = 0; i < ROUNDS; i++)
		convolve(i, 2, i < half ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH);
}

static void softmax(int round, cudnnSoftmaxAlgorithm_t algorithm, cudnnSoftmaxMode_t mode)
{
	static const float input[SIDE * SIDE] = {1, 2, 3, 4, 5, 6, 7, 8};

	prepare(round, input, sizeof(input));
	DNN(cudnnSoftmaxForward(dnn, algorithm, mode, &one, four, bench.a, &one, four, bench.c));
	check_signs(sizeof(input));
}

static void softmax_algorithm(void)
{
	for (int i = 0; i < ROUNDS; i++)
		softmax(i, i < half ? CUDNN_SOFTMAX_FAST : CUDNN_SOFTMAX_ACCURATE,
			CUDNN_SOFTMAX_MODE_INSTANCE);
}

static void softmax_mode(void)
{
	for (int i = 0; i < ROUNDS; i++)
		softmax(i, CUDNN_SOFTMAX_ACCURATE,
			i < half ? CUDNN_SOFTMAX_MODE_INSTANCE : CUDNN_SOFTMAX_MODE_CHANNEL);
}

static void product_math(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		BLAS(cublasSetMathMode(
			bench.blas, i < half ? CUBLAS_DEFAULT_MATH : CUBLAS_TF32_TENSOR_OP_MATH));
		begin(&bench, i);
		clear(&bench, whole);
		product(&bench, 1, 1, M);
		check(&bench, M, 1, 0);
	}
}

static void product_algorithm(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		BLAS(cublasGemmEx(bench.blas, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &one, bench.a,
			CUDA_R_32F, M, bench.b, CUDA_R_32F, K, &one, bench.c, CUDA_R_32F, M,
			CUBLAS_COMPUTE_32F, i < half ? CUBLAS_GEMM_DEFAULT : CUBLAS_GEMM_ALGO0));
		check(&bench, M, 1, 0);
	}
}

/* By 1, then by 2. */
static void product_alpha(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		const float alpha = i < half ? 1 : 2;

		begin(&bench, i);
		clear(&bench, whole);
		product(&bench, alpha, 1, M);
		check(&bench, M, alpha, 0);
	}
}

/* Sums may come in any order where the program allows it. */
static void atomics(void)
{
	BLAS(cublasSetAtomicsMode(bench.blas, CUBLAS_ATOMICS_ALLOWED));
	add_rounds();
}

static const struct rewrite_case cases[] = {
	{"activation", activation},
	{"ceiling", ceiling},
	{"activation-back", activation_back},
	{"pooling-window", pooling_window},
	{"pooling-mode", pooling_mode},
	{"layout", layout},
	{"convolution-stride", convolution_stride},
	{"convolution-math", convolution_math},
	{"softmax-algorithm", softmax_algorithm},
	{"softmax-mode", softmax_mode},
	{"product-math", product_math},
	{"product-algorithm", product_algorithm},
	{"product-alpha", product_alpha},
	{"atomics", atomics},
};

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	alarm(300);
	make(&bench);
	DNN(cudnnCreate(&dnn));
	four = square(SIDE);
	two = square(SIDE / 2);
	return rewrite_case_run(cases, sizeof(cases) / sizeof(cases[0]), words[1]);
}
