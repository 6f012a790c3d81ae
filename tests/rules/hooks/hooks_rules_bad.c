/* SPDX-License-Identifier: MIT */
/*
 * Bad habits by functions whose hooks are made from lists, or are less known than others: rules
 * have to find them there as well. The twins as in rule_step.h; what CLEAN and TRAP do passes.
 */
#include <curand.h>

#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

enum { ROW = INPUTS * sizeof(float) };

struct habits {
	struct rule rule;
	curandGenerator_t random;
	float *images, *labels; /* pageable */
	float *label;
	float *loss; /* pinned */
};

/* A batch in rows, and its labels by cuBLAS's way to copy. */
static void upload(struct habits *h, unsigned step)
{
	struct rule *r = &h->rule;
	const unsigned slot = step % SLOTS;

	NEED(cudaEventSynchronize(r->copied[slot]));
	rule_prepare(h->images);
	if (VARIANT == BAD) {
		/* unmeasured: TFS105 TFS106 */
		/* expect: TFS101 x1 256KiB stream 13 600..1250us */
		NEED(cudaMemcpy2DAsync(r->input[slot], ROW, h->images, ROW, ROW, BATCH,
			cudaMemcpyHostToDevice, r->stream));
		/* expect: TFS101 x1 128KiB legacy 250..480us */
		NEED(cublasSetVector(
			OUTPUTS * BATCH * 2, sizeof(float), h->labels, 1, h->label, 1));
	} else {
		/* The trap has registered what is pageable. */
		float *images = VARIANT == TRAP ? h->images : r->host[slot];

		NEED(cudaMemcpy2DAsync(r->input[slot], ROW, images, ROW, ROW, BATCH,
			cudaMemcpyHostToDevice, r->stream));
	}
	NEED(cudaEventRecord(r->copied[slot], r->stream));
}

/* The gradient is zeroed and added to once; in the trap half of it is noise by then. */
static void backward(struct habits *h, unsigned step)
{
	const float scale = 1.0f / BATCH, add = VARIANT == CLEAN ? 0 : 1;
	struct rule *r = &h->rule;
	const cudaStream_t on = r->stream;
	float *sum = r->grad;

	if (VARIANT != CLEAN)
		/* expect: TFS402 x1 256KiB stream 13 265..340us */
		NEED(cudaMemset2DAsync(sum, ROW, 0, ROW, OUTPUTS, on));
	if (VARIANT == TRAP)
		NEED(curandGenerateNormal(h->random, sum, WEIGHTS / 2, 0, 1e-6f));
	NEED(cublasGemmStridedBatchedEx(r->blas, CUBLAS_OP_N, CUBLAS_OP_T, INPUTS, OUTPUTS, BATCH,
		&scale, r->input[step % SLOTS], CUDA_R_32F, INPUTS, BATCH_FLOATS, r->output,
		CUDA_R_32F, OUTPUTS, OUTPUTS * BATCH, &add, r->grad, CUDA_R_32F, INPUTS, WEIGHTS, 1,
		CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

/* How large the gradient is, and a corner of the output. */
static void look(struct habits *h, unsigned step)
{
	struct rule *r = &h->rule;
	struct cudaMemcpy3DParms corner = {
		.srcPtr = make_cudaPitchedPtr(r->output, sizeof(float), 1, 1),
		.dstPtr = make_cudaPitchedPtr(h->loss, sizeof(float), 1, 1),
		.extent = make_cudaExtent(sizeof(float), 1, 1),
		.kind = cudaMemcpyDeviceToHost};
	float norm;

	if (VARIANT == BAD) {
		NEED(curandGenerateUniform(h->random, h->label, OUTPUTS * BATCH));
		/* expect: TFS202 x1 stream 13 165..235us */
		NEED(cublasSasum(r->blas, WEIGHTS, r->grad, 1, &norm));
		/* expect: TFS202 x1 4B legacy 165..235us */
		/* expect: TFS203 x1 4B legacy 165..235us */
		NEED(cudaMemcpy3D(&corner));
	} else if (step % 15 == 0 || VARIANT == TRAP) {
		/* The trap copies in each step, and looks at it when the next one is under way. */
		NEED(cudaMemcpy3DAsync(&corner, r->stream));
	}
}

static void temporary(struct habits *h)
{
	curandGenerator_t random;
	size_t pitch;
	void *memory;

	if (VARIANT != BAD)
		return;
	/* expect: TFS401 x1 128KiB 35..45us */
	NEED(cudaMallocPitch(&memory, &pitch, ROW, 64));
	NEED(cudaMemset2DAsync(memory, pitch, 1, ROW, 64, h->rule.stream));
	/* expect: TFS202 x1 128KiB 235..305us */
	/* expect: TFS401 x1 128KiB 235..305us */
	NEED(cudaFree(memory));
	/* expect: TFS608 x1 0us */
	NEED(curandCreateGenerator(&random, CURAND_RNG_PSEUDO_DEFAULT));
	/* expect: TFS608 x1 0us */
	NEED(curandDestroyGenerator(random));
}

static void start(struct habits *h)
{
	memset(h, 0, sizeof(*h));
	rule_init(&h->rule);
	h->images = calloc(BATCH_FLOATS, sizeof(float));
	h->labels = calloc(OUTPUTS * BATCH * 2, sizeof(float));
	if (!h->images || !h->labels)
		exit(1);
	h->label = rule_alloc(OUTPUTS * BATCH * 2);
	NEED(cudaMallocHost((void **)&h->loss, sizeof(float)));
	NEED(curandCreateGenerator(&h->random, CURAND_RNG_PSEUDO_DEFAULT));
	NEED(curandSetStream(h->random, h->rule.stream));
	if (VARIANT == TRAP)
		NEED(cudaHostRegister(h->images, BATCH_FLOATS * sizeof(float), 0));
}

int main(void)
{
	struct habits h;

	start(&h);
	for (unsigned step = 0; step < STEPS; step++) {
		upload(&h, step);
		rule_forward(&h.rule, step);
		backward(&h, step);
		look(&h, step);
		temporary(&h);
		rule_update(&h.rule);
	}
	rule_finish(&h.rule);
	return 0;
}
