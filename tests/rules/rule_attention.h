/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_RULE_ATTENTION_H
#define TFS_TESTS_PROGRAMS_RULE_ATTENTION_H

/*
 * The trainer of rule_step.h with attention in each step, which is made before its own: of 16 heads
 * of 16 values, from 256 positions to as many. A program gives the first product, which it marks,
 * and may set what is told below.
 */

#include <cudnn.h>
#include <math.h>

#include "tests/rules/rule_exchange.h"
#include "tests/rules/rule_kernels.h"

#ifndef VARIANT
#define VARIANT BAD
#endif
/* What is between the products. */
#define BY_SOFTMAX 0 /* cuDNN's */
#define BY_RELU 1    /* cuDNN's too */
#define BY_SOFTEN 2  /* a kernel of the program with a block for each row */
#define BY_HALVES 4  /* the same, which writes halves, as the second product reads */
#define BY_HALVE 3   /* and one with a thread for each element */
#define BY_UNSEEN 5  /* or one without an argument that tells what it works on */
#ifndef BETWEEN
#define BETWEEN BY_SOFTMAX
#endif
/* Something reads the probabilities later. */
#ifndef KEPT
#define KEPT 0
#endif
/* They are shares of a column, or logarithms. */
#ifndef ACROSS
#define ACROSS 0
#endif
#ifndef LOGARITHM
#define LOGARITHM 0
#endif
/* The second product sums along the columns. */
#ifndef TURNED
#define TURNED 0
#endif
/* A head's values are as many. */
#ifndef VALUES
#define VALUES HEAD
#endif
/* The first product's matrices are in lists. */
#ifndef LISTS
#define LISTS 0
#endif
/* All calls are in a graph. */
#ifndef GRAPH
#define GRAPH 0
#endif
/* A kernel comes between them that gets its memory in a struct. */
#ifndef HIDDEN
#define HIDDEN 0
#endif
#ifndef HEADS
#define HEADS 16
#endif
/* There are fewer queries than keys. */
#ifndef QUERIES
#define QUERIES KEYS
#endif

enum { HEAD = 16, KEYS = 256, SCORES = QUERIES * KEYS, ROWS = HEADS * KEYS };

struct attention {
	cudnnHandle_t dnn;
	cudnnTensorDescriptor_t rows_t;
	cudnnActivationDescriptor_t relu;
	float *query, *key, *value, *out;
	float *scores, *learned;
	float **lists; /* of the device: of scores, queries and keys in turn, one for each head */
	void *shares, *halves; /* of the scores and of the values */
	cudaKernel_t attend, soften, soften_half, halve, add, nothing;
	cudaEvent_t done[SLOTS];
	cudaGraphExec_t graph;
	void (*scores_of)(struct rule *r, struct attention *own); /* the first product */
};

static const float attention_scale = 0.25f, attention_zero;

#define ATTENTION_SCORES(r, own)                                                                   \
	NEED(cublasSgemmStridedBatched((r)->blas, CUBLAS_OP_T, CUBLAS_OP_N, KEYS, QUERIES, HEAD,   \
		&attention_scale, (own)->key, HEAD, KEYS *HEAD, (own)->query, HEAD, KEYS *HEAD,    \
		&attention_zero, (own)->scores, KEYS, SCORES, HEADS))

/* attend(float *out, const float *query, const float *key, const float *value, int rows): a thread
 * for each row of scores. */
