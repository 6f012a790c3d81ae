/* SPDX-License-Identifier: MIT */
/* C = A B in the last two dimensions; the others are batch, of which A and B may have less. */
#include <cblas.h>
#include <stdlib.h>

#include "tests/sim/cudnn/backend/cudnn_backend_op.h"

#define ATTR(name) CUDNN_ATTR_OPERATION_MATMUL_##name

static bool fits(const struct tfs_view *c, const struct tfs_view *in)
{
	if (in->nd != c->nd)
		return false;
	for (int i = 0; i < c->nd - 2; i++)
		if (c->dim[i] % in->dim[i])
			return false;
	return true;
}

static cudnnStatus_t check(const struct tfs_backend *op)
{
	cudnnStatus_t rc = tfs_op_check_tensors(op, &tfs_op_matmul);
	struct tfs_view a, b, c;

	if (rc)
		return rc;
	if (tfs_backend_child(op, ATTR(DESC))->type != CUDNN_BACKEND_MATMUL_DESCRIPTOR)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, "matmul");
	a = tfs_op_view(op, ATTR(ADESC));
	b = tfs_op_view(op, ATTR(BDESC));
	c = tfs_op_view(op, ATTR(CDESC));
	if (c.nd < 2 || !fits(&c, &a) || !fits(&c, &b) || a.dim[c.nd - 2] != c.dim[c.nd - 2] ||
		b.dim[c.nd - 1] != c.dim[c.nd - 1] || a.dim[c.nd - 1] != b.dim[c.nd - 2])
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "matmul");
	return CUDNN_STATUS_SUCCESS;
}

static const char *unsupported(const struct tfs_backend *op)
{
	const struct tfs_backend *desc = tfs_backend_child(op, ATTR(DESC));
	int64_t type = tfs_backend_int(desc, CUDNN_ATTR_MATMUL_COMP_TYPE, 0);

	return type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_HALF ? NULL : "compute type";
}

static bool sliceable(const struct tfs_backend *op)
{
	return tfs_op_view(op, ATTR(CDESC)).nd > 2;
}

static uint64_t flops(const struct tfs_backend *op)
{
	struct tfs_view a = tfs_op_view(op, ATTR(ADESC)), c = tfs_op_view(op, ATTR(CDESC));

	return 2 * tfs_view_count(&c) * (uint64_t)a.dim[a.nd - 1];
}

struct product {
	const float *a, *b;
	float *c;
	ptrdiff_t as[2], bs[2], cs[2];
	int m, n, k;
	float *scratch; /* packed A, B and C */
};

static const float *pack(
	const float *from, const ptrdiff_t *stride, int rows, int columns, float *to)
{
	for (int r = 0; r < rows; r++)
		for (int i = 0; i < columns; i++)
			to[(size_t)r * (size_t)columns + (size_t)i] =
				from[r * stride[0] + i * stride[1]];
	return to;
}

static void multiply(const struct product *p)
{
	size_t mk = (size_t)p->m * (size_t)p->k, kn = (size_t)p->k * (size_t)p->n;
	float *c = p->scratch + mk + kn;
	const float *a = pack(p->a, p->as, p->m, p->k, p->scratch);
	const float *b = pack(p->b, p->bs, p->k, p->n, p->scratch + mk);

	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, p->m, p->n, p->k, 1.0f, a, p->k, b,
		p->n, 0.0f, c, p->n);
	for (int r = 0; r < p->m; r++)
		for (int i = 0; i < p->n; i++)
			p->c[r * p->cs[0] + i * p->cs[1]] = c[(size_t)r * (size_t)p->n + (size_t)i];
}

struct job {
	struct product whole;
	const float *m, *n, *k; /* sizes that are used, one per entry of the batch, or NULL */
	float padding;
};

static int used(const float *sizes, ptrdiff_t at, int size)
{
	int n = sizes ? (int)sizes[at] : size;

	return n < 0 ? 0 : n > size ? size : n;
}

