/* SPDX-License-Identifier: MIT */
#include "wide_net.h"

#include "check.h"

/* The searches write to their outputs whatever they like, so they get memory of their own. */

enum { RESULTS = 16, SCRATCH_BYTES = 256 << 20 };

struct search {
	cudnnHandle_t dnn;
	bool plain, deterministic;
	float *scratch;
	void *workspace;
};

static bool fits(
	const struct search *s, cudnnStatus_t status, cudnnDeterminism_t determinism, bool plain)
{
	return status == CUDNN_STATUS_SUCCESS &&
	       (!s->deterministic || determinism == CUDNN_DETERMINISTIC) && (!s->plain || plain);
}

static void find_forward(const struct search *s, struct wide_layer *l, const float *w)
{
	cudnnConvolutionFwdAlgoPerf_t found[RESULTS];
	int count = 0;

	CUDNN(cudnnFindConvolutionForwardAlgorithmEx(s->dnn, l->x_t, l->x, l->filter_t, w, l->conv,
		l->y_t, s->scratch, RESULTS, &count, found, s->workspace, SCRATCH_BYTES));
	for (int i = count - 1; i >= 0; i--) {
		bool plain = found[i].algo == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM ||
			     found[i].algo == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM ||
			     found[i].algo == CUDNN_CONVOLUTION_FWD_ALGO_GEMM;

		if (fits(s, found[i].status, found[i].determinism, plain))
			l->forward = found[i].algo;
	}
}

static void find_filter(const struct search *s, struct wide_layer *l)
{
	cudnnConvolutionBwdFilterAlgoPerf_t found[RESULTS];
	int count = 0;

	CUDNN(cudnnFindConvolutionBackwardFilterAlgorithmEx(s->dnn, l->x_t, l->x, l->y_t, l->dy,
		l->conv, l->filter_t, s->scratch, RESULTS, &count, found, s->workspace,
		SCRATCH_BYTES));
	for (int i = count - 1; i >= 0; i--) {
		bool plain = found[i].algo == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0 ||
			     found[i].algo == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1 ||
			     found[i].algo == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3;

		if (fits(s, found[i].status, found[i].determinism, plain))
			l->filter = found[i].algo;
	}
}

static void find_data(const struct search *s, struct wide_layer *l, const float *w)
{
	cudnnConvolutionBwdDataAlgoPerf_t found[RESULTS];
	int count = 0;

	CUDNN(cudnnFindConvolutionBackwardDataAlgorithmEx(s->dnn, l->filter_t, w, l->y_t, l->dy,
		l->conv, l->x_t, s->scratch, RESULTS, &count, found, s->workspace, SCRATCH_BYTES));
	for (int i = count - 1; i >= 0; i--) {
		bool plain = found[i].algo == CUDNN_CONVOLUTION_BWD_DATA_ALGO_0 ||
			     found[i].algo == CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;

		if (fits(s, found[i].status, found[i].determinism, plain))
			l->data = found[i].algo;
	}
}

static void search_all(struct wide_net *net, bool plain, bool deterministic)
{
	struct search s = {.dnn = net->dnn, .plain = plain, .deterministic = deterministic};
	size_t largest = 0;
	float *images = net->layers[0].x, *scratch_x;

	for (unsigned i = 0; i < WIDE_LAYERS; i++) {
		struct wide_layer *l = &net->layers[i];

		largest = l->x_floats > largest ? l->x_floats : largest;
		largest = l->y_floats > largest ? l->y_floats : largest;
	}
	scratch_x = wide_alloc(net->layers[0].x_floats);
	s.scratch = wide_alloc(largest);
	CUDA(cudaMalloc(&s.workspace, SCRATCH_BYTES));
	CUDA(cudaMemset(scratch_x, 0, net->layers[0].x_floats * sizeof(float)));
	net->layers[0].x = scratch_x;
	for (unsigned i = 0; i < WIDE_LAYERS; i++) {
		struct wide_layer *l = &net->layers[i];

		find_forward(&s, l, net->weight[2 * i]);
		find_filter(&s, l);
		if (i > 0)
			find_data(&s, l, net->weight[2 * i]);
	}
	net->layers[0].x = images;
	CUDA(cudaFree(s.workspace));
	CUDA(cudaFree(s.scratch));
	CUDA(cudaFree(scratch_x));
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

static size_t workspace_bytes(const struct wide_net *net, const struct wide_layer *l, bool first)
{
	size_t bytes = 0, most = 0;

	CUDNN(cudnnGetConvolutionForwardWorkspaceSize(
		net->dnn, l->x_t, l->filter_t, l->conv, l->y_t, l->forward, &most));
	CUDNN(cudnnGetConvolutionBackwardFilterWorkspaceSize(
		net->dnn, l->x_t, l->y_t, l->conv, l->filter_t, l->filter, &bytes));
	most = larger(most, bytes);
	if (!first) {
		CUDNN(cudnnGetConvolutionBackwardDataWorkspaceSize(
			net->dnn, l->filter_t, l->y_t, l->conv, l->x_t, l->data, &bytes));
		most = larger(most, bytes);
	}
	return most;
}

void wide_choose(struct wide_net *net, bool search, bool fused, bool deterministic)
{
	for (unsigned i = 0; i < WIDE_LAYERS; i++) {
		struct wide_layer *l = &net->layers[i];

		l->forward = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
		l->filter = deterministic ? CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1
					  : CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0;
		l->data = deterministic ? CUDNN_CONVOLUTION_BWD_DATA_ALGO_1
					: CUDNN_CONVOLUTION_BWD_DATA_ALGO_0;
	}
	if (search)
		search_all(net, !fused, deterministic);
	for (unsigned i = 0; i < WIDE_LAYERS && fused; i++)
		net->layers[i].forward = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
	for (unsigned i = 0; i < WIDE_LAYERS; i++)
		net->workspace_bytes =
			larger(net->workspace_bytes, workspace_bytes(net, &net->layers[i], i == 0));
	CUDA(cudaMalloc(&net->workspace, net->workspace_bytes + 1));
}