static const char attention_ptx[] =
	".version 7.0\n.target sm_75\n.address_size 64\n"
	".visible .entry attend(.param .u64 out, .param .u64 query, .param .u64 key, "
	".param .u64 value, .param .u32 rows)\n{\n"
	".reg .pred %p<4>;\n.reg .b32 %r<12>;\n.reg .f32 %f<8>;\n.reg .b64 %rd<20>;\n"
	"ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [query];\nld.param.u64 %rd3, [key];\n"
	"ld.param.u64 %rd4, [value];\nld.param.u32 %r1, [rows];\n"
	"mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"
	"mad.lo.s32 %r5, %r2, %r3, %r4;\nsetp.ge.s32 %p1, %r5, %r1;\n@%p1 ret;\n"
	/* The row's query and output; its head's keys and values: 64 bytes for each position. */
	"mul.wide.s32 %rd5, %r5, 64;\nadd.s64 %rd1, %rd1, %rd5;\nadd.s64 %rd2, %rd2, %rd5;\n"
	"shr.u32 %r6, %r5, 8;\nmul.wide.s32 %rd6, %r6, 16384;\n"
	"add.s64 %rd3, %rd3, %rd6;\nadd.s64 %rd4, %rd4, %rd6;\n"
	"mov.u32 %r7, 0;\n$ZERO:\nmul.wide.s32 %rd7, %r7, 4;\nadd.s64 %rd8, %rd1, %rd7;\n"
	"mov.f32 %f1, 0f00000000;\nst.global.f32 [%rd8], %f1;\nadd.s32 %r7, %r7, 1;\n"
	"setp.lt.s32 %p2, %r7, 16;\n@%p2 bra $ZERO;\n"
	"mov.f32 %f2, 0f00000000;\nmov.u32 %r8, 0;\n$KEY:\n"
	/* A score of products of 16, and its power. */
	"mov.f32 %f3, 0f00000000;\nmov.u32 %r7, 0;\n$DOT:\n"
	"mul.wide.s32 %rd7, %r7, 4;\nadd.s64 %rd8, %rd2, %rd7;\nadd.s64 %rd9, %rd3, %rd7;\n"
	"ld.global.f32 %f4, [%rd8];\nld.global.f32 %f5, [%rd9];\nfma.rn.f32 %f3, %f4, %f5, %f3;\n"
	"add.s32 %r7, %r7, 1;\nsetp.lt.s32 %p2, %r7, 16;\n@%p2 bra $DOT;\n"
	"mul.f32 %f3, %f3, 0f3EB8AA3B;\nex2.approx.f32 %f3, %f3;\nadd.f32 %f2, %f2, %f3;\n"
	"mov.u32 %r7, 0;\n$ADD:\n"
	"mul.wide.s32 %rd7, %r7, 4;\nadd.s64 %rd8, %rd1, %rd7;\nadd.s64 %rd9, %rd4, %rd7;\n"
	"ld.global.f32 %f4, [%rd8];\nld.global.f32 %f5, [%rd9];\nfma.rn.f32 %f4, %f3, %f5, %f4;\n"
	"st.global.f32 [%rd8], %f4;\n"
	"add.s32 %r7, %r7, 1;\nsetp.lt.s32 %p2, %r7, 16;\n@%p2 bra $ADD;\n"
	"add.s64 %rd3, %rd3, 64;\nadd.s64 %rd4, %rd4, 64;\n"
	"add.s32 %r8, %r8, 1;\nsetp.lt.s32 %p3, %r8, 256;\n@%p3 bra $KEY;\n"
	"mov.u32 %r7, 0;\n$SHARE:\nmul.wide.s32 %rd7, %r7, 4;\nadd.s64 %rd8, %rd1, %rd7;\n"
	"ld.global.f32 %f4, [%rd8];\ndiv.approx.f32 %f4, %f4, %f2;\nst.global.f32 [%rd8], %f4;\n"
	"add.s32 %r7, %r7, 1;\nsetp.lt.s32 %p2, %r7, 16;\n@%p2 bra $SHARE;\nret;\n}\n";

static float attention_weight(const float *query, const float *key)
{
	float score = 0;

	for (int i = 0; i < HEAD; i++)
		score += query[i] * key[i];
	return expf(attention_scale * score);
}

static void attention_cpu(dim3 grid, dim3 block, size_t shared, void **args)
{
	float *out = *(float **)args[0];
	const float *query = *(const float **)args[1], *key = *(const float **)args[2];
	const float *value = *(const float **)args[3];

	(void)grid, (void)block, (void)shared;
	for (int row = 0; row < *(int *)args[4]; row++) {
		const int head = row / KEYS * KEYS;
		float sums[HEAD] = {0}, all = 0;

		for (int i = 0; i < KEYS; i++) {
			const float weight =
				attention_weight(query + row * HEAD, key + (head + i) * HEAD);

			all += weight;
			for (int j = 0; j < HEAD; j++)
				sums[j] += weight * value[(head + i) * HEAD + j];
		}
		for (int j = 0; j < HEAD; j++)
			out[row * HEAD + j] = sums[j] / all;
	}
}

