/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/cudnn_desc.h"

#include <stdlib.h>

TFS_DNN_API cudnnStatus_t cudnnCreateOpTensorDescriptor(cudnnOpTensorDescriptor_t *opTensorDesc)
{
	if (!opTensorDesc)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	*opTensorDesc = calloc(1, sizeof(**opTensorDesc));
	return *opTensorDesc ? CUDNN_STATUS_SUCCESS
			     : CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
}

TFS_DNN_API cudnnStatus_t cudnnDestroyOpTensorDescriptor(cudnnOpTensorDescriptor_t opTensorDesc)
{
	free(opTensorDesc);
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnSetOpTensorDescriptor(cudnnOpTensorDescriptor_t opTensorDesc,
	cudnnOpTensorOp_t opTensorOp, cudnnDataType_t opTensorCompType,
	cudnnNanPropagation_t opTensorNanOpt)
{
	if (!opTensorDesc)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	opTensorDesc->op = opTensorOp;
	opTensorDesc->compute = opTensorCompType;
	opTensorDesc->nan = opTensorNanOpt;
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnGetOpTensorDescriptor(const cudnnOpTensorDescriptor_t opTensorDesc,
	cudnnOpTensorOp_t *opTensorOp, cudnnDataType_t *opTensorCompType,
	cudnnNanPropagation_t *opTensorNanOpt)
{
	if (!opTensorDesc || !opTensorOp || !opTensorCompType || !opTensorNanOpt)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	*opTensorOp = opTensorDesc->op;
	*opTensorCompType = opTensorDesc->compute;
	*opTensorNanOpt = opTensorDesc->nan;
	return CUDNN_STATUS_SUCCESS;
}

struct pair {
	struct tfs_blend s;
	struct tfs_view xv, yv;
	const float *x;
	float *y;
};

static void run_add(void *args)
{
	const struct pair *p = args;

	tfs_math_add(p->s, &p->xv, p->x, &p->yv, p->y);
}

/* One kernel over y that reads x (if there is one), and y as well when it keeps some of it. */
static cudnnStatus_t submit_pair(cudnnHandle_t handle, const char *name, void (*run)(void *),
	const struct pair *p, bool reads_y)
{
	struct tfs_dnn_work w = {.name = name, .run = run, .args = p, .args_size = sizeof(*p)};

	w.writes[0] = p->y;
	w.write_bytes[0] = tfs_dnn_bytes(&p->yv);
	w.bytes = tfs_view_count(&p->yv) * (reads_y ? 8 : 4);
	w.flops = 2 * tfs_view_count(&p->yv);
	if (p->x) {
		w.reads[0] = p->x;
		w.read_bytes[0] = tfs_dnn_bytes(&p->xv);
		w.bytes += 4 * tfs_view_count(&p->xv);
	}
	return tfs_dnn_submit(handle, &w);
}

TFS_DNN_API cudnnStatus_t cudnnTransformTensor(cudnnHandle_t handle, const void *alpha,
	const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
	const cudnnTensorDescriptor_t yDesc, void *y)
{
	struct pair p = {.x = x, .y = y};
	cudnnStatus_t rc = tfs_dnn_check((cudnnTensorDescriptor_t[]){xDesc, yDesc}, 2);

	if (rc)
		return rc;
	if (!handle || !alpha || !beta || !x || !y)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	if (!tfs_view_same_dims(&xDesc->v, &yDesc->v))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "dimensions");
	p.s = tfs_dnn_blend(alpha, beta);
	p.xv = xDesc->v;
	p.yv = yDesc->v;
	return submit_pair(handle, "tfsim_transform_tensor", run_add, &p, p.s.beta != 0.0f);
}

TFS_DNN_API cudnnStatus_t cudnnAddTensor(cudnnHandle_t handle, const void *alpha,
	const cudnnTensorDescriptor_t aDesc, const void *A, const void *beta,
	const cudnnTensorDescriptor_t cDesc, void *C)
{
	struct pair p = {.x = A, .y = C};
	cudnnStatus_t rc = tfs_dnn_check((cudnnTensorDescriptor_t[]){aDesc, cDesc}, 2);

	if (rc)
		return rc;
	if (!handle || !alpha || !beta || !A || !C)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	if (!tfs_view_broadcasts(&aDesc->v, &cDesc->v))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "dimensions");
	p.s = tfs_dnn_blend(alpha, beta);
	p.xv = aDesc->v;
	p.yv = cDesc->v;
	return submit_pair(handle, "tfsim_add_tensor", run_add, &p, p.s.beta != 0.0f);
}