/* The views of the walk: C, A, B and the three overriding sizes. */
static void row(size_t count, const ptrdiff_t *at, const ptrdiff_t *step, void *arg)
{
	const struct job *j = arg;

	for (size_t i = 0; i < count; i++) {
		struct product p = j->whole;
		ptrdiff_t t = (ptrdiff_t)i;

		p.c += at[0] + t * step[0];
		p.a += at[1] + t * step[1];
		p.b += at[2] + t * step[2];
		p.m = used(j->m, at[3] + t * step[3], p.m);
		p.n = used(j->n, at[4] + t * step[4], p.n);
		p.k = used(j->k, at[5] + t * step[5], p.k);
		if (p.m < j->whole.m || p.n < j->whole.n || !p.k)
			for (int r = 0; r < j->whole.m; r++)
				for (int n = 0; n < j->whole.n; n++)
					p.c[r * p.cs[0] + n * p.cs[1]] = j->padding;
		if (p.m && p.n && p.k)
			multiply(&p);
	}
}

/* The batch of a tensor as a view, and the strides of its matrices. */
static struct tfs_view batch_of(const struct tfs_view *view, int nd, ptrdiff_t *stride)
{
	struct tfs_view v = tfs_view_widen(view, nd);

	if (stride) {
		stride[0] = v.stride[nd - 2];
		stride[1] = v.stride[nd - 1];
	}
	v.dim[nd - 2] = v.dim[nd - 1] = 1;
	return v;
}

static int run(struct tfs_exec *exec, const struct tfs_step *step)
{
	static const int names[6] = {ATTR(CDESC), ATTR(ADESC), ATTR(BDESC),
		ATTR(GEMM_M_OVERRIDE_DESC), ATTR(GEMM_N_OVERRIDE_DESC), ATTR(GEMM_K_OVERRIDE_DESC)};
	struct tfs_array t[6];
	struct tfs_view v[6];
	const struct tfs_view *views[6];
	struct job j = {
		.padding = (float)tfs_backend_real(tfs_backend_child(step->desc, ATTR(DESC)),
			CUDNN_ATTR_MATMUL_PADDING_VALUE, 0.0)};
	struct product *p = &j.whole;
	int nd;

	for (int i = 0; i < 6; i++)
		t[i] = tfs_exec_array(exec, step, names[i]);
	nd = t[0].view.nd;
	v[0] = batch_of(&t[0].view, nd, p->cs);
	v[1] = batch_of(&t[1].view, nd, p->as);
	v[2] = batch_of(&t[2].view, nd, p->bs);
	for (int i = 0; i < 6; i++) {
		if (i > 2)
			v[i] = batch_of(&t[i].view, nd, NULL);
		views[i] = &v[i];
	}
	p->c = t[0].data;
	p->a = t[1].data;
	p->b = t[2].data;
	p->m = t[0].view.dim[nd - 2];
	p->n = t[0].view.dim[nd - 1];
	p->k = t[1].view.dim[nd - 1];
	j.m = t[3].data;
	j.n = t[4].data;
	j.k = t[5].data;
	p->scratch =
		malloc(sizeof(float) * ((size_t)p->m * (size_t)p->k + (size_t)p->k * (size_t)p->n +
					       (size_t)p->m * (size_t)p->n));
	if (!p->scratch)
		return -1;
	tfs_walk(&v[0], views, 6, row, &j);
	free(p->scratch);
	return 0;
}

const struct tfs_backend_op tfs_op_matmul = {
	.type = CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
	.inputs = {ATTR(ADESC), ATTR(BDESC), ATTR(GEMM_M_OVERRIDE_DESC), ATTR(GEMM_N_OVERRIDE_DESC),
		ATTR(GEMM_K_OVERRIDE_DESC)},
	.outputs = {ATTR(CDESC)},
	.check = check,
	.unsupported = unsupported,
	.sliceable = sliceable,
	.flops = flops,
	.run = run,
};
