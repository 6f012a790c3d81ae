/* SPDX-License-Identifier: MIT */
/*
 * lt-search measures products of cuBLASLt, and the program does not notice: each case computes
 * products, checks them, and prints a number for their bits, which the script compares with those
 * of a run without tfshim. The script reads the ledger afterwards.
 */
#include <cublasLt.h>
#include <errno.h>
#include <stdlib.h>

#include "tests/promises/sim_gate.h"
#include "tests/rewrites/rewrite_case.h"

#define LT(call) TEST_EQ(call, CUBLAS_STATUS_SUCCESS)

enum { SIDE = 16, LENGTH = 256, RESULTS = SIDE * SIDE, NUMBERS = SIDE * LENGTH, TIMES = 5 };

struct product {
	cublasLtHandle_t lt;
	cublasLtMatmulDesc_t desc;
	cublasLtMatrixLayout_t a_layout, b_layout, c_layout;
	cublasLtMatmulHeuristicResult_t answer;
	float *a, *b, *c, *bias;
	float host_a[NUMBERS], host_b[NUMBERS];
	float beta;
	cudaStream_t stream;
};

static uint64_t bits = 14695981039346656037u;

static float *upload(float *host, unsigned seed)
{
	float *device = NULL;

	for (int i = 0; i < NUMBERS; i++) {
		seed = seed * 1664525u + 1013904223u;
		host[i] = (float)(seed >> 8) / (1 << 24) - 0.5f;
	}
	OK(cudaMalloc((void **)&device, NUMBERS * sizeof(float)));
	OK(cudaMemcpy(device, host, NUMBERS * sizeof(float), cudaMemcpyHostToDevice));
	return device;
}

static void choose(struct product *p)
{
	cublasLtMatmulPreference_t preference;
	const size_t none = 0;
	int count = 0;

	LT(cublasLtMatmulPreferenceCreate(&preference));
	LT(cublasLtMatmulPreferenceSetAttribute(
		preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &none, sizeof(none)));
	LT(cublasLtMatmulAlgoGetHeuristic(p->lt, p->desc, p->a_layout, p->b_layout, p->c_layout,
		p->c_layout, preference, 1, &p->answer, &count));
	LT(cublasLtMatmulPreferenceDestroy(preference));
}