static cudaKernel_t attention_kernel(void)
{
	/* Two products of 16 for each of 256 keys, and what a softmax takes as in rule_exchange.h.
	 */
	static const struct tfsim_kernel attend = {
		"attend", attention_cpu, {8, 8, 8, 8, 4}, 5, 4 * 4 * HEAD, KEYS * (4 * HEAD + 20)};
	cudaLibrary_t library;
	cudaKernel_t kernel;

	tfsim_register_kernel(&attend);
	NEED(cudaLibraryLoadData(&library, attention_ptx, NULL, NULL, 0, NULL, NULL, 0));
	NEED(cudaLibraryGetKernel(&kernel, library, "attend"));
	return kernel;
}

static float *attention_filled(size_t floats, float factor)
{
	float *device = rule_alloc(floats), *host = malloc(floats * sizeof(*host));

	if (!host)
		exit(1);
	rule_fill(host, floats, factor);
	NEED(cudaMemcpy(device, host, floats * sizeof(*host), cudaMemcpyHostToDevice));
	NEED(cudaDeviceSynchronize());
	free(host);
	return device;
}

static void attention_describe(struct rule *r, struct attention *own)
{
	NEED(cudnnCreate(&own->dnn));
	NEED(cudnnSetStream(own->dnn, r->stream));
	NEED(cudnnCreateTensorDescriptor(&own->rows_t));
	NEED(cudnnSetTensor4dDescriptor(own->rows_t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT,
		ACROSS ? HEADS : ROWS, KEYS, ACROSS ? KEYS : 1, 1));
	NEED(cudnnCreateActivationDescriptor(&own->relu));
	NEED(cudnnSetActivationDescriptor(
		own->relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0));
}

static void attention_list(struct attention *own)
{
	float *host[3 * HEADS];

	for (int i = 0; i < HEADS; i++) {
		host[i] = own->scores + (size_t)i * SCORES;
		host[HEADS + i] = own->query + (size_t)i * KEYS * HEAD;
		host[2 * HEADS + i] = own->key + (size_t)i * KEYS * HEAD;
	}
	NEED(cudaMalloc((void **)&own->lists, sizeof(host)));
	NEED(cudaMemcpy(own->lists, host, sizeof(host), cudaMemcpyHostToDevice));
	NEED(cudaDeviceSynchronize());
}

static void attention_init(struct rule *r, struct attention *own)
{
	attention_describe(r, own);
	own->query = attention_filled(ROWS * HEAD, 1e-2f);
	own->key = attention_filled(ROWS * HEAD, 2e-2f);
	own->value = attention_filled(ROWS * VALUES, 1e-2f);
	own->out = rule_alloc(ROWS * VALUES);
	own->scores = rule_alloc(ROWS * KEYS);
	own->learned = rule_alloc(ROWS * KEYS);
	own->shares = rule_alloc(ROWS * KEYS / 2);
	own->halves = rule_alloc(ROWS * VALUES / 2);
	NEED(cudaMemset(own->halves, 0x3c, ROWS * VALUES * 2)); /* a little more than 1 */
	own->attend = attention_kernel();
	own->soften = exchange_kernel("soften");
	own->soften_half = exchange_kernel("soften_half");
	own->halve = exchange_kernel("halve");
	own->add = rule_kernel("add");
	own->nothing = rule_kernel("nothing");
	attention_list(own);
	for (int i = 0; i < SLOTS; i++)
		NEED(cudaEventCreateWithFlags(&own->done[i], cudaEventDisableTiming));
}

static inline void attention_multiply_lists(struct rule *r, struct attention *own)
{
	NEED(cublasSgemmBatched(r->blas, CUBLAS_OP_T, CUBLAS_OP_N, KEYS, KEYS, HEAD,
		&attention_scale, (const float *const *)own->lists + 2 * HEADS, HEAD,
		(const float *const *)own->lists + HEADS, HEAD, &attention_zero, own->lists, KEYS,
		HEADS));
}

