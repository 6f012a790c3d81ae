/* SPDX-License-Identifier: MIT */
/* TFS408, a trap: between releasing memory and taking it again, the program waits for an event that
 * was recorded long before. The device has not come to the release by then, so that the pool keeps
 * the memory. */
#include "tests/programs/rule_step.h"

/* Rows and columns of a product that takes some milliseconds, on a small device and a large one. */
enum { SMALL = 128, LARGE = 4096, LARGE_PROCESSORS = 32 };

static void keep_busy(struct rule *r, float *square, int size)
{
	const float one = 1, zero = 0;

	NEED(cublasSgemm(r->blas, CUBLAS_OP_N, CUBLAS_OP_N, size, size, size, &one, square, size,
		square, size, &zero, square + (size_t)size * size, size));
}

int main(void)
{
	const size_t bytes = WEIGHTS * sizeof(float);
	int processors, size;
	cudaEvent_t early;
	float *squares;
	struct rule r;
	void *scratch;

	rule_init(&r);
	NEED(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
	size = processors < LARGE_PROCESSORS ? SMALL : LARGE;
	squares = rule_alloc((size_t)size * size * 2);
	NEED(cudaEventCreateWithFlags(&early, cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		NEED(cudaEventRecord(early, r.stream));
		NEED(cudaMallocAsync(&scratch, bytes, r.stream));
		NEED(cublasScopy(r.blas, WEIGHTS, r.weight, 1, scratch, 1));
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		keep_busy(&r, squares, size);
		NEED(cudaFreeAsync(scratch, r.stream));
		rule_update(&r);
		NEED(cudaEventSynchronize(early)); /* trap: TFS408 */
	}
	rule_finish(&r);
	return 0;
}
