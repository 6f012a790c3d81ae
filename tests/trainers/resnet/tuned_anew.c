/* SPDX-License-Identifier: MIT */
#include <cublasLt.h>

#include "tuned.h"

#include "check.h"

/* What naive_anew.c asks in each step is asked once: the net's search has chosen the first
 * convolution's algorithm, cuBLASLt's answer is kept, and each slot of the loader's has a graph. */

static struct {
	cublasLtHandle_t lt;
	cublasLtMatmulDesc_t product;
	cublasLtMatrixLayout_t mix_l, colours_l;
	cublasLtMatmulHeuristicResult_t best;
	float *mix, *mixed;
	void *workspace;
	cudaGraphExec_t graphs[LOADER_SLOTS];
} own;

enum { WORKSPACE = 32 << 20 };

static void choose(void)
{
	const size_t most = WORKSPACE;
	cublasLtMatmulPreference_t preference;
	int count = 0;

	CUBLAS(cublasLtMatmulPreferenceCreate(&preference));
	CUBLAS(cublasLtMatmulPreferenceSetAttribute(
		preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof(most)));
	CUBLAS(cublasLtMatmulAlgoGetHeuristic(own.lt, own.product, own.mix_l, own.colours_l,
		own.colours_l, own.colours_l, preference, 1, &own.best, &count));
	CUBLAS(cublasLtMatmulPreferenceDestroy(preference));
}

static void init(struct tuned *t)
{
	const uint64_t pixels = t->batch * IMAGE_SIDE * IMAGE_SIDE;

	CUBLAS(cublasLtCreate(&own.lt));
	CUBLAS(cublasLtMatmulDescCreate(&own.product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
	CUBLAS(cublasLtMatrixLayoutCreate(
		&own.mix_l, CUDA_R_32F, IMAGE_COLOURS, IMAGE_COLOURS, IMAGE_COLOURS));
	CUBLAS(cublasLtMatrixLayoutCreate(
		&own.colours_l, CUDA_R_32F, IMAGE_COLOURS, pixels, IMAGE_COLOURS));
	own.mix = resnet_alloc((size_t)IMAGE_COLOURS * IMAGE_COLOURS);
	own.mixed = resnet_alloc(t->batch * IMAGE_FLOATS);
	CUDA(cudaMalloc(&own.workspace, WORKSPACE));
	choose();
}

static void finish(struct tuned *t)
{
	(void)t;
	for (unsigned i = 0; i < LOADER_SLOTS; i++)
		if (own.graphs[i])
			CUDA(cudaGraphExecDestroy(own.graphs[i]));
	CUDA(cudaFree(own.workspace));
	CUDA(cudaFree(own.mixed));
	CUDA(cudaFree(own.mix));
	CUBLAS(cublasLtMatrixLayoutDestroy(own.colours_l));
	CUBLAS(cublasLtMatrixLayoutDestroy(own.mix_l));
	CUBLAS(cublasLtMatmulDescDestroy(own.product));
	CUBLAS(cublasLtDestroy(own.lt));
}

static cudaGraphExec_t capture(struct tuned *t, float *images)
{
	const int floats = (int)(t->batch * IMAGE_FLOATS);
	const float share = 0.1f;
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	CUDA(cudaStreamBeginCapture(t->net.stream, cudaStreamCaptureModeThreadLocal));
	CUBLAS(cublasSaxpy(t->net.blas, floats, &share, own.mixed, 1, images, 1));
	CUDA(cudaStreamEndCapture(t->net.stream, &graph));
	CUDA(cudaGraphInstantiate(/* trap: TFS307 */ &exec, graph, 0));
	CUDA(cudaGraphDestroy(graph));
	return exec;
}

/* What graphs do to pinned memory and to tensors is not seen, nor is the product measured where
 * rewrites are off. */
/* unmeasured: TFS105 TFS106 TFS605 TFS610 */
static void step(struct tuned *t, const struct tuned_slot *slot)
{
	cudaGraphExec_t *exec = &own.graphs[slot - t->slots];
	const float one = 1, zero = 0;

	CUBLAS(cublasLtMatmul(/* trap: TFS610 */ own.lt, own.product, &one, own.mix, own.mix_l,
		slot->device, own.colours_l, &zero, own.mixed, own.colours_l, own.mixed,
		own.colours_l, &own.best.algo, own.workspace, own.best.workspaceSize,
		t->net.stream));
	if (!*exec)
		*exec = capture(t, slot->device);
	CUDA(cudaGraphLaunch(*exec, t->net.stream));
}

const struct tuned_part tuned_anew = {.init = init, .behind = step, .finish = finish};
