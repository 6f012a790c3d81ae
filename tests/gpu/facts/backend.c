/* SPDX-License-Identifier: MIT */
/*
 * What cuDNN's graph interface gives back about a convolution: the heuristics' results, and the
 * way from a plan to its engine and its numerical notes. See fact.h.
 */
#include <cudnn.h>

#include "tests/gpu/facts/fact.h"

#define OK(call) TEST_EQ(call, 0)

enum { MOST = 8 };

typedef cudnnBackendDescriptor_t descriptor;

static cudnnHandle_t dnn;

static descriptor create(cudnnBackendDescriptorType_t type)
{
	descriptor made = NULL;

	cudnnBackendCreateDescriptor(type, &made);
	return made;
}

static void set(descriptor to, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
	int64_t count, const void *values)
{
	OK(cudnnBackendSetAttribute(to, name, type, count, values));
}

static descriptor tensor(int64_t uid, const int64_t dims[4])
{
	const int64_t strides[4] = {dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1};
	const int64_t alignment = 16;
	const cudnnDataType_t type = CUDNN_DATA_FLOAT;
	descriptor t = create(CUDNN_BACKEND_TENSOR_DESCRIPTOR);

	set(t, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
	set(t, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, dims);
	set(t, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides);
	set(t, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uid);
	set(t, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
	OK(cudnnBackendFinalize(t));
	return t;
}

static descriptor convolution(void)
{
	const int64_t dims = 2, ones[2] = {1, 1};
	const cudnnDataType_t type = CUDNN_DATA_FLOAT;
	const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
	descriptor c = create(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);

	set(c, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &dims);
	set(c, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
	set(c, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
	set(c, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, ones);
	set(c, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, ones);
	set(c, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, ones);
	set(c, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, ones);
	OK(cudnnBackendFinalize(c));
	return c;
}

static descriptor graph(void)
{
	const int64_t x_dims[4] = {16, 32, 28, 28}, w_dims[4] = {64, 32, 3, 3};
	const int64_t y_dims[4] = {16, 64, 28, 28};
	const float one = 1, zero = 0;
	descriptor conv = convolution();
	descriptor x = tensor(1, x_dims), w = tensor(2, w_dims), y = tensor(3, y_dims);
	descriptor op = create(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
	descriptor g = create(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);

	set(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR,
		1, &conv);
	set(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &x);
	set(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &w);
	set(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &y);
	set(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1, &one);
	set(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 1, &zero);
	OK(cudnnBackendFinalize(op));
	set(g, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &op);
	set(g, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &dnn);
	OK(cudnnBackendFinalize(g));
	return g;
}

/* From a configuration to its engine and what is noted there. */
static void engine_of(descriptor config, const char *name)
{
	descriptor engine = create(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
	cudnnBackendNumericalNote_t notes[32];
	int64_t index = -1, count = 0, indices = 0, engines = 0;
	char text[256] = "";

	const int status = cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_ENGINE,
		CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engines, &engine);
	const int noted = cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
		CUDNN_TYPE_NUMERICAL_NOTE, 32, &count, notes);
	cudnnBackendGetAttribute(
		engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &indices, &index);
	for (int64_t i = 0; i < count && i < 32 && noted == 0; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " %d", (int)notes[i]);
	fact("backend", name, "%s (status %d, engine %lld, notes status %d:%s)",
		status == 0 && noted == 0 ? "yes" : "no", status, (long long)index, noted, text);
}

static void plan_of(descriptor config, unsigned i)
{
	descriptor plan = create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
	descriptor back = create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	int64_t workspace = -1, got = 0;
	char name[64];

	set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &dnn);
	set(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
		&config);
	const int status = cudnnBackendFinalize(plan);
	cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64,
		1, &got, &workspace);
	snprintf(name, sizeof(name), "plan-%u", i);
	fact("backend", name, "finalize status %d, workspace %lld", status, (long long)workspace);
	if (status)
		return;
	const int returned = cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
		CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &got, &back);
	snprintf(name, sizeof(name), "plan-%u-to-config", i);
	fact("backend", name, "%s (status %d)", returned == 0 ? "yes" : "no", returned);
	snprintf(name, sizeof(name), "plan-%u-to-engine-notes", i);
	if (returned == 0)
		engine_of(back, name);
}

static void ask(descriptor g, cudnnBackendHeurMode_t mode, const char *name)
{
	descriptor heuristic = create(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
	descriptor configs[MOST], none[MOST] = {NULL};
	int64_t count = 0, got = 0;
	char text[64];

	set(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &g);
	set(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
	const uint64_t start = fact_now_ns();
	const int status = cudnnBackendFinalize(heuristic);
	const double spent_ms = (double)(fact_now_ns() - start) / 1e6;
	cudnnBackendGetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS,
		CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, NULL);
	snprintf(text, sizeof(text), "heuristics-%s", name);
	fact("backend", text, "status %d, %lld results, %.2f ms", status, (long long)count,
		spent_ms);
	snprintf(text, sizeof(text), "heuristics-%s-results-into-nothing", name);
	fact("backend", text, "status %d",
		(int)cudnnBackendGetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS,
			CUDNN_TYPE_BACKEND_DESCRIPTOR, MOST, &got, none));
	for (unsigned i = 0; i < MOST; i++)
		configs[i] = create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	const int created = cudnnBackendGetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS,
		CUDNN_TYPE_BACKEND_DESCRIPTOR, MOST, &got, configs);
	snprintf(text, sizeof(text), "heuristics-%s-results-into-created", name);
	fact("backend", text, "%s (status %d, %lld)", created == 0 ? "yes" : "no", created,
		(long long)got);
	for (unsigned i = 0; i < MOST && i < got && created == 0; i++) {
		snprintf(text, sizeof(text), "heuristics-%s-%u-engine", name, i);
		engine_of(configs[i], text);
		if (mode == CUDNN_HEUR_MODE_A)
			plan_of(configs[i], i);
	}
}

int main(void)
{
	descriptor probe = NULL;

	if (!fact_device())
		return test_skip("no CUDA device");
	OK(cudnnCreate(&dnn));
	if (fact_simulated() &&
		cudnnBackendCreateDescriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR, &probe)) {
		fact("backend", "interface", "not simulated");
		return test_result();
	}
	descriptor g = graph();
	ask(g, CUDNN_HEUR_MODE_A, "a");
	ask(g, CUDNN_HEUR_MODE_B, "b");
	ask(g, CUDNN_HEUR_MODE_FALLBACK, "fallback");
	return test_result();
}
