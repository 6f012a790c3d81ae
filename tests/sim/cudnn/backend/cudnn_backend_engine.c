/* SPDX-License-Identifier: MIT */
/*
 * Engines, what heuristics propose, configurations and plans. An engine has one knob, a size of
 * tile, which changes nothing but the modelled time.
 */
#include "tests/sim/cudnn/backend/cudnn_opgraph.h"

/* What cuDNN's names of kernels end in, which says the cores: plain ones, and tensor cores. */
#define ON_PLAIN "_nchwkcrs_nchw_tilesize128x64x8_stage3_warpsize2x2x1_g1_ffma"
#define ON_TENSOR "_nhwckrsc_nhwc_tilesize128x128x16_stage4_warpsize2x2x1_g1_tensor16x8x8"
#define ON_TENSOR_HALF "_nhwckrsc_nhwc_tilesize128x128x32_stage3_warpsize2x2x1_g1_tensor16x8x16"

/* Each list: first those for float, of which the last rounds to TF32, then those for 16-bit data.
 */
static const struct tfs_engine conv_fprop[][3] = {
	{{.name = "sm80_xmma_fprop_implicit_gemm_indexed_f32f32_f32f32_f32" ON_PLAIN,
		 .copies = true},
		{.name = "sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32" ON_PLAIN, .slower = 1.3},
		{.name = "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32" ON_TENSOR,
			.tf32 = true}},
	{{.name = "sm80_xmma_fprop_implicit_gemm_indexed_f16f16_f16f32_f32" ON_TENSOR_HALF,
		 .copies = true},
		{.name = "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32" ON_TENSOR_HALF,
			.slower = 1.3}},
};
static const struct tfs_engine conv_dgrad[][4] = {
	{{.name = "sm80_xmma_dgrad_implicit_gemm_indexed_f32f32_f32f32_f32" ON_PLAIN,
		 .copies = true},
		{.name = "dgrad_alg0_engine",
			.slower = 1.2,
			.atomics = true,
			.order = {.pieces = 4}},
		{.name = "dgrad_alg1_engine", .slower = 1.4},
		{.name = "sm80_xmma_dgrad_implicit_gemm_tf32f32_tf32f32_f32" ON_TENSOR,
			.tf32 = true}},
	{{.name = "sm80_xmma_dgrad_implicit_gemm_indexed_f16f16_f16f32_f32" ON_TENSOR_HALF,
		 .copies = true},
		{.name = "dgrad_alg0_engine_f16",
			.slower = 1.2,
			.atomics = true,
			.order = {.pieces = 4}},
		{.name = "dgrad_alg1_engine_f16", .slower = 1.4}},
};
static const struct tfs_engine conv_wgrad[][4] = {
	{{.name = "sm80_xmma_wgrad_implicit_gemm_indexed_f32f32_f32f32_f32" ON_PLAIN,
		 .copies = true},
		{.name = "wgrad_alg0_engine",
			.slower = 1.2,
			.atomics = true,
			.order = {.pieces = 4}},
		{.name = "wgrad_alg1_engine", .slower = 1.4},
		{.name = "sm80_xmma_wgrad_implicit_gemm_tf32f32_tf32f32_f32" ON_TENSOR,
			.tf32 = true}},
	{{.name = "sm80_xmma_wgrad_implicit_gemm_indexed_f16f16_f16f32_f32" ON_TENSOR_HALF,
		 .copies = true},
		{.name = "wgrad_alg0_engine_f16",
			.slower = 1.2,
			.atomics = true,
			.order = {.pieces = 4}},
		{.name = "wgrad_alg1_engine_f16", .slower = 1.4}},
};
static const struct tfs_engine norm_fprop = {.name = "cudnn_norm_fprop"};
static const struct tfs_engine norm_bprop = {.name = "cudnn_norm_bprop"};
static const struct tfs_engine sdpa_fprop = {
	.name = "cudnn_generated_fort_native_sdpa_sm80_flash_fprop"};
static const struct tfs_engine sdpa_bprop = {
	.name = "cudnn_generated_fort_native_sdpa_sm80_flash_bprop"};
static const struct tfs_engine matmul = {.name = "cudnn_generated_fort_native_matmul"};
static const struct tfs_engine pointwise = {.name = "cudnn_generated_fort_native_pointwise"};

static bool has(const struct tfs_opgraph *g, int type)
{
	return tfs_opgraph_step(g, (cudnnBackendDescriptorType_t)type);
}

