/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "tests/sim/cudnn/cudnn_desc.h"

TFS_DNN_API cudnnStatus_t cudnnCreateReduceTensorDescriptor(
	cudnnReduceTensorDescriptor_t *reduceTensorDesc)
{
	if (!reduceTensorDesc)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	*reduceTensorDesc = calloc(1, sizeof(**reduceTensorDesc));
	return *reduceTensorDesc ? CUDNN_STATUS_SUCCESS
				 : CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
}

TFS_DNN_API cudnnStatus_t cudnnDestroyReduceTensorDescriptor(
	cudnnReduceTensorDescriptor_t reduceTensorDesc)
{
	free(reduceTensorDesc);
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnSetReduceTensorDescriptor(
	cudnnReduceTensorDescriptor_t reduceTensorDesc, cudnnReduceTensorOp_t reduceTensorOp,
	cudnnDataType_t reduceTensorCompType, cudnnNanPropagation_t reduceTensorNanOpt,
	cudnnReduceTensorIndices_t reduceTensorIndices, cudnnIndicesType_t reduceTensorIndicesType)
{
	if (!reduceTensorDesc)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	reduceTensorDesc->op = reduceTensorOp;
	reduceTensorDesc->compute = reduceTensorCompType;
	reduceTensorDesc->nan = reduceTensorNanOpt;
	reduceTensorDesc->indices = reduceTensorIndices;
	reduceTensorDesc->width = reduceTensorIndicesType;
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnGetReduceTensorDescriptor(
	const cudnnReduceTensorDescriptor_t reduceTensorDesc, cudnnReduceTensorOp_t *reduceTensorOp,
	cudnnDataType_t *reduceTensorCompType, cudnnNanPropagation_t *reduceTensorNanOpt,
	cudnnReduceTensorIndices_t *reduceTensorIndices,
	cudnnIndicesType_t *reduceTensorIndicesType)
{
	if (!reduceTensorDesc || !reduceTensorOp || !reduceTensorCompType || !reduceTensorNanOpt ||
		!reduceTensorIndices || !reduceTensorIndicesType)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	*reduceTensorOp = reduceTensorDesc->op;
	*reduceTensorCompType = reduceTensorDesc->compute;
	*reduceTensorNanOpt = reduceTensorDesc->nan;
	*reduceTensorIndices = reduceTensorDesc->indices;
	*reduceTensorIndicesType = reduceTensorDesc->width;
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnGetReductionWorkspaceSize(cudnnHandle_t handle,
	const cudnnReduceTensorDescriptor_t reduceTensorDesc, const cudnnTensorDescriptor_t aDesc,
	const cudnnTensorDescriptor_t cDesc, size_t *sizeInBytes)
{
	(void)cDesc;
	if (!handle || !reduceTensorDesc || !aDesc || !sizeInBytes)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	*sizeInBytes = tfs_view_count(&aDesc->v) / 64 * sizeof(float) + 256;
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnGetReductionIndicesSize(cudnnHandle_t handle,
	const cudnnReduceTensorDescriptor_t reduceTensorDesc, const cudnnTensorDescriptor_t aDesc,
	const cudnnTensorDescriptor_t cDesc, size_t *sizeInBytes)
{
	(void)aDesc;
	if (!handle || !reduceTensorDesc || !cDesc || !sizeInBytes)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	*sizeInBytes = reduceTensorDesc->indices == CUDNN_REDUCE_TENSOR_FLATTENED_INDICES
			       ? tfs_view_count(&cDesc->v) * sizeof(uint32_t)
			       : 0;
	return CUDNN_STATUS_SUCCESS;
}

struct args {
	cudnnReduceTensorOp_t op;
	struct tfs_blend s;
	struct tfs_view av, cv;
	const float *a;
	float *c;
	void *workspace;
	size_t workspace_bytes;
};

struct sum {
	cudnnReduceTensorOp_t op;
	double v;
};

static double first(cudnnReduceTensorOp_t op)
{
	switch (op) {
	case CUDNN_REDUCE_TENSOR_MUL:
	case CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS:
		return 1.0;
	case CUDNN_REDUCE_TENSOR_MIN:
		return INFINITY;
	case CUDNN_REDUCE_TENSOR_MAX:
		return -INFINITY;
	default:
		return 0.0;
	}
}

static double step(cudnnReduceTensorOp_t op, double v, double x)
{
	switch (op) {
	case CUDNN_REDUCE_TENSOR_MUL:
		return v * x;
	case CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS:
		return x != 0.0 ? v * x : v;
	case CUDNN_REDUCE_TENSOR_MIN:
		return fmin(v, x);
	case CUDNN_REDUCE_TENSOR_MAX:
		return fmax(v, x);
	case CUDNN_REDUCE_TENSOR_AMAX:
		return fmax(v, fabs(x));
	case CUDNN_REDUCE_TENSOR_NORM1:
		return v + fabs(x);
	case CUDNN_REDUCE_TENSOR_NORM2:
		return v + x * x;
	default:
		return v + x;
	}
}

static void row(size_t count, float *const *p, const ptrdiff_t *by, const void *arg)
{
	struct sum *s = *(struct sum *const *)arg;
	const float *x = p[0];

	for (size_t i = 0; i < count; i++, x += by[0])
		s->v = step(s->op, s->v, (double)*x);
}

/* The element of c with this index, and the part of a that is reduced into it. */
static float *locate(const struct args *r, size_t index, struct tfs_view *part, const float **a)
{
	float *c = r->c;

	*part = r->av;
	*a = r->a;
	for (int i = r->cv.nd - 1; i >= 0; i--) {
		ptrdiff_t at = (ptrdiff_t)(index % (size_t)r->cv.dim[i]);

		index /= (size_t)r->cv.dim[i];
		c += at * r->cv.stride[i];
		if (r->cv.dim[i] == 1)
			continue;
		*a += at * r->av.stride[i];
		part->dim[i] = 1;
	}
	return c;
}

static double reduce(const struct args *r, size_t index)
{
	struct sum s = {r->op, first(r->op)};
	struct sum *to = &s;
	struct tfs_view part;
	const float *a;
	struct tfs_operand op;

	locate(r, index, &part, &a);
	op = (struct tfs_operand){(float *)a, &part};
	tfs_map(&op, 1, row, &to);
	if (r->op == CUDNN_REDUCE_TENSOR_AVG)
		s.v /= (double)tfs_view_count(&part);
	return r->op == CUDNN_REDUCE_TENSOR_NORM2 ? sqrt(s.v) : s.v;
}

static void store(const struct args *r, size_t index, double v)
{
	struct tfs_view part;
	const float *a;
	float *c = locate(r, index, &part, &a);
	float old = r->s.beta != 0.0f ? r->s.beta * *c : 0.0f;

	*c = r->s.alpha * (float)v + old;
}

/* As many results at a time as the workspace holds, from its end. */
static void run(void *args)
{
	const struct args *r = args;
	const size_t n = tfs_view_count(&r->cv), room = r->workspace_bytes / sizeof(double);
	double *sums = (double *)r->workspace + room;

	tfsim_workspace_enter(r->workspace, r->workspace_bytes);
	for (size_t from = 0; from < n; from += room) {
		const size_t count = n - from < room ? n - from : room;

		for (size_t i = 0; i < count; i++)
			*(sums - 1 - i) = reduce(r, from + i);
		for (size_t i = 0; i < count; i++)
			store(r, from + i, *(sums - 1 - i));
	}
	tfsim_workspace_leave(r->workspace, r->workspace_bytes);
}

TFS_DNN_API cudnnStatus_t cudnnReduceTensor(cudnnHandle_t handle,
	const cudnnReduceTensorDescriptor_t reduceTensorDesc, void *indices,
	size_t indicesSizeInBytes, void *workspace, size_t workspaceSizeInBytes, const void *alpha,
	const cudnnTensorDescriptor_t aDesc, const void *A, const void *beta,
	const cudnnTensorDescriptor_t cDesc, void *C)
{
	struct args r = {.a = A, .c = C, .workspace = workspace};
	struct tfs_dnn_work w = {
		.name = "tfsim_reduce_tensor", .run = run, .args = &r, .args_size = sizeof(r)};
	cudnnStatus_t rc = tfs_dnn_check((cudnnTensorDescriptor_t[]){aDesc, cDesc}, 2);

	(void)indices;
	(void)indicesSizeInBytes;
	if (rc)
		return rc;
	if (!handle || !reduceTensorDesc || !alpha || !beta || !A || !C)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	if (reduceTensorDesc->indices != CUDNN_REDUCE_TENSOR_NO_INDICES)
		return tfs_dnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "indices");
	if (!tfs_view_broadcasts(&cDesc->v, &aDesc->v))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "dimensions");
	cudnnGetReductionWorkspaceSize(handle, reduceTensorDesc, aDesc, cDesc, &r.workspace_bytes);
	if (!workspace || workspaceSizeInBytes < r.workspace_bytes)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT, "workspace");
	r.op = reduceTensorDesc->op;
	r.s = tfs_dnn_blend(alpha, beta);
	r.av = aDesc->v;
	r.cv = cDesc->v;
	w.bytes = 4 * (tfs_view_count(&aDesc->v) + tfs_view_count(&cDesc->v));
	w.flops = 60 * tfs_view_count(&aDesc->v);
	w.reads[0] = A;
	w.read_bytes[0] = tfs_dnn_bytes(&aDesc->v);
	w.writes[0] = C;
	w.write_bytes[0] = tfs_dnn_bytes(&cDesc->v);
	w.writes[1] = workspace;
	w.write_bytes[1] = r.workspace_bytes;
	return tfs_dnn_submit(handle, &w);
}
