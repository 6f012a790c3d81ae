/* SPDX-License-Identifier: MIT */
#include "naive.h"

#include "check.h"

/*
 * Memory as it comes: a buffer that is as large as the step's longest row, and a pool of the
 * program's own that gives up what it has when there is no more, on a device that it has filled.
 * The marks are for the profile a100, where it takes 204 us and 0.8 for a MiB to allocate a large
 * block, 1,450 us to free it, and 3 and 5 us a small one; and who frees waits for the device first,
 * which is idle then for one latency of 10 us and more.
 */

enum {
	LENGTHS = 5,
	LENGTH = 4096,   /* floats */
	KEPT = 56 << 20, /* of the pool, in bytes */
	WANTED = 48 << 20,
	LEFT = 24 << 20,
};

static struct {
	void *kept;
	float *longest;
} own;

/* All but so much of the memory is taken, in one piece or in smaller ones. */
static void take_all_but(size_t left)
{
	size_t piece = (size_t)1 << 40, there = 0, total = 0;
	void *taken;

	for (; piece >= 1 << 20; piece /= 2)
		while (cudaMemGetInfo(&there, &total) == cudaSuccess && there > left + piece &&
			cudaMalloc(&taken, piece) == cudaSuccess) /* whole: TFS404 */
			continue;
	(void)cudaGetLastError();
}

static void init(struct naive *t)
{
	(void)t;
	CUDA(cudaMalloc(&own.kept, KEPT));
	take_all_but(LEFT);
}

static void finish(struct naive *t)
{
	(void)t;
	CUDA(cudaFree(own.longest));
	CUDA(cudaFree(own.kept));
}

static void fit_longest(struct naive *t)
{
	static unsigned steps;
	const size_t floats = (size_t)LENGTH * (1 + steps++ * 2 % LENGTHS);

	/* gpu: TFS202 x1 48KiB 12..25us TFS401 x1 48KiB 12..25us */
	CUDA(cudaFree(own.longest));
	/* gpu: TFS401 x1 48KiB 12..25us TFS406 x1 48KiB 12..25us */
	CUDA(cudaMalloc((void **)&own.longest, floats * sizeof(float)));
	CUBLAS(cublasScopy(t->net.blas, (int)floats, t->images, 1, own.longest, 1));
}

static void borrow(struct naive *t)
{
	void *wanted = NULL;

	/* gpu: TFS409 x1 48MiB 1.35..2.2ms */
	if (cudaMalloc(&wanted, WANTED) != cudaSuccess) {
		(void)cudaGetLastError(); /* trap: TFS910 */
		/* gpu: TFS202 x1 56MiB 1.35..2.2ms TFS401 x1 56MiB 1.35..2.2ms */
		CUDA(cudaFree(own.kept));
		/* gpu: TFS401 x1 48MiB 0.2..0.31ms */
		CUDA(cudaMalloc(&wanted, WANTED));
	}
	CUBLAS(cublasScopy(t->net.blas, (int)t->batch, t->images, 1, wanted, 1));
	/* gpu: TFS202 x1 48MiB 1.3..2ms TFS401 x1 48MiB 1.3..2ms */
	CUDA(cudaFree(wanted));
	/* gpu: TFS401 x1 56MiB 0.2..0.31ms */
	CUDA(cudaMalloc(&own.kept, KEPT));
}

/* Nobody looks whether it worked: columns are closer than they are long. */
static void look_aside(struct naive *t)
{
	const float one = 1, zero = 0;

	/* gpu: TFS910 x1 legacy 0us */
	(void)cublasSgemm(t->net.blas, CUBLAS_OP_N, CUBLAS_OP_N, 16, 16, 16, &one, t->images, 8,
		t->images, 8, &zero, own.longest, 8);
}

static void step(struct naive *t, const struct loader_slot *batch)
{
	(void)batch;
	fit_longest(t);
	borrow(t);
	look_aside(t);
}

const struct naive_part naive_memory = {.init = init, .behind = step, .finish = finish};
