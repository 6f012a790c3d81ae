/* SPDX-License-Identifier: MIT */
#include "lenet.h"

#include "check.h"

/* The searches write to their outputs whatever they like, so they get memory of their own. */

enum { RESULTS = 16, SCRATCH_BYTES = 64 << 20 };

struct search {
	const struct lenet *net;
	bool deterministic, plain;
	void *output, *workspace;
};

/* The fastest come first; one that another's rule excludes is passed over. */
static bool fits(
	const struct search *s, cudnnStatus_t status, cudnnDeterminism_t determinism, bool plain)
{
	return status == CUDNN_STATUS_SUCCESS &&
	       (!s->deterministic || determinism == CUDNN_DETERMINISTIC) && (!s->plain || plain);
}

static cudnnConvolutionFwdAlgo_t find_forward(const struct search *s, cudnnTensorDescriptor_t x_t,
	const float *x, cudnnFilterDescriptor_t w_t, const float *w, cudnnTensorDescriptor_t y_t)
{
	cudnnConvolutionFwdAlgoPerf_t found[RESULTS];
	int count = 0;

	CUDNN(cudnnFindConvolutionForwardAlgorithmEx(s->net->dnn, x_t, x, w_t, w, s->net->conv, y_t,
		s->output, RESULTS, &count, found, s->workspace, SCRATCH_BYTES));
	for (int i = 0; i < count; i++) {
		bool plain = found[i].algo == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM ||
			     found[i].algo == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM ||
			     found[i].algo == CUDNN_CONVOLUTION_FWD_ALGO_GEMM;

		if (fits(s, found[i].status, found[i].determinism, plain))
			return found[i].algo;
	}
	return CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
}

static cudnnConvolutionBwdFilterAlgo_t find_filter(const struct search *s,
	cudnnTensorDescriptor_t x_t, const float *x, cudnnTensorDescriptor_t dy_t, const float *dy,
	cudnnFilterDescriptor_t dw_t)
{
	cudnnConvolutionBwdFilterAlgoPerf_t found[RESULTS];
	int count = 0;

	CUDNN(cudnnFindConvolutionBackwardFilterAlgorithmEx(s->net->dnn, x_t, x, dy_t, dy,
		s->net->conv, dw_t, s->output, RESULTS, &count, found, s->workspace,
		SCRATCH_BYTES));
	for (int i = 0; i < count; i++) {
		bool plain = found[i].algo == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0 ||
			     found[i].algo == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1 ||
			     found[i].algo == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3;

		if (fits(s, found[i].status, found[i].determinism, plain))
			return found[i].algo;
	}
	return CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;
}

static cudnnConvolutionBwdDataAlgo_t find_data(const struct search *s)
{
	const struct lenet *net = s->net;
	cudnnConvolutionBwdDataAlgoPerf_t found[RESULTS];
	int count = 0;

	CUDNN(cudnnFindConvolutionBackwardDataAlgorithmEx(net->dnn, net->filter2_t,
		net->weight[CONV2_W], net->conv2_t, net->d_conv2, net->conv, net->pool1_t,
		s->output, RESULTS, &count, found, s->workspace, SCRATCH_BYTES));
	for (int i = 0; i < count; i++) {
		bool plain = found[i].algo == CUDNN_CONVOLUTION_BWD_DATA_ALGO_0 ||
			     found[i].algo == CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;

		if (fits(s, found[i].status, found[i].determinism, plain))
			return found[i].algo;
	}
	return CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;
}

void lenet_search(
	const struct lenet *net, bool deterministic, bool plain, struct lenet_algos *out_algos)
{
	size_t largest = net->batch * (size_t)(CONV1_MAPS * CONV1_SIDE * CONV1_SIDE);
	struct search s = {.net = net, .deterministic = deterministic, .plain = plain};
	struct lenet_algos algos;

	CUDA(cudaMalloc(&s.output, largest * sizeof(float))); /* trap: TFS401 */
	CUDA(cudaMalloc(&s.workspace, SCRATCH_BYTES));
	algos.forward1 = find_forward(
		&s, net->image_t, net->images, net->filter1_t, net->weight[CONV1_W], net->conv1_t);
	algos.forward2 = find_forward(
		&s, net->pool1_t, net->pool1, net->filter2_t, net->weight[CONV2_W], net->conv2_t);
	algos.forward_dense = find_forward(
		&s, net->flat_t, net->pool2, net->dense1_t, net->weight[DENSE1_W], net->hidden_t);
	algos.filter1 = find_filter(
		&s, net->image_t, net->images, net->conv1_t, net->d_conv1, net->filter1_t);
	algos.filter2 = find_filter(
		&s, net->pool1_t, net->pool1, net->conv2_t, net->d_conv2, net->filter2_t);
	algos.data2 = find_data(&s);
	CUDA(cudaFree(s.workspace)); /* trap: TFS202 TFS401 */
	CUDA(cudaFree(s.output));
	algos.workspace_bytes = lenet_workspace_bytes(net, &algos);
	*out_algos = algos;
}