static void product_make(struct product *p, cudaStream_t stream, unsigned seed)
{
	*p = (struct product){.stream = stream};
	LT(cublasLtCreate(&p->lt));
	LT(cublasLtMatmulDescCreate(&p->desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
	LT(cublasLtMatrixLayoutCreate(&p->a_layout, CUDA_R_32F, SIDE, LENGTH, SIDE));
	LT(cublasLtMatrixLayoutCreate(&p->b_layout, CUDA_R_32F, LENGTH, SIDE, LENGTH));
	LT(cublasLtMatrixLayoutCreate(&p->c_layout, CUDA_R_32F, SIDE, SIDE, SIDE));
	p->a = upload(p->host_a, seed);
	p->b = upload(p->host_b, seed + 1);
	OK(cudaMalloc((void **)&p->c, RESULTS * sizeof(float)));
	OK(cudaMalloc((void **)&p->bias, SIDE * sizeof(float)));
	OK(cudaMemset(p->c, 0, RESULTS * sizeof(float)));
	OK(cudaMemset(p->bias, 0, SIDE * sizeof(float)));
	OK(cudaDeviceSynchronize());
	choose(p);
}

static void product_run(struct product *p)
{
	const float one = 1;

	errno = 77;
	LT(cublasLtMatmul(p->lt, p->desc, &one, p->a, p->a_layout, p->b, p->b_layout, &p->beta,
		p->c, p->c_layout, p->c, p->c_layout, &p->answer.algo, NULL, 0, p->stream));
	TEST_EQ(errno, 77);
}

/* So many times the product, and nothing else. */
static void product_check(struct product *p, int times)
{
	float c[RESULTS], a[NUMBERS], b[NUMBERS];
	uint32_t word;

	OK(cudaStreamSynchronize(p->stream));
	OK(cudaMemcpy(c, p->c, sizeof(c), cudaMemcpyDeviceToHost));
	OK(cudaMemcpy(a, p->a, sizeof(a), cudaMemcpyDeviceToHost));
	OK(cudaMemcpy(b, p->b, sizeof(b), cudaMemcpyDeviceToHost));
	TEST_EQ(memcmp(a, p->host_a, sizeof(a)), 0);
	TEST_EQ(memcmp(b, p->host_b, sizeof(b)), 0);
	for (int i = 0; i < RESULTS; i++) {
		double sum = 0;

		for (int k = 0; k < LENGTH; k++)
			sum += (double)a[i % SIDE + k * SIDE] * b[k + i / SIDE * LENGTH];
		TEST_TRUE(c[i] - times * sum < 1e-3 && times * sum - c[i] < 1e-3);
		memcpy(&word, &c[i], sizeof(word));
		bits = (bits ^ word) * 1099511628211u;
	}
}

static void one_by_one(void)
{
	struct product p;

	product_make(&p, NULL, 1);
	for (int i = 0; i < TIMES; i++) {
		product_run(&p);
		product_check(&p, 1);
	}
}

/* Another one comes when nobody looks at each call any more. */
static void late(void)
{
	struct product p;

	product_make(&p, NULL, 1);
	for (int i = 0; i < 2000; i++)
		product_run(&p);
	product_check(&p, 1);
	p.beta = 1;
	for (int i = 0; i < 100; i++)
		product_run(&p);
	product_check(&p, 101);
}

static void in_place(void)
{
	struct product p;

	product_make(&p, NULL, 1);
	p.beta = 1;
	for (int i = 1; i <= TIMES; i++) {
		product_run(&p);
		product_check(&p, i);
	}
}

static void set_epilogue(struct product *p, cublasLtEpilogue_t epilogue)
{
	LT(cublasLtMatmulDescSetAttribute(
		p->desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof(epilogue)));
	LT(cublasLtMatmulDescSetAttribute(
		p->desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &p->bias, sizeof(p->bias)));
}

/* The bias is the program's memory too, and stays as it is. */
static void with_bias(void)
{
	struct product p;
	float bias[SIDE];

	product_make(&p, NULL, 1);
	set_epilogue(&p, CUBLASLT_EPILOGUE_BIAS);
	product_run(&p);
	product_check(&p, 1);
	OK(cudaMemcpy(bias, p.bias, sizeof(bias), cudaMemcpyDeviceToHost));
	for (int i = 0; i < SIDE; i++)
		TEST_TRUE(bias[i] == 0);
}

/* Its sums are written behind the product, by a call that is measured as well. */
static void with_sums(void)
{
	struct product p;
	float sums[SIDE];

	product_make(&p, NULL, 1);
	set_epilogue(&p, CUBLASLT_EPILOGUE_BGRADA);
	product_run(&p);
	product_check(&p, 1);
	OK(cudaMemcpy(sums, p.bias, sizeof(sums), cudaMemcpyDeviceToHost));
	for (int i = 0; i < SIDE; i++) {
		double sum = 0;

		for (int k = 0; k < LENGTH; k++)
			sum += p.host_a[i + k * SIDE];
		TEST_TRUE(sums[i] - sum < 1e-3 && sum - sums[i] < 1e-3);
	}
}

/* alpha and beta lie on the device, where nobody but the program's kernels reads them. */
static void scalars_on_device(void)
{
	const int32_t mode = CUBLASLT_POINTER_MODE_DEVICE;
	const float host[2] = {1, 0};
	float *scalars = NULL;
	struct product p;

	product_make(&p, NULL, 1);
	OK(cudaMalloc((void **)&scalars, sizeof(host)));
	OK(cudaMemcpy(scalars, host, sizeof(host), cudaMemcpyHostToDevice));
	LT(cublasLtMatmulDescSetAttribute(
		p.desc, CUBLASLT_MATMUL_DESC_POINTER_MODE, &mode, sizeof(mode)));
	LT(cublasLtMatmul(p.lt, p.desc, &scalars[0], p.a, p.a_layout, p.b, p.b_layout, &scalars[1],
		p.c, p.c_layout, p.c, p.c_layout, &p.answer.algo, NULL, 0, NULL));
	product_check(&p, 1);
}

/* The first call is captured; the graph computes it. */
static void in_capture(void)
{
	cudaGraphExec_t executable;
	cudaGraph_t graph = NULL;
	cudaStream_t stream;
	struct product p;

	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	product_make(&p, stream, 1);
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	product_run(&p);
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphInstantiate(&executable, graph, 0));
	for (int i = 0; i < TIMES; i++)
		OK(cudaGraphLaunch(executable, stream));
	product_check(&p, 1);
}

/* Another stream waits for what this thread does afterwards. */
static void beside_gate(void)
{
	static struct gate gate;
	cudaStream_t third, stream;
	struct product p;

	OK(cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	product_make(&p, stream, 1);
	gate_close(&gate, third);
	product_run(&p);
	product_check(&p, 1);
	TEST_EQ(atomic_load(&gate.passed), false);
	gate_open(&gate);
	OK(cudaDeviceSynchronize());
}

/* The product's own stream does. */
static void behind_gate(void)
{
	static struct gate gate;
	cudaStream_t stream;
	struct product p;

	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	product_make(&p, stream, 1);
	gate_close(&gate, stream);
	for (int i = 0; i < TIMES; i++)
		product_run(&p);
	TEST_EQ(atomic_load(&gate.passed), false);
	gate_open(&gate);
	product_check(&p, 1);
}

/* A call that cuBLASLt refuses is refused, and the next one works. */
static void refused(void)
{
	const float one = 1, zero = 0;
	struct product p;

	product_make(&p, NULL, 1);
	TEST_EQ(cublasLtMatmul(NULL, p.desc, &one, p.a, p.a_layout, p.b, p.b_layout, (void *)8, p.c,
			p.c_layout, p.c, p.c_layout, &p.answer.algo, NULL, 0, NULL),
		CUBLAS_STATUS_NOT_INITIALIZED);
	TEST_EQ(cublasLtMatmul(p.lt, p.desc, &one, NULL, p.a_layout, p.b, p.b_layout, &zero, p.c,
			p.c_layout, p.c, p.c_layout, &p.answer.algo, NULL, 0, NULL),
		CUBLAS_STATUS_INVALID_VALUE);
	TEST_EQ(cublasLtMatmul(p.lt, p.desc, &one, p.a, p.b_layout, p.b, p.b_layout, &zero, p.c,
			p.c_layout, p.c, p.c_layout, &p.answer.algo, NULL, 0, NULL),
		CUBLAS_STATUS_INVALID_VALUE);
	product_run(&p);
	product_check(&p, 1);
}

/* What was taken to measure on is there again. */
static void memory(void)
{
	size_t before, after, all;
	struct product p;

	product_make(&p, NULL, 1);
	OK(cudaMemGetInfo(&before, &all));
	product_run(&p);
	product_check(&p, 1);
	OK(cudaMemGetInfo(&after, &all));
	TEST_EQ(before, after);
}

static void through_reset(void)
{
	struct product p;

	for (unsigned i = 1; i <= 3; i++) {
		product_make(&p, NULL, i);
		p.beta = i % 2 ? 0.f : 1.f;
		product_run(&p);
		product_check(&p, 1);
		OK(cudaDeviceReset());
	}
}

static struct product products[8];

static void *work(void *number)
{
	struct product *p = &products[(intptr_t)number];
	cudaStream_t stream;

	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	product_make(p, stream, 1 + (unsigned)(intptr_t)number);
	p->beta = 1;
	for (int i = 0; i < 4 * TIMES; i++)
		product_run(p);
	return NULL;
}

/* All meet the product at once. */
static void in_threads(void)
{
	rewrite_case_threads(work);
	for (int i = 0; i < 8; i++)
		product_check(&products[i], 4 * TIMES);
}

static const struct rewrite_case cases[] = {
	{"plain", one_by_one},
	{"late", late},
	{"in-place", in_place},
	{"bias", with_bias},
	{"sums", with_sums},
	{"scalars", scalars_on_device},
	{"capture", in_capture},
	{"beside-gate", beside_gate},
	{"behind-gate", behind_gate},
	{"refused", refused},
	{"memory", memory},
	{"reset", through_reset},
	{"threads", in_threads},
};

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	alarm(300);
	const int result = rewrite_case_run(cases, sizeof(cases) / sizeof(cases[0]), words[1]);
	TEST_EQ(cudaGetLastError(), cudaSuccess);
	printf("all %016llx\n", (unsigned long long)bits);
	return result != 0 ? result : test_result();
}
