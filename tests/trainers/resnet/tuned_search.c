/* SPDX-License-Identifier: MIT */
#include "tuned.h"

#include "check.h"

/* The searches write to their outputs whatever they like, so they get memory of their own. */

enum { RESULTS = 16, SCRATCH_BYTES = 16 << 20 };

struct search {
	struct resnet *net;
	bool deterministic;
	float *x, *y, *w;
	void *workspace;
};

/* The fastest come first. */
static bool fits(const struct search *s, cudnnStatus_t status, cudnnDeterminism_t determinism)
{
	return status == CUDNN_STATUS_SUCCESS &&
	       (!s->deterministic || determinism == CUDNN_DETERMINISTIC);
}

static void find_forward(const struct search *s, struct conv_layer *l)
{
	cudnnConvolutionFwdAlgoPerf_t found[RESULTS];
	int count = 0;

	CUDNN(cudnnFindConvolutionForwardAlgorithmEx(s->net->dnn, l->x_t, s->x, l->w_t, s->w,
		l->conv, l->y_t, s->y, RESULTS, &count, found, s->workspace, SCRATCH_BYTES));
	l->forward = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
	for (int i = count; i-- > 0;)
		if (fits(s, found[i].status, found[i].determinism))
			l->forward = found[i].algo;
}

static void find_filter(const struct search *s, struct conv_layer *l)
{
	cudnnConvolutionBwdFilterAlgoPerf_t found[RESULTS];
	int count = 0;

	CUDNN(cudnnFindConvolutionBackwardFilterAlgorithmEx(s->net->dnn, l->x_t, s->x, l->y_t, s->y,
		l->conv, l->w_t, s->w, RESULTS, &count, found, s->workspace, SCRATCH_BYTES));
	l->filter = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;
	for (int i = count; i-- > 0;)
		if (fits(s, found[i].status, found[i].determinism))
			l->filter = found[i].algo;
}

static void find_data(const struct search *s, struct conv_layer *l)
{
	cudnnConvolutionBwdDataAlgoPerf_t found[RESULTS];
	int count = 0;

	CUDNN(cudnnFindConvolutionBackwardDataAlgorithmEx(s->net->dnn, l->w_t, s->w, l->y_t, s->y,
		l->conv, l->x_t, s->x, RESULTS, &count, found, s->workspace, SCRATCH_BYTES));
	l->data = CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;
	for (int i = count; i-- > 0;)
		if (fits(s, found[i].status, found[i].determinism))
			l->data = found[i].algo;
}

void tuned_search(struct resnet *net, bool deterministic)
{
	const size_t most = net->blocks[0].in_floats;
	struct search s = {.net = net, .deterministic = deterministic};
	struct conv_layer *l;

	s.x = resnet_alloc(most);
	s.y = resnet_alloc(most);
	s.w = resnet_alloc(most);
	CUDA(cudaMalloc(&s.workspace, SCRATCH_BYTES)); /* trap: TFS401 */
	for (unsigned i = 0; (l = resnet_conv(net, i)); i++) {
		find_forward(&s, l);
		find_filter(&s, l);
		find_data(&s, l);
	}
	/* The only one that adds what came in on the way. */
	for (unsigned i = 0; i < RESNET_BLOCKS; i++)
		net->blocks[i].conv2.forward = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
	CUDA(cudaFree(s.workspace)); /* trap: TFS202 TFS401 */
	CUDA(cudaFree(s.w));
	CUDA(cudaFree(s.y));
	CUDA(cudaFree(s.x));
	resnet_work(net);
}
