/* SPDX-License-Identifier: MIT */
/* Convolutions of floats on plain cores that plans of cuDNN's graph API make: what the advice for
 * them says is another than for the calls of before. */
#include "tests/libraries/lib_backend.h"
#include "tests/rules/rule_step.h"

#ifndef ROUNDS
#define ROUNDS 0 /* the plan's engine is one that has tensor cores round to TF32 */
#endif

enum { IMAGES = 64, MAPS = 256, EDGE = 56, CONVOLUTIONS = 4 };
enum { X = 1, FILTER, Y };

static const int64_t image[] = {IMAGES, MAPS, EDGE, EDGE}, filter[] = {MAPS, MAPS, 3, 3};

static desc_t graph(void)
{
	static const struct backend_convolution padded = {
		.pre = {1, 1}, .post = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
	const float alpha = 1, beta = 0;
	desc_t op = backend_new(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
	desc_t made;

	backend_child(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
		backend_convolution(&padded));
	backend_child(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
		backend_tensor(X, CUDNN_DATA_FLOAT, 0, 4, image, NULL));
	backend_child(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
		backend_tensor(FILTER, CUDNN_DATA_FLOAT, 0, 4, filter, NULL));
	backend_child(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
		backend_tensor(Y, CUDNN_DATA_FLOAT, 0, 4, image, NULL));
	backend_set(
		op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1, &alpha);
	backend_set(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 1, &beta);
	backend_finalize(op);
	made = backend_graph(&op, 1);
	backend_finalize(made);
	return made;
}

/* The first that the heuristics propose of those that are wanted. */
static desc_t make_plan(void **out_workspace)
{
	desc_t configs[16];
	int64_t bytes = 0;
	int count = backend_configs(graph(), CUDNN_HEUR_MODE_A, configs), at = 0;
	desc_t plan;

	while (at < count &&
		backend_has_note(configs[at], CUDNN_NUMERICAL_NOTE_TENSOR_CORE) != (ROUNDS != 0))
		at++;
	plan = backend_plan(configs[at], &bytes);
	NEED(cudaMalloc(out_workspace, (size_t)bytes + 1));
	return plan;
}

static void __attribute__((noinline)) convolve(desc_t plan, desc_t pack)
{
	/* 237 GFLOP each, of which tensor cores would do eight times as many in that time; half of
	 * that is promised. */
	/* unsure: TFS603 x4 stream 13 6..18ms */
	NEED(cudnnBackendExecute(dnn, plan, pack));
}

int main(void)
{
	static const int64_t uids[] = {X, FILTER, Y};
	const size_t floats = (size_t)IMAGES * MAPS * EDGE * EDGE;
	cudaEvent_t done[SLOTS];
	void *pointers[3], *workspace;
	desc_t plan, pack;
	struct rule r;

	rule_init(&r);
	NEED(cudnnCreate(&dnn));
	NEED(cudnnSetStream(dnn, r.stream));
	pointers[0] = rule_alloc(floats);
	pointers[1] = rule_alloc((size_t)MAPS * MAPS * 9);
	pointers[2] = rule_alloc(floats);
	plan = make_plan(&workspace);
	pack = backend_new(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
	backend_set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, uids);
	backend_set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, pointers);
	backend_set(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
	backend_finalize(pack);
	for (int i = 0; i < SLOTS; i++)
		NEED(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaEventSynchronize(done[step % SLOTS]));
		for (unsigned i = 0; i < CONVOLUTIONS; i++)
			convolve(plan, pack);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		NEED(cudaEventRecord(done[step % SLOTS], r.stream));
	}
	rule_finish(&r);
	return 0;
}
