/* SPDX-License-Identifier: MIT */
#include <cublasLt.h>

#include "naive.h"

#include "check.h"

/*
 * What could be asked once is asked in each step: which algorithm is fastest for the first
 * convolution, for a product of what cuBLASLt is given, and a graph of what is done to a batch. The
 * marks are for the profile a100: all algorithms take 0.31 ms to run, a graph of one kernel 5.8 us
 * to instantiate and 1.8 us to destroy, and the answer no time.
 */

enum { MOST = 8 };

static struct {
	cublasLtHandle_t lt;
	cublasLtMatmulDesc_t product;
	cublasLtMatmulPreference_t preference;
	cublasLtMatrixLayout_t mix_l, colours_l;
	float *mix, *mixed;
	cudaStream_t stream;
} own;

static void init(struct naive *t)
{
	const int pixels = (int)t->batch * IMAGE_SIDE * IMAGE_SIDE;

	CUBLAS(cublasLtCreate(&own.lt));
	CUBLAS(cublasLtMatmulDescCreate(&own.product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
	CUBLAS(cublasLtMatmulPreferenceCreate(&own.preference));
	CUBLAS(cublasLtMatrixLayoutCreate(
		&own.mix_l, CUDA_R_32F, IMAGE_COLOURS, IMAGE_COLOURS, IMAGE_COLOURS));
	CUBLAS(cublasLtMatrixLayoutCreate(
		&own.colours_l, CUDA_R_32F, IMAGE_COLOURS, (uint64_t)pixels, IMAGE_COLOURS));
	own.mix = resnet_alloc((size_t)IMAGE_COLOURS * IMAGE_COLOURS);
	own.mixed = resnet_alloc(t->batch * IMAGE_FLOATS);
	CUDA(cudaStreamCreate(&own.stream));
}

static void finish(struct naive *t)
{
	(void)t;
	CUDA(cudaStreamDestroy(own.stream));
	CUDA(cudaFree(own.mixed));
	CUDA(cudaFree(own.mix));
	CUBLAS(cublasLtMatrixLayoutDestroy(own.colours_l));
	CUBLAS(cublasLtMatrixLayoutDestroy(own.mix_l));
	CUBLAS(cublasLtMatmulPreferenceDestroy(own.preference));
	CUBLAS(cublasLtMatmulDescDestroy(own.product));
	CUBLAS(cublasLtDestroy(own.lt));
}

static void choose_first(struct resnet *net)
{
	struct conv_layer *l = &net->stem;
	cudnnConvolutionFwdAlgoPerf_t found[MOST];
	int count = 0;

	/* gpu: TFS602 x1 legacy 280..350us */
	CUDNN(cudnnFindConvolutionForwardAlgorithm(
		net->dnn, l->x_t, l->w_t, l->conv, l->y_t, MOST, &count, found));
	for (int i = 0; i < count; i++)
		if (!found[i].status && found[i].algo == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM)
			l->forward = found[i].algo;
}

static void mix_colours(struct naive *t)
{
	cublasLtMatmulHeuristicResult_t best;
	const float one = 1, zero = 0;
	int count = 0;

	/* gpu: TFS610 x1 0us */
	CUBLAS(cublasLtMatmulAlgoGetHeuristic(own.lt, own.product, own.mix_l, own.colours_l,
		own.colours_l, own.colours_l, own.preference, 1, &best, &count));
	CUBLAS(cublasLtMatmul(own.lt, own.product, &one, own.mix, own.mix_l, t->images,
		own.colours_l, &zero, own.mixed, own.colours_l, own.mixed, own.colours_l,
		&best.algo, NULL, 0, t->net.stream));
}

/* The mixed colours are added in a graph. */
static void bring_back(struct naive *t)
{
	const int floats = (int)(t->batch * IMAGE_FLOATS);
	const float share = 0.1f;
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	CUBLAS(cublasSetStream(t->net.blas, own.stream));
	CUDA(cudaStreamBeginCapture(own.stream, cudaStreamCaptureModeThreadLocal));
	CUBLAS(cublasSaxpy(t->net.blas, floats, &share, own.mixed, 1, t->images, 1));
	CUDA(cudaStreamEndCapture(own.stream, &graph));
	CUBLAS(cublasSetStream(t->net.blas, t->net.stream));
	/* gpu: TFS307 x1 3.5..10us */
	CUDA(cudaGraphInstantiate(&exec, graph, 0));
	CUDA(cudaGraphLaunch(exec, t->net.stream));
	CUDA(cudaGraphExecDestroy(exec));
	CUDA(cudaGraphDestroy(graph));
}

static void step(struct naive *t, const struct loader_slot *batch)
{
	(void)batch;
	choose_first(&t->net);
	mix_colours(t);
	bring_back(t);
}

const struct naive_part naive_anew = {.init = init, .behind = step, .finish = finish};