static void run_fill(void *args)
{
	const struct pair *p = args;

	tfs_math_fill(&p->yv, p->y, p->s.alpha);
}

TFS_DNN_API cudnnStatus_t cudnnSetTensor(
	cudnnHandle_t handle, const cudnnTensorDescriptor_t yDesc, void *y, const void *valuePtr)
{
	struct pair p = {.y = y};
	cudnnStatus_t rc = tfs_dnn_check(&yDesc, 1);

	if (rc)
		return rc;
	if (!handle || !y || !valuePtr)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	p.s = tfs_dnn_blend(valuePtr, NULL);
	p.yv = yDesc->v;
	return submit_pair(handle, "tfsim_set_tensor", run_fill, &p, false);
}

TFS_DNN_API cudnnStatus_t cudnnScaleTensor(
	cudnnHandle_t handle, const cudnnTensorDescriptor_t yDesc, void *y, const void *alpha)
{
	struct pair p = {.x = y, .y = y};
	cudnnStatus_t rc = tfs_dnn_check(&yDesc, 1);

	if (rc)
		return rc;
	if (!handle || !y || !alpha)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	p.s = tfs_dnn_blend(alpha, NULL);
	p.xv = p.yv = yDesc->v;
	return submit_pair(handle, "tfsim_scale_tensor", run_add, &p, false);
}

struct op {
	enum tfs_op2 op;
	float alpha1, alpha2, beta;
	struct tfs_view av, bv, cv;
	const float *a, *b;
	float *c;
};

static void run_op(void *args)
{
	const struct op *o = args;

	tfs_math_op(o->op, o->alpha1, &o->av, o->a, o->alpha2, &o->bv, o->b, o->beta, &o->cv, o->c);
}

static cudnnStatus_t submit_op(cudnnHandle_t handle, const struct op *o, bool unary)
{
	struct tfs_dnn_work w = {
		.name = "tfsim_op_tensor", .run = run_op, .args = o, .args_size = sizeof(*o)};

	w.flops = 3 * tfs_view_count(&o->cv);
	w.bytes = 4 * (tfs_view_count(&o->av) + tfs_view_count(&o->cv));
	w.reads[0] = o->a;
	w.read_bytes[0] = tfs_dnn_bytes(&o->av);
	if (!unary) {
		w.bytes += 4 * tfs_view_count(&o->bv);
		w.reads[1] = o->b;
		w.read_bytes[1] = tfs_dnn_bytes(&o->bv);
	}
	w.writes[0] = o->c;
	w.write_bytes[0] = tfs_dnn_bytes(&o->cv);
	return tfs_dnn_submit(handle, &w);
}

TFS_DNN_API cudnnStatus_t cudnnOpTensor(cudnnHandle_t handle,
	const cudnnOpTensorDescriptor_t opTensorDesc, const void *alpha1,
	const cudnnTensorDescriptor_t aDesc, const void *A, const void *alpha2,
	const cudnnTensorDescriptor_t bDesc, const void *B, const void *beta,
	const cudnnTensorDescriptor_t cDesc, void *C)
{
	struct op o = {.a = A, .b = B, .c = C};
	cudnnStatus_t rc = tfs_dnn_check((cudnnTensorDescriptor_t[]){aDesc, cDesc}, 2);
	bool unary;

	if (rc)
		return rc;
	if (!handle || !opTensorDesc || !alpha1 || !beta || !A || !C)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	unary = opTensorDesc->op == CUDNN_OP_TENSOR_SQRT || opTensorDesc->op == CUDNN_OP_TENSOR_NOT;
	if (!unary) {
		rc = tfs_dnn_check(&bDesc, 1);
		if (rc)
			return rc;
		if (!alpha2 || !B)
			return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
		if (!tfs_view_broadcasts(&bDesc->v, &cDesc->v))
			return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "B");
		o.bv = bDesc->v;
		o.alpha2 = *(const float *)alpha2;
	}
	if (!tfs_view_broadcasts(&aDesc->v, &cDesc->v))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "A");
	o.op = (enum tfs_op2)opTensorDesc->op;
	o.alpha1 = *(const float *)alpha1;
	o.beta = *(const float *)beta;
	o.av = aDesc->v;
	o.cv = cDesc->v;
	return submit_op(handle, &o, unary);
}
