/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_LIB_BACKEND_H
#define TFS_TESTS_PROGRAMS_LIB_BACKEND_H

/*
 * For the programs that test cuDNN's backend API (lib_backend_*.c): descriptors in few words, plans
 * from heuristics, execution with a workspace of its own. Descriptors are destroyed as soon as
 * another one refers to them.
 */

#include <cudnn.h>

#include "tests/libraries/lib_check.h"

static cudnnHandle_t dnn;

typedef cudnnBackendDescriptor_t desc_t;

static inline desc_t backend_new(cudnnBackendDescriptorType_t type)
{
	desc_t desc = NULL;

	LIB_EQ(cudnnBackendCreateDescriptor(type, &desc), CUDNN_STATUS_SUCCESS);
	return desc;
}

static inline void backend_set(desc_t desc, cudnnBackendAttributeName_t name,
	cudnnBackendAttributeType_t type, int64_t count, const void *data)
{
	cudnnStatus_t rc = cudnnBackendSetAttribute(desc, name, type, count, data);

	if (!LIB_EQ(rc, CUDNN_STATUS_SUCCESS))
		printf("attribute %d: %s\n", (int)name, cudnnGetErrorString(rc));
}

static inline void backend_int(desc_t desc, cudnnBackendAttributeName_t name, int64_t value)
{
	backend_set(desc, name, CUDNN_TYPE_INT64, 1, &value);
}

/* For every type that is an enumeration. */
static inline void backend_enum(desc_t desc, cudnnBackendAttributeName_t name,
	cudnnBackendAttributeType_t type, int32_t value)
{
	backend_set(desc, name, type, 1, &value);
}

static inline void backend_child(desc_t desc, cudnnBackendAttributeName_t name, desc_t child)
{
	backend_set(desc, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &child);
}

static inline bool backend_finalize(desc_t desc)
{
	char why[256] = "";
	bool done = LIB_EQ(cudnnBackendFinalize(desc), CUDNN_STATUS_SUCCESS);

	cudnnGetLastErrorString(why, sizeof(why));
	if (!done)
		printf("%s\n", why);
	return done;
}

enum { BACKEND_VIRTUAL = 1, BACKEND_BY_VALUE = 2 };

