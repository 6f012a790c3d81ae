/* SPDX-License-Identifier: MIT */
/* TFS304: each item of a batch is multiplied by a matrix of its own, in a loop. The clean twin does
 * it with one call; the trap multiplies what the product before it gave, as a recurrent net does,
 * which has to be one after the other. */
#include <stdbool.h>

#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

/* In another trap all products are added up. */
#ifndef SUM
#define SUM 0
#endif
/* In two more each has a factor of its own, on the host and on the device. */
#define ON_HOST 1
#define ON_DEVICE 2
#ifndef FACTORS
#define FACTORS 0
#endif

enum { ITEMS = 40, EDGE = 8, ITEM = EDGE * EDGE };

struct own {
	float *left, *right, *product;
	float *factors; /* of the device */
	cudaEvent_t done[SLOTS];
};

static float *filled(size_t floats)
{
	float *device = rule_alloc(floats), *host = malloc(floats * sizeof(*host));

	if (!host)
		exit(1);
	rule_fill(host, floats, 1e-3f);
	NEED(cudaMemcpy(device, host, floats * sizeof(*host), cudaMemcpyHostToDevice));
	NEED(cudaDeviceSynchronize());
	free(host);
	return device;
}

static void init(struct own *own)
{
	own->left = filled(ITEMS * ITEM);
	own->right = filled((ITEMS + 1) * ITEM);
	own->product = rule_alloc(ITEMS * ITEM);
	own->factors = filled(ITEMS + 1);
	for (int i = 0; i < SLOTS; i++)
		NEED(cudaEventCreateWithFlags(&own->done[i], cudaEventDisableTiming));
}

static void multiply(struct rule *r, struct own *own, int item, const float *right, float *product)
{
	const float factor = FACTORS == ON_HOST ? 1 + 1e-3f * (float)item : 1, beta = SUM;
	const bool device = FACTORS == ON_DEVICE;

	NEED(cublasSetPointerMode(
		r->blas, device ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST));
	/* 39 starts of a kernel, of 40 us each, on the device. */
	/* expect: TFS304 x40 stream 13 1.4..1.7ms */
	NEED(cublasSgemm(r->blas, CUBLAS_OP_N, CUBLAS_OP_N, EDGE, EDGE, EDGE,
		device ? &own->factors[item] : &factor, own->left + item * ITEM, EDGE, right, EDGE,
		device ? &own->factors[ITEMS] : &beta, product, EDGE));
	NEED(cublasSetPointerMode(r->blas, CUBLAS_POINTER_MODE_HOST));
}

static void multiply_all(struct rule *r, struct own *own)
{
	const float one = 1, zero = 0;

	if (VARIANT == CLEAN) {
		NEED(cublasSgemmStridedBatched(r->blas, CUBLAS_OP_N, CUBLAS_OP_N, EDGE, EDGE, EDGE,
			&one, own->left, EDGE, ITEM, own->right, EDGE, ITEM, &zero, own->product,
			EDGE, ITEM, ITEMS));
		return;
	}
	for (int i = 0; i < ITEMS; i++) {
		float *right = own->right + i * ITEM;
		float *product = VARIANT == TRAP ? right + ITEM
				 : SUM           ? own->product
						 : own->product + i * ITEM;

		multiply(r, own, i, right, product);
	}
}

int main(void)
{
	const float rate = 1e-3f;
	struct rule r;
	struct own own;

	rule_init(&r);
	init(&own);
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaEventSynchronize(own.done[step % SLOTS]));
		rule_forward(&r, step);
		multiply_all(&r, &own);
		NEED(cublasSaxpy(r.blas, ITEMS * ITEM, &rate, own.product, 1, own.left, 1));
		rule_backward(&r, step, 0);
		rule_update(&r);
		NEED(cudaEventRecord(own.done[step % SLOTS], r.stream));
	}
	rule_tell(own.left, ITEMS * ITEM);
	rule_finish(&r);
	return 0;
}
