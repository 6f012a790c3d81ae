/* SPDX-License-Identifier: MIT */
/*
 * What programs count on of the calls that use memory which they have zeroed, one case each. They
 * hold with and without tfshim, and fail when zeros that something needs are left out: the script
 * has it do so.
 */
#include <math.h>

#include "tests/rewrites/memset/rewrite_memset.h"

static void over(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		product(&bench, 1, 0, M);
		check(&bench, M, 1, 0);
	}
}

/* Counterexample 11: two micro-batches, and both parts are kept. */
static void microbatch(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		product(&bench, 1, i % 2 == 0, M);
		product(&bench, 1, 1, M);
		check(&bench, M, 2, 0);
	}
}

/* What is in the memory before is no number, and gone when it was zeroed. */
static void reads_output(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		OK(cudaMemset(bench.c, 0xff, bytes));
		clear(&bench, whole);
		product(&bench, 1, 1, M);
		check(&bench, M, 1, 0);
	}
}

/* Counterexample 12: an output whose rows have room between them, which stays zero. */
static void padded(void)
{
	static float back[4][12];
	cudnnActivationDescriptor_t relu;
	cudnnTensorDescriptor_t in, out;
	cudnnHandle_t dnn;

	DNN(cudnnCreate(&dnn));
	DNN(cudnnCreateActivationDescriptor(&relu));
	DNN(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0));
	DNN(cudnnCreateTensorDescriptor(&in));
	DNN(cudnnCreateTensorDescriptor(&out));
	DNN(cudnnSetTensor4dDescriptor(in, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 4, 11));
	/* Its first and last element are where a dense tensor of 4 by 12 would have them. */
	DNN(cudnnSetTensor4dDescriptorEx(out, CUDNN_DATA_FLOAT, 1, 1, 4, 11, 48, 48, 12, 1));
	for (int i = 0; i < ROUNDS; i++) {
		int wrong = 0;

		begin(&bench, i);
		clear(&bench, sizeof(back) - sizeof(float));
		DNN(cudnnActivationForward(
			dnn, relu, &one, in, bench.a, i % 2 == 0 ? &zero : &one, out, bench.c));
		OK(cudaMemcpy(back, bench.c, sizeof(back) - sizeof(float), cudaMemcpyDeviceToHost));
		for (int row = 0; row < 4; row++)
			for (int column = 0; column < 12 && row * 12 + column < 47; column++)
				wrong += back[row][column] !=
					 (column < 11 ? bench.host_a[row * 11 + column] : 0);
		TEST_EQ(wrong, 0);
	}
}

static void padded_product(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, bytes);
		product(&bench, 1, 1, M + PAD);
		check(&bench, M + PAD, 1, 0);
	}
}

static void partial(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		OK(cudaMemset(bench.c, 0, whole / 2));
		OK(cudaMemset((char *)bench.c + whole / 2, 0, whole / 2));
		product(&bench, 1, 1, M);
		check(&bench, M, 1, 0);
	}
}