/* Packed when strides is NULL. */
static inline desc_t backend_tensor(int64_t uid, cudnnDataType_t type, int flags, int nd,
	const int64_t *dim, const int64_t *strides)
{
	desc_t desc = backend_new(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
	bool is_virtual = flags & BACKEND_VIRTUAL, by_value = flags & BACKEND_BY_VALUE;
	int64_t packed[CUDNN_DIM_MAX], stride = 1;

	for (int i = nd - 1; i >= 0; i--) {
		packed[i] = stride;
		stride *= dim[i];
	}
	backend_enum(desc, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, (int32_t)type);
	backend_set(desc, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, nd, dim);
	backend_set(
		desc, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, nd, strides ? strides : packed);
	backend_int(desc, CUDNN_ATTR_TENSOR_UNIQUE_ID, uid);
	backend_int(desc, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 4);
	backend_set(desc, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &is_virtual);
	backend_set(desc, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &by_value);
	backend_finalize(desc);
	return desc;
}

/* How a two-dimensional convolution of float sums goes over its input. */
struct backend_convolution {
	int64_t pre[2], post[2], stride[2], dilation[2];
};

static inline desc_t backend_convolution(const struct backend_convolution *how)
{
	desc_t desc = backend_new(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);

	backend_int(desc, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 2);
	backend_enum(
		desc, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
	backend_enum(desc, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
		CUDNN_CROSS_CORRELATION);
	backend_set(desc, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, how->pre);
	backend_set(desc, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, how->post);
	backend_set(desc, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, how->stride);
	backend_set(desc, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, how->dilation);
	backend_finalize(desc);
	return desc;
}

/* y = mode(x) or mode(x, b); b may be NULL. */
static inline desc_t backend_pointwise(cudnnPointwiseMode_t mode, desc_t x, desc_t b, desc_t y)
{
	desc_t params = backend_new(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
	desc_t op = backend_new(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);

	backend_enum(params, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, (int32_t)mode);
	backend_enum(
		params, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
	backend_finalize(params);
	backend_child(op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, params);
	backend_child(op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
	if (b)
		backend_child(op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b);
	backend_child(op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
	backend_finalize(op);
	cudnnBackendDestroyDescriptor(params);
	return op;
}

/* Not finalized; the operations are destroyed. */
static inline desc_t backend_graph(desc_t *ops, int n)
{
	desc_t graph = backend_new(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);

	backend_set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &dnn);
	backend_set(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, n, ops);
	for (int i = 0; i < n; i++)
		cudnnBackendDestroyDescriptor(ops[i]);
	return graph;
}

/* The configurations that a mode proposes, up to 16; returns how many. */
static inline int backend_configs(desc_t graph, int32_t mode, desc_t *configs)
{
	desc_t heuristics = backend_new(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
	int64_t count = 0, got = 0;

	backend_child(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
	backend_enum(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
	backend_finalize(heuristics);
	LIB_EQ(cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
		       CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, NULL),
		0);
	LIB_TRUE(count >= 1 && count <= 16);
	for (int64_t i = 0; i < count; i++)
		configs[i] = backend_new(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	LIB_EQ(cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
		       CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &got, configs),
		0);
	LIB_EQ(got, count);
	cudnnBackendDestroyDescriptor(heuristics);
	return (int)count;
}

/* Whether the configuration's engine has the note. */
static inline bool backend_has_note(desc_t config, cudnnBackendNumericalNote_t note)
{
	desc_t engine = backend_new(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
	cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
	int64_t count = 0;
	bool found = false;

	LIB_EQ(cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_ENGINE,
		       CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &engine),
		0);
	LIB_EQ(cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
		       CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count, notes),
		0);
	for (int64_t i = 0; i < count; i++)
		found |= notes[i] == note;
	cudnnBackendDestroyDescriptor(engine);
	return found;
}

/* The configuration is destroyed. */
static inline desc_t backend_plan(desc_t config, int64_t *out_workspace)
{
	desc_t plan = backend_new(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);

	backend_set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &dnn);
	backend_child(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
	backend_finalize(plan);
	cudnnBackendDestroyDescriptor(config);
	LIB_EQ(cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
		       CUDNN_TYPE_INT64, 1, NULL, out_workspace),
		0);
	return plan;
}

static inline cudnnStatus_t backend_execute(
	desc_t plan, int n, const int64_t *uids, void *const *pointers, void *workspace)
{
	desc_t pack = backend_new(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
	cudnnStatus_t rc;

	backend_set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, n, uids);
	backend_set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, n, pointers);
	backend_set(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
	backend_finalize(pack);
	rc = cudnnBackendExecute(dnn, plan, pack);
	cudnnBackendDestroyDescriptor(pack);
	return rc;
}

/* Runs a graph by the first plan of mode A; both are destroyed before it has finished. */
static inline void backend_run(desc_t graph, int n, const int64_t *uids, void *const *pointers)
{
	desc_t configs[16], plan;
	int64_t bytes = 0;
	void *workspace = NULL;
	int count;

	if (!backend_finalize(graph))
		return;
	count = backend_configs(graph, CUDNN_HEUR_MODE_A, configs);
	for (int i = 1; i < count; i++)
		cudnnBackendDestroyDescriptor(configs[i]);
	plan = backend_plan(configs[0], &bytes);
	if (bytes)
		LIB_EQ(cudaMalloc(&workspace, (size_t)bytes), cudaSuccess);
	LIB_EQ(backend_execute(plan, n, uids, pointers, workspace), CUDNN_STATUS_SUCCESS);
	cudnnBackendDestroyDescriptor(plan);
	cudnnBackendDestroyDescriptor(graph);
	LIB_EQ(cudaFree(workspace), cudaSuccess);
}

/* Downloads, compares, and fills the device's array with NaN again. */
static inline void backend_compare(
	const char *what, float *device, const double *want, size_t n, double tolerance)
{
	float *got = lib_filled(n, NAN), *nan = lib_filled(n, NAN);

	lib_download(got, device, n);
	lib_near(what, got, want, n, tolerance);
	LIB_EQ(cudaMemcpy(device, nan, n * sizeof(float), cudaMemcpyHostToDevice), cudaSuccess);
	free(got);
	free(nan);
}

#endif
