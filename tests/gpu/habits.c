/* SPDX-License-Identifier: MIT */
/*
 * Something like training with one habit that a rewrite mends: to measure those for which the
 * trainers have no use. habits HABIT naive|rewritable STEPS WARMUP KIB; "rewritable" is the same
 * with the habit put right by hand, KIB the size of a matrix. Prints the time of a step, as the
 * trainers do, the warm-up's steps left out.
 */
#include <cublas_v2.h>

#include "tests/gpu/facts/fact.h"

#define OK(call) TEST_EQ(call, 0)

enum { BATCH = 1024, HOST_WORK_NS = 300000 };

static bool naive;
static int side;
static size_t bytes;
static float *batch, *activations, *weights, *a, *b, *c, *table;
static cudaStream_t compute, upload;
static cublasHandle_t blas;

/* The next batch is made ready. */
static void host_work(void)
{
	const uint64_t end = fact_now_ns() + HOST_WORK_NS;

	while (fact_now_ns() < end)
		;
}

static void product(float *to, float beta)
{
	const float one = 1;

	OK(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, side, side, side, &one, a, side, b, side,
		&beta, to, side));
}

static void ask(void)
{
	struct cudaDeviceProp properties;

	OK(cudaGetDeviceProperties(&properties, 0));
}

static void query_start(void)
{
	if (!naive)
		ask();
}

static void query(void)
{
	if (naive)
		ask();
	product(c, 0);
}

static void free_start(void)
{
	if (!naive)
		OK(cudaMalloc((void **)&table, bytes));
}

static void free_step(void)
{
	if (naive)
		OK(cudaMalloc((void **)&table, bytes));
	product(table, 0);
	product(c, 0);
	if (naive)
		OK(cudaFree(table));
	host_work();
}

static void pool_start(void)
{
	uint64_t all = UINT64_MAX;
	cudaMemPool_t pool;

	if (naive)
		return;
	OK(cudaDeviceGetDefaultMemPool(&pool, 0));
	OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
}

static void pool_step(void)
{
	float *temporary;

	OK(cudaMallocAsync((void **)&temporary, bytes, NULL));
	product(temporary, 0);
	product(c, 0);
	OK(cudaFreeAsync(temporary, NULL));
}

static void fill(void)
{
	if (naive)
		OK(cudaMemset(c, 0, bytes));
	product(c, naive ? 1 : 0);
}

static void wait_start(void)
{
	OK(cudaStreamCreate(&compute));
	OK(cudaStreamCreate(&upload));
	OK(cublasSetStream(blas, compute));
	OK(cudaMalloc((void **)&table, BATCH * sizeof(float)));
}

static void wait_step(void)
{
	static float scales[BATCH];

	product(c, 0);
	OK(cudaMemcpyAsync(table, scales, sizeof(scales), cudaMemcpyHostToDevice, upload));
	OK(naive ? cudaDeviceSynchronize() : cudaStreamSynchronize(upload));
	host_work();
}

static void nothing(void)
{
}

static const struct habit {
	const char *name;
	void (*start)(void), (*step)(void);
} habits[] = {
	{"query", query_start, query},   /* memoise */
	{"free", free_start, free_step}, /* alloc-pool, deferred-free */
	{"pool", pool_start, pool_step}, /* pool-threshold */
	{"fill", nothing, fill},         /* memset-elision */
	{"wait", wait_start, wait_step}, /* sync-narrowing */
};

static void prepare(const float *ones)
{
	OK(cublasCreate(&blas));
	OK(cudaMalloc((void **)&batch, BATCH * sizeof(float)));
	OK(cudaMalloc((void **)&activations, BATCH * sizeof(float)));
	OK(cudaMalloc((void **)&weights, BATCH * sizeof(float)));
	OK(cudaMemset(weights, 0, BATCH * sizeof(float)));
	OK(cudaMalloc((void **)&a, bytes));
	OK(cudaMalloc((void **)&b, bytes));
	OK(cudaMalloc((void **)&c, bytes));
	OK(cudaMemcpy(a, ones, bytes, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(b, ones, bytes, cudaMemcpyHostToDevice));
	OK(cudaMemset(c, 0, bytes));
}

static void step(const struct habit *habit, unsigned i)
{
	float host[BATCH];
	const float one = 1;

	for (unsigned k = 0; k < BATCH; k++)
		host[k] = (float)(i % 7);
	OK(cudaMemcpy(batch, host, sizeof(host), cudaMemcpyHostToDevice));
	OK(cudaMemcpyAsync(activations, weights, sizeof(host), cudaMemcpyDeviceToDevice, NULL));
	habit->step();
	OK(cublasSaxpy(blas, BATCH, &one, batch, 1, weights, 1));
	OK(cudaDeviceSynchronize());
}

/* The weights are the sum of the batches, and every element of the product is the side. */
static void check(unsigned steps)
{
	float host[BATCH], sum = 0;

	for (unsigned i = 0; i < steps; i++)
		sum += (float)(i % 7);
	OK(cudaMemcpy(host, weights, sizeof(host), cudaMemcpyDeviceToHost));
	TEST_EQ(host[0], sum);
	TEST_EQ(host[BATCH - 1], sum);
	OK(cudaMemcpy(
		host, c + bytes / sizeof(float) - BATCH, sizeof(host), cudaMemcpyDeviceToHost));
	TEST_EQ(host[0], side);
	TEST_EQ(host[BATCH - 1], side);
}

static const struct habit *find(const char *name)
{
	for (unsigned i = 0; i < sizeof(habits) / sizeof(*habits); i++)
		if (!strcmp(habits[i].name, name))
			return &habits[i];
	return NULL;
}

int main(int count, char **words)
{
	const struct habit *habit = count == 6 ? find(words[1]) : NULL;
	uint64_t start = 0;

	if (!habit) {
		fprintf(stderr, "usage: habits HABIT naive|rewritable STEPS WARMUP KIB\n");
		return 2;
	}
	const unsigned steps = (unsigned)atoi(words[3]), warmup = (unsigned)atoi(words[4]);
	if (!fact_device())
		return test_skip("no CUDA device");
	naive = !strcmp(words[2], "naive");
	while ((size_t)(side + 32) * (size_t)(side + 32) * sizeof(float) <=
		strtoul(words[5], NULL, 10) << 10)
		side += 32;
	bytes = (size_t)side * (size_t)side * sizeof(float);
	float *ones = malloc(bytes);
	for (size_t i = 0; i < bytes / sizeof(float); i++)
		ones[i] = 1;
	prepare(ones);
	habit->start();
	for (unsigned i = 0; i < steps; i++) {
		if (i == warmup)
			start = fact_now_ns();
		step(habit, i);
	}
	printf("time: step %.4g ms, mean of %u\n",
		(double)(fact_now_ns() - start) / 1e6 / (steps - warmup), steps - warmup);
	check(steps);
	return test_result();
}