const struct tfs_engine *tfs_engines(const struct tfs_opgraph *g, int *out_count)
{
	int matmuls = tfs_opgraph_count(g, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);

	*out_count = g->half ? 2 : 3;
	if (has(g, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR))
		return conv_fprop[g->half];
	*out_count = g->half ? 3 : 4;
	if (has(g, CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR))
		return conv_dgrad[g->half];
	if (has(g, CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR))
		return conv_wgrad[g->half];
	*out_count = 1;
	if (has(g, CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR))
		return &norm_fprop;
	if (has(g, CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR))
		return &norm_bprop;
	/* Backward it is five products. */
	if (has(g, CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR) || matmuls > 2)
		return &sdpa_bprop;
	if (has(g, CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR) || matmuls == 2)
		return &sdpa_fprop;
	return matmuls ? &matmul : &pointwise;
}

size_t tfs_engine_workspace(const struct tfs_opgraph *g, const struct tfs_engine *engine)
{
	size_t bytes = g->kept_bytes;

	for (int i = 0; i < g->step_count; i++)
		if (g->steps[i].op->workspace)
			bytes += g->steps[i].op->workspace(g->steps[i].desc, engine);
	return bytes;
}

static int put_knobs(struct tfs_backend *desc)
{
	struct tfs_backend *knob = tfs_backend_create(CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR);
	const int32_t type = CUDNN_KNOB_TYPE_TILE_SIZE;
	const int64_t least = 0, most = 1, stride = 1;
	int err;

	if (!knob)
		return -1;
	err = tfs_backend_put(knob, CUDNN_ATTR_KNOB_INFO_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &type) ||
	      tfs_backend_put(
		      knob, CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE, CUDNN_TYPE_INT64, 1, &most) ||
	      tfs_backend_put(
		      knob, CUDNN_ATTR_KNOB_INFO_MINIMUM_VALUE, CUDNN_TYPE_INT64, 1, &least) ||
	      tfs_backend_put(knob, CUDNN_ATTR_KNOB_INFO_STRIDE, CUDNN_TYPE_INT64, 1, &stride);
	knob->finalized = true;
	err = err || tfs_backend_put(desc, CUDNN_ATTR_ENGINE_KNOB_INFO,
			     CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &knob);
	tfs_backend_unref(knob);
	return err;
}

cudnnStatus_t tfs_engine_finalize(struct tfs_backend *desc)
{
	const struct tfs_backend *ops = tfs_backend_child(desc, CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
	int64_t index = tfs_backend_int(desc, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 0);
	int32_t notes[2], behaviour = CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION;
	const struct tfs_engine *engines;
	int count, n = 0;

	if (ops->type != CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, "operation graph");
	engines = tfs_engines(ops->graph, &count);
	if (index < 0 || index >= count)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND, "no such engine");
	if (ops->graph->half || engines[index].tf32)
		notes[n++] = CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
	if (engines[index].atomics)
		notes[n++] = CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC;
	if (tfs_backend_put(
		    desc, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, n, notes) ||
		tfs_backend_put(desc, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE,
			ops->graph->step_count > 1, &behaviour) ||
		put_knobs(desc))
		return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t tfs_config_finalize(struct tfs_backend *desc)
{
	const struct tfs_backend *engine = tfs_backend_child(desc, CUDNN_ATTR_ENGINECFG_ENGINE);
	const struct tfs_value *knobs = tfs_backend_value(desc, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES);
	const struct tfs_opgraph *graph;
	int64_t workspace;
	int32_t shared = 48 << 10;
	int count;

	if (engine->type != CUDNN_BACKEND_ENGINE_DESCRIPTOR)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, "engine");
	for (int64_t i = 0; knobs && i < knobs->count; i++) {
		const struct tfs_backend *knob = ((struct tfs_backend **)knobs->data)[i];
		int64_t value = tfs_backend_int(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, 0);

		if (knob->type != CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR)
			return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, "knob choice");
		if (tfs_backend_int(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, -1) !=
				CUDNN_KNOB_TYPE_TILE_SIZE ||
			value < 0 || value > 1)
			return tfs_dnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "choice of a knob");
	}
	graph = tfs_backend_child(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH)->graph;
	workspace = (int64_t)tfs_engine_workspace(
		graph, &tfs_engines(graph,
			       &count)[tfs_backend_int(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 0)]);
	if (tfs_backend_put(
		    desc, CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &workspace) ||
		tfs_backend_put(desc, CUDNN_ATTR_ENGINECFG_SHARED_MEMORY_USED, CUDNN_TYPE_INT32, 1,
			&shared))
		return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t tfs_plan_finalize(struct tfs_backend *desc)
{
	const struct tfs_backend *config =
		tfs_backend_child(desc, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
	int64_t bytes;

	if (config->type != CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, "engine config");
	bytes = tfs_backend_int(config, CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, 0);
	if (tfs_backend_put(
		    desc, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &bytes))
		return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
	return CUDNN_STATUS_SUCCESS;
}