/* cuDNN documents the order in which this adds to be any. */
static void any_order(void)
{
	static float x[M * N], w;
	cudnnConvolutionDescriptor_t convolution;
	cudnnTensorDescriptor_t tensor;
	cudnnFilterDescriptor_t filter;
	cudnnHandle_t dnn;

	DNN(cudnnCreate(&dnn));
	DNN(cudnnCreateTensorDescriptor(&tensor));
	DNN(cudnnCreateFilterDescriptor(&filter));
	DNN(cudnnCreateConvolutionDescriptor(&convolution));
	DNN(cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, M, N));
	DNN(cudnnSetFilter4dDescriptor(filter, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 1, 1, 1, 1));
	DNN(cudnnSetConvolution2dDescriptor(
		convolution, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
	for (int i = 0; i < ROUNDS; i++) {
		for (int k = 0; k < M * N; k++)
			x[k] = (float)(i % 3);
		begin(&bench, i);
		OK(cudaMemcpy(bench.other, x, sizeof(x), cudaMemcpyHostToDevice));
		clear(&bench, sizeof(w));
		DNN(cudnnConvolutionBackwardFilter(dnn, &one, tensor, bench.other, tensor,
			bench.other, convolution, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, NULL, 0,
			&one, filter, bench.c));
		OK(cudaMemcpy(&w, bench.c, sizeof(w), cudaMemcpyDeviceToHost));
		TEST_EQ((int)w, M * N * (i % 3) * (i % 3));
	}
}

/* The call behind the fill is refused: the zeros are there. */
static void refused(void)
{
	float back[M * N], *a = bench.a;
	cudnnActivationDescriptor_t relu;
	cudnnTensorDescriptor_t tensor;
	cudnnHandle_t dnn;

	DNN(cudnnCreate(&dnn));
	DNN(cudnnCreateActivationDescriptor(&relu));
	DNN(cudnnCreateTensorDescriptor(&tensor));
	DNN(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0));
	DNN(cudnnSetTensor4dDescriptor(
		tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 1, M * K));
	for (int i = 0; i < ROUNDS; i++) {
		const bool bad = i == ROUNDS - 1;

		begin(&bench, i);
		clear(&bench, sizeof(bench.host_a));
		const cudnnStatus_t status = cudnnActivationForward(
			dnn, relu, &one, tensor, bad ? NULL : a, &one, tensor, bench.c);
		TEST_EQ(status != CUDNN_STATUS_SUCCESS, bad);
		OK(cudaMemcpy(back, bench.c, sizeof(bench.host_a), cudaMemcpyDeviceToHost));
		TEST_EQ(memcmp(back, bench.host_a, sizeof(bench.host_a)) == 0, !bad);
		TEST_EQ(wrong_bytes(back, 0, sizeof(bench.host_a)) == 0, bad);
	}
}

static void half(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		product(&bench, 1, 0.5f, M);
		check(&bench, M, 1, 0);
	}
}

static void negative(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		product(&bench, -1, 1, M);
		check(&bench, M, -1, 0);
	}
}

/* -0 comes out of the call from round `from` on, and is +0 when it was added to zeros. */
static void signs_from(int from)
{
	static const float both[2] = {3, -0.0f};
	cudnnTensorDescriptor_t tensor;
	cudnnHandle_t dnn;
	int minus = 0;

	DNN(cudnnCreate(&dnn));
	DNN(cudnnCreateTensorDescriptor(&tensor));
	DNN(cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 1, 1));
	for (int i = 0; i < ROUNDS; i++) {
		float back;

		begin(&bench, i);
		OK(cudaMemcpy(bench.a, &both[i >= from], sizeof(float), cudaMemcpyHostToDevice));
		OK(cudaMemset(bench.c, 0, sizeof(float)));
		DNN(cudnnAddTensor(dnn, &one, tensor, bench.a, &one, tensor, bench.c));
		OK(cudaMemcpy(&back, bench.c, sizeof(back), cudaMemcpyDeviceToHost));
		TEST_EQ(back == both[i >= from], true);
		minus += back == 0 && signbit(back);
	}
	printf("minus zeros: %d\n", minus);
}

static void signs(void)
{
	signs_from(4);
}

static void late_signs(void)
{
	signs_from(ROUNDS - 4);
}

static const struct rewrite_case cases[] = {
	{"add", add_rounds},
	{"over", over},
	{"microbatch", microbatch},
	{"reads-output", reads_output},
	{"padded", padded},
	{"padded-product", padded_product},
	{"partial", partial},
	{"any-order", any_order},
	{"refused", refused},
	{"half", half},
	{"negative", negative},
	{"signs", signs},
	{"late-signs", late_signs},
};

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	alarm(300);
	make(&bench);
	return rewrite_case_run(cases, sizeof(cases) / sizeof(cases[0]), words[1]);
}
