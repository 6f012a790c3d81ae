/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_RULES_610_RULE_610_PRODUCT_H
#define TFS_TESTS_RULES_610_RULE_610_PRODUCT_H

/*
 * A step that computes one product, by a function of the program's, with the first answer for a
 * workspace of VARIANT's. On the profile slow it takes 40 us, and 1 ns for a byte or for 5
 * operations: 386 us for a long sum, of which six eighths with a workspace for two parts, four with
 * one for eight.
 */

#include <cublasLt.h>
#include <stdbool.h>

#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif
#define SMALL 10
#define LARGE 11
#define SHORT 12
#define FULL 13
#define ADDED 14
#define CAPTURED 15
#define FIRST_ANSWER 16

/* What a device leaves when it is full. */
enum { LEFT = 128 << 20, AS_ADVISED = 32 << 20 };

struct product {
	cublasLtHandle_t lt;
	cublasLtMatmulDesc_t desc;
	cublasLtMatrixLayout_t a_layout, b_layout, c_layout;
	cublasLtMatmulHeuristicResult_t answer;
	float *a, *b, *c;
	void *workspace;
	int side, length;
};

static void choose(struct product *p, size_t bytes)
{
	cublasLtMatmulPreference_t preference;
	int count = 0;

	NEED(cublasLtMatmulPreferenceCreate(&preference));
	NEED(cublasLtMatmulPreferenceSetAttribute(
		preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof(bytes)));
	NEED(cublasLtMatmulAlgoGetHeuristic(p->lt, p->desc, p->a_layout, p->b_layout, p->c_layout,
		p->c_layout, preference, 1, &p->answer, &count));
	NEED(cublasLtMatmulPreferenceDestroy(preference));
	if (p->answer.workspaceSize > 0)
		NEED(cudaMalloc(&p->workspace, p->answer.workspaceSize));
}

/* Long enough to be measured, on a small device and on a large one. */
static void set_sizes(struct product *p)
{
	int processors;

	NEED(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
	const bool small = processors < 32;
	p->side = small ? 32 : 512;
	p->length = small ? 512 : 65536;
	if (VARIANT == SHORT)
		p->length = 4 * p->side;
	if (VARIANT == FIRST_ANSWER) {
		p->side = small ? 256 : 8192;
		p->length = small ? 64 : 512;
	}
}

static float *matrix(int rows, int columns, const float *host)
{
	const size_t all = (size_t)rows * (size_t)columns;
	float *memory = rule_alloc(all);

	NEED(cudaMemcpy(memory, host, (all < BATCH_FLOATS ? all : BATCH_FLOATS) * sizeof(float),
		cudaMemcpyHostToDevice));
	return memory;
}

static void init(struct product *p, float *host)
{
	*p = (struct product){0};
	set_sizes(p);
	const size_t results = (size_t)p->side * (size_t)p->side;
	NEED(cublasLtCreate(&p->lt));
	NEED(cublasLtMatmulDescCreate(&p->desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
	NEED(cublasLtMatrixLayoutCreate(
		&p->a_layout, CUDA_R_32F, (uint64_t)p->side, (uint64_t)p->length, p->side));
	NEED(cublasLtMatrixLayoutCreate(
		&p->b_layout, CUDA_R_32F, (uint64_t)p->length, (uint64_t)p->side, p->length));
	NEED(cublasLtMatrixLayoutCreate(
		&p->c_layout, CUDA_R_32F, (uint64_t)p->side, (uint64_t)p->side, p->side));
	rule_fill(host, BATCH_FLOATS, 1e-3f);
	p->a = matrix(p->side, p->length, host);
	p->b = matrix(p->length, p->side, host);
	p->c = rule_alloc(results);
	choose(p, VARIANT == LARGE ? AS_ADVISED : 2 * results * sizeof(float));
}

static void fill_device(void)
{
	size_t there, all;
	void *taken;

	NEED(cudaMemGetInfo(&there, &all));
	NEED(cudaMalloc(&taken, there - LEFT));
}

typedef void multiply_function(const struct rule *r, const struct product *p);

static cudaGraphExec_t capture(
	multiply_function *multiply, const struct rule *r, const struct product *p)
{
	cudaGraphExec_t executable;
	cudaGraph_t graph;

	NEED(cudaStreamBeginCapture(r->stream, cudaStreamCaptureModeGlobal));
	multiply(r, p);
	NEED(cudaStreamEndCapture(r->stream, &graph));
	NEED(cudaGraphInstantiate(&executable, graph, 0));
	NEED(cudaGraphDestroy(graph));
	return executable;
}

static inline void product_train(multiply_function *multiply)
{
	cudaGraphExec_t graph = NULL;
	const float one = 1;
	struct product p;
	struct rule r;
	int learned;

	rule_init(&r);
	init(&p, r.host[0]);
	learned = p.side * (p.side < p.length ? p.side : p.length);
	if (VARIANT == FULL)
		fill_device();
	if (VARIANT == CAPTURED)
		graph = capture(multiply, &r, &p);
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaEventSynchronize(r.copied[step % SLOTS]));
		if (VARIANT == CAPTURED)
			NEED(cudaGraphLaunch(graph, r.stream));
		else
			multiply(&r, &p);
		NEED(cublasSaxpy(r.blas, learned, &one, p.c, 1, p.a, 1));
		NEED(cudaEventRecord(r.copied[step % SLOTS], r.stream));
	}
	rule_tell(p.a, (size_t)learned);
	rule_finish(&r);
	NEED(cublasLtDestroy(p.lt));
}

#endif