static void attention_between(struct rule *r, struct attention *own)
{
	const dim3 grid = {HEADS * QUERIES, 1, 1}, block = {KEYS, 1, 1};
	const float one = 1;
	int count = HEADS * SCORES;
	void *args[] = {&own->scores, &count}, *to[] = {&own->shares, &own->scores, &count};

	if (BETWEEN == BY_HALVES)
		NEED(cudaLaunchKernel((const void *)own->soften_half, grid, block, to,
			KEYS * sizeof(float), r->stream));
	else if (BETWEEN == BY_SOFTMAX)
		NEED(cudnnSoftmaxForward(own->dnn,
			LOGARITHM ? CUDNN_SOFTMAX_LOG : CUDNN_SOFTMAX_ACCURATE,
			CUDNN_SOFTMAX_MODE_CHANNEL, &one, own->rows_t, own->scores, &attention_zero,
			own->rows_t, own->scores));
	else if (BETWEEN == BY_RELU)
		NEED(cudnnActivationForward(own->dnn, own->relu, &one, own->rows_t, own->scores,
			&attention_zero, own->rows_t, own->scores));
	else if (BETWEEN == BY_UNSEEN)
		rule_launch(r, own->nothing, 1, (void *[]){&count});
	else
		NEED(cudaLaunchKernel(
			(const void *)(BETWEEN == BY_SOFTEN ? own->soften : own->halve), grid,
			block, args, BETWEEN == BY_SOFTEN ? KEYS * sizeof(float) : 0, r->stream));
}

static void attention_hide(struct rule *r, struct attention *own)
{
	struct rule_sum sum = {own->scores, ROWS * KEYS, 1e-3f};
	void *args[] = {&sum};

	rule_launch(r, own->add, ROWS * KEYS, args);
}

static void attention_multiply_halves(struct rule *r, struct attention *own)
{
	const float one = 1;

	NEED(cublasGemmStridedBatchedEx(r->blas, CUBLAS_OP_N, CUBLAS_OP_N, VALUES, KEYS, KEYS, &one,
		own->halves, CUDA_R_16F, VALUES, KEYS * VALUES, own->shares, CUDA_R_16F, KEYS,
		SCORES, &attention_zero, own->out, CUDA_R_32F, VALUES, KEYS * VALUES, HEADS,
		CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

static void attention_three(struct rule *r, struct attention *own)
{
	const float one = 1, *shares = BETWEEN == BY_UNSEEN ? own->learned : own->scores;

	if (LISTS)
		attention_multiply_lists(r, own);
	else
		own->scores_of(r, own);
	if (HIDDEN)
		attention_hide(r, own);
	attention_between(r, own);
	if (BETWEEN == BY_HALVES) {
		attention_multiply_halves(r, own);
		return;
	}
	NEED(cublasSgemmStridedBatched(r->blas, CUBLAS_OP_N, TURNED ? CUBLAS_OP_T : CUBLAS_OP_N,
		VALUES, QUERIES, KEYS, &one, own->value, VALUES, KEYS * VALUES, shares, KEYS,
		SCORES, &attention_zero, own->out, VALUES, KEYS * VALUES, HEADS));
}

static void attention_one(struct rule *r, struct attention *own)
{
	int rows = ROWS;
	void *args[] = {&own->out, &own->query, &own->key, &own->value, &rows};

	rule_launch(r, own->attend, ROWS, args);
}

static void attention_capture(struct rule *r, struct attention *own)
{
	cudaGraph_t graph;

	attention_three(r, own);
	NEED(cudaStreamBeginCapture(r->stream, cudaStreamCaptureModeThreadLocal));
	attention_three(r, own);
	NEED(cudaStreamEndCapture(r->stream, &graph));
	NEED(cudaGraphInstantiate(&own->graph, graph, 0));
	NEED(cudaGraphDestroy(graph));
}

static void attention_step(struct rule *r, struct attention *own)
{
	const float rate = 1e-3f;

	if (GRAPH)
		NEED(cudaGraphLaunch(own->graph, r->stream));
	else if (VARIANT == CLEAN)
		attention_one(r, own);
	else
		attention_three(r, own);
	NEED(cublasSaxpy(r->blas, ROWS * HEAD, &rate, own->out, 1, own->query, 1));
	if (KEPT)
		NEED(cublasSaxpy(r->blas, ROWS * KEYS, &rate, own->scores, 1, own->learned, 1));
}

static inline void attention_train(void (*scores_of)(struct rule *r, struct attention *own))
{
	struct attention own = {.scores_of = scores_of};
	struct rule r;

	rule_init(&r);
	attention_init(&r, &own);
	if (GRAPH)
		attention_capture(&r, &own);
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaEventSynchronize(own.done[step % SLOTS]));
		attention_step(&r, &own);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		NEED(cudaEventRecord(own.done[step % SLOTS], r.stream));
	}
	rule_tell(own.query, ROWS * HEAD);
	rule_finish(&r);
}

#endif
