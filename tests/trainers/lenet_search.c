/* SPDX-License-Identifier: MIT */
#include "lenet.h"

#include "check.h"

/*
 * The searches write to their outputs whatever they like, so they get memory of their own. What
 * is chosen stays near to the plain algorithms: no FFT, no Winograd, which round otherwise.
 */

enum { RESULTS = 16, SCRATCH_BYTES = 64 << 20 };

struct scratch {
	void *output, *workspace;
};

static bool fits(cudnnStatus_t status, cudnnDeterminism_t determinism, bool deterministic)
{
	return status == CUDNN_STATUS_SUCCESS &&
	       (!deterministic || determinism == CUDNN_DETERMINISTIC);
}

static cudnnConvolutionFwdAlgo_t find_forward(const struct lenet *net, struct scratch *scratch,
	bool deterministic, cudnnTensorDescriptor_t x_t, const float *x,
	cudnnFilterDescriptor_t w_t, const float *w, cudnnTensorDescriptor_t y_t)
{
	cudnnConvolutionFwdAlgoPerf_t found[RESULTS];
	int count = 0;

	CUDNN(cudnnFindConvolutionForwardAlgorithmEx(net->dnn, x_t, x, w_t, w, net->conv, y_t,
		scratch->output, RESULTS, &count, found, scratch->workspace, SCRATCH_BYTES));
	for (int i = 0; i < count; i++) {
		bool plain = found[i].algo == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM ||
			     found[i].algo == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM ||
			     found[i].algo == CUDNN_CONVOLUTION_FWD_ALGO_GEMM;

		if (plain && fits(found[i].status, found[i].determinism, deterministic))
			return found[i].algo;
	}
	return CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
}

static cudnnConvolutionBwdFilterAlgo_t find_filter(const struct lenet *net, struct scratch *scratch,
	bool deterministic, cudnnTensorDescriptor_t x_t, const float *x,
	cudnnTensorDescriptor_t dy_t, const float *dy, cudnnFilterDescriptor_t dw_t)
{
	cudnnConvolutionBwdFilterAlgoPerf_t found[RESULTS];
	int count = 0;

	CUDNN(cudnnFindConvolutionBackwardFilterAlgorithmEx(net->dnn, x_t, x, dy_t, dy, net->conv,
		dw_t, scratch->output, RESULTS, &count, found, scratch->workspace, SCRATCH_BYTES));
	for (int i = 0; i < count; i++) {
		bool plain = found[i].algo == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0 ||
			     found[i].algo == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1 ||
			     found[i].algo == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3;

		if (plain && fits(found[i].status, found[i].determinism, deterministic))
			return found[i].algo;
	}
	return CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;
}

static cudnnConvolutionBwdDataAlgo_t find_data(
	const struct lenet *net, struct scratch *scratch, bool deterministic)
{
	cudnnConvolutionBwdDataAlgoPerf_t found[RESULTS];
	int count = 0;

	CUDNN(cudnnFindConvolutionBackwardDataAlgorithmEx(net->dnn, net->filter2_t,
		net->weight[CONV2_W], net->conv2_t, net->d_conv2, net->conv, net->pool1_t,
		scratch->output, RESULTS, &count, found, scratch->workspace, SCRATCH_BYTES));
	for (int i = 0; i < count; i++) {
		bool plain = found[i].algo == CUDNN_CONVOLUTION_BWD_DATA_ALGO_0 ||
			     found[i].algo == CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;

		if (plain && fits(found[i].status, found[i].determinism, deterministic))
			return found[i].algo;
	}
	return CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;
}

void lenet_search(const struct lenet *net, bool deterministic, struct lenet_algos *out_algos)
{
	size_t largest = net->batch * (size_t)(CONV1_MAPS * CONV1_SIDE * CONV1_SIDE);
	struct scratch scratch;
	struct lenet_algos algos;

	CUDA(cudaMalloc(&scratch.output, largest * sizeof(float))); /* trap: TFS401 */
	CUDA(cudaMalloc(&scratch.workspace, SCRATCH_BYTES));
	algos.forward1 = find_forward(net, &scratch, deterministic, net->image_t, net->images,
		net->filter1_t, net->weight[CONV1_W], net->conv1_t);
	algos.forward2 = find_forward(net, &scratch, deterministic, net->pool1_t, net->pool1,
		net->filter2_t, net->weight[CONV2_W], net->conv2_t);
	algos.forward_dense = find_forward(net, &scratch, deterministic, net->flat_t, net->pool2,
		net->dense1_t, net->weight[DENSE1_W], net->hidden_t);
	algos.filter1 = find_filter(net, &scratch, deterministic, net->image_t, net->images,
		net->conv1_t, net->d_conv1, net->filter1_t);
	algos.filter2 = find_filter(net, &scratch, deterministic, net->pool1_t, net->pool1,
		net->conv2_t, net->d_conv2, net->filter2_t);
	algos.data2 = find_data(net, &scratch, deterministic);
	CUDA(cudaFree(scratch.workspace)); /* trap: TFS202 TFS401 */
	CUDA(cudaFree(scratch.output));
	algos.workspace_bytes = lenet_workspace_bytes(net, &algos);
	*out_algos = algos;
}
