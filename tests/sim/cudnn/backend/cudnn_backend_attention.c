/* SPDX-License-Identifier: MIT */
/*
 * Scaled dot product attention as one operation: O = softmax(scale Q K') V for every head, of which
 * K and V may have fewer than Q. Statistics are the logarithms of the sums of exponentials.
 */
#include <cblas.h>
#include <math.h>
#include <stdlib.h>

#include "tests/sim/cudnn/backend/cudnn_backend_op.h"

#define FWD(name) CUDNN_ATTR_OPERATION_SDPA_FWD_##name
#define BWD(name) CUDNN_ATTR_OPERATION_SDPA_BWD_##name

enum { Q, K, V, O, STATS, SCALE, LENGTH_Q, LENGTH_KV, DO, DQ, DK, DV, TENSORS };

static const int forward_names[TENSORS] = {FWD(QDESC), FWD(KDESC), FWD(VDESC), FWD(ODESC),
	FWD(STATSDESC), FWD(SCALEDESC), FWD(SEQ_LEN_QDESC), FWD(SEQ_LEN_KVDESC)};
static const int backward_names[TENSORS] = {BWD(QDESC), BWD(KDESC), BWD(VDESC), BWD(ODESC),
	BWD(STATSDESC), BWD(SCALEDESC), BWD(SEQ_LEN_QDESC), BWD(SEQ_LEN_KVDESC), BWD(DODDESC),
	BWD(DQDESC), BWD(DKDESC), BWD(DVDESC)};

static const int *names_of(const struct tfs_backend *op)
{
	return op->type == CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR ? forward_names
								       : backward_names;
}

static bool differs(const struct tfs_backend *op, int name, const int dim[4])
{
	struct tfs_view v = tfs_op_view(op, name);

	if (!v.nd)
		return false;
	for (int i = 0; i < 4; i++)
		if (v.nd != 4 || v.dim[i] != dim[i])
			return true;
	return false;
}

static cudnnStatus_t check(const struct tfs_backend *op)
{
	const int *n = names_of(op);
	cudnnStatus_t rc = tfs_op_check_tensors(op, tfs_backend_op_find(op->type));
	struct tfs_view q, k, v;
	int o[4], s[4];

	if (rc)
		return rc;
	q = tfs_op_view(op, n[Q]);
	k = tfs_op_view(op, n[K]);
	v = tfs_op_view(op, n[V]);
	if (q.nd != 4 || k.nd != 4 || v.nd != 4)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "four dimensions");
	if (k.dim[0] != q.dim[0] || v.dim[0] != q.dim[0] || q.dim[1] % k.dim[1] ||
		q.dim[1] % v.dim[1] || k.dim[2] != v.dim[2] || k.dim[3] != q.dim[3])
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "q, k and v");
	for (int i = 0; i < 3; i++)
		o[i] = s[i] = q.dim[i];
	o[3] = v.dim[3];
	s[3] = 1;
	if (differs(op, n[O], o) || differs(op, n[STATS], s))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "o or statistics");
	if (n[DQ] && (differs(op, n[DO], o) || differs(op, n[DQ], q.dim) ||
			     differs(op, n[DK], k.dim) || differs(op, n[DV], v.dim)))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "gradients");
	return CUDNN_STATUS_SUCCESS;
}

static const char *unsupported(const struct tfs_backend *op)
{
	if (op->type != CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR)
		return NULL;
	if (tfs_backend_child(op, FWD(BLOCK_MASK_DESC)))
		return "block mask";
	return tfs_backend_child(op, FWD(PAGE_TABLE_KDESC)) ||
			       tfs_backend_child(op, FWD(PAGE_TABLE_VDESC))
		       ? "paged attention"
		       : NULL;
}

/* Two products forward, five backward. */
static uint64_t flops(const struct tfs_backend *op)
{
	const int *n = names_of(op);
	struct tfs_view q = tfs_op_view(op, n[Q]), v = tfs_op_view(op, n[V]);
	uint64_t scores =
		(uint64_t)q.dim[0] * (uint64_t)q.dim[1] * (uint64_t)q.dim[2] * (uint64_t)v.dim[2];

	return 2 * scores * (uint64_t)(n[DQ] ? 3 * q.dim[3] + 2 * v.dim[3] : q.dim[3] + v.dim[3]);
}

/* One head: packed matrices, and how much of them counts. */
struct head {
	const struct tfs_array *t;
	int batch, index;
	int sq, skv, d, dv;
	int used_q, used_kv;
	float scale;
	float *q, *k, *v, *o, *scores, *gradient;
};

static float *place(const struct head *h, int which)
{
	const struct tfs_view *view = &h->t[which].view;
	int heads = h->t[Q].view.dim[1], share = heads / view->dim[1];

	return h->t[which].data + (ptrdiff_t)h->batch * view->stride[0] +
	       (ptrdiff_t)(h->index / share) * view->stride[1];
}

static void pack(const struct head *h, int which, float *to)
{
	const struct tfs_view *view = &h->t[which].view;
	const float *from = place(h, which);

	for (int r = 0; r < view->dim[2]; r++)
		for (int i = 0; i < view->dim[3]; i++)
			*to++ = from[(ptrdiff_t)r * view->stride[2] +
				     (ptrdiff_t)i * view->stride[3]];
}

static void unpack(const struct head *h, int which, const float *from, bool add)
{
	const struct tfs_view *view = &h->t[which].view;
	float *to = place(h, which);

	for (int r = 0; r < view->dim[2]; r++)
		for (int i = 0; i < view->dim[3]; i++, from++) {
			float *p = &to[(ptrdiff_t)r * view->stride[2] +
				       (ptrdiff_t)i * view->stride[3]];

			*p = add ? *p + *from : *from;
		}
}

static float *statistic(const struct head *h, int row)
{
	return place(h, STATS) + (ptrdiff_t)row * h->t[STATS].view.stride[2];
}

static void gemm(bool ta, bool tb, int m, int n, int k, const float *a, const float *b, float *c)
{
	cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans,
		m, n, k, 1.0f, a, ta ? m : k, b, tb ? k : n, 0.0f, c, n);
}

static void softmax(const struct head *h)
{
	for (int r = 0; r < h->sq; r++) {
		float *s = h->scores + (size_t)r * (size_t)h->skv, most = -INFINITY;
		double sum = 0;
		int used = r < h->used_q ? h->used_kv : 0;

		for (int i = 0; i < used; i++) {
			s[i] *= h->scale;
			most = s[i] > most ? s[i] : most;
		}
		for (int i = 0; i < used; i++) {
			s[i] = expf(s[i] - most);
			sum += (double)s[i];
		}
		for (int i = 0; i < h->skv; i++)
			s[i] = i < used ? (float)((double)s[i] / sum) : 0.0f;
		if (h->t[STATS].data)
			*statistic(h, r) = most + (float)log(sum);
	}
}

static void forward(const struct head *h)
{
	pack(h, Q, h->q);
	pack(h, K, h->k);
	pack(h, V, h->v);
	gemm(false, true, h->sq, h->skv, h->d, h->q, h->k, h->scores);
	softmax(h);
	gemm(false, false, h->sq, h->dv, h->skv, h->scores, h->v, h->o);
	unpack(h, O, h->o, false);
}

/* The weights again, from the statistics; and the gradient of what the softmax was given. */
static void weights(const struct head *h, const float *row_sums)
{
	for (int r = 0; r < h->sq; r++) {
		float *s = h->scores + (size_t)r * (size_t)h->skv;
		float *g = h->gradient + (size_t)r * (size_t)h->skv;

		for (int i = 0; i < h->skv; i++) {
			bool used = r < h->used_q && i < h->used_kv;

			s[i] = used ? expf(s[i] * h->scale - *statistic(h, r)) : 0.0f;
			g[i] = used ? s[i] * (g[i] - row_sums[r]) * h->scale : 0.0f;
		}
	}
}

static void backward(const struct head *h, float *row_sums)
{
	float *d_o = h->o, *d_q = h->q, *d_v = h->v;
	bool add_k = h->index % (h->t[Q].view.dim[1] / h->t[K].view.dim[1]);
	bool add_v = h->index % (h->t[Q].view.dim[1] / h->t[V].view.dim[1]);

	pack(h, O, h->gradient);
	pack(h, DO, d_o);
	for (int r = 0; r < h->sq; r++) {
		double sum = 0;

		for (int i = 0; i < h->dv; i++)
			sum += (double)h->gradient[(size_t)r * (size_t)h->dv + (size_t)i] *
			       (double)d_o[(size_t)r * (size_t)h->dv + (size_t)i];
		row_sums[r] = (float)sum;
	}
	pack(h, Q, h->q);
	pack(h, K, h->k);
	pack(h, V, h->v);
	gemm(false, true, h->sq, h->skv, h->d, h->q, h->k, h->scores);
	gemm(false, true, h->sq, h->skv, h->dv, d_o, h->v, h->gradient);
	weights(h, row_sums);
	gemm(true, false, h->skv, h->dv, h->sq, h->scores, d_o, d_v);
	unpack(h, DV, d_v, add_v);
	/* The scores are done with, Q and K are not. */
	gemm(true, false, h->skv, h->d, h->sq, h->gradient, h->q, h->scores);
	unpack(h, DK, h->scores, add_k);
	gemm(false, false, h->sq, h->d, h->skv, h->gradient, h->k, d_q);
	unpack(h, DQ, d_q, false);
}

static int length(const struct tfs_array *t, int batch, int size)
{
	int n = t->data ? (int)t->data[(ptrdiff_t)batch * t->view.stride[0]] : size;

	return n < 0 ? 0 : n > size ? size : n;
}

static size_t area(int a, int b)
{
	return (size_t)a * (size_t)b;
}

static int run(struct tfs_exec *exec, const struct tfs_step *step)
{
	const int *n = names_of(step->desc);
	struct tfs_array t[TENSORS];
	struct head h = {.t = t, .scale = 1.0f};
	float *row_sums = (float *)exec->workspace;
	size_t scores;

	for (int i = 0; i < TENSORS; i++)
		t[i] = n[i] ? tfs_exec_array(exec, step, n[i]) : (struct tfs_array){0};
	h.sq = t[Q].view.dim[2];
	h.d = t[Q].view.dim[3];
	h.skv = t[V].view.dim[2];
	h.dv = t[V].view.dim[3];
	if (t[SCALE].data)
		h.scale = *t[SCALE].data;
	/* Backward other matrices pass through the memory of scores. */
	scores = area(h.sq, h.skv) + area(h.skv, h.d) + area(h.sq, h.dv);
	h.q = malloc(sizeof(float) * (area(h.sq, h.d) + area(h.skv, h.d) + area(h.skv, h.dv) +
					     area(h.sq, h.dv) + 2 * scores));
	if (!h.q)
		return -1;
	h.k = h.q + area(h.sq, h.d);
	h.v = h.k + area(h.skv, h.d);
	h.o = h.v + area(h.skv, h.dv);
	h.scores = h.o + area(h.sq, h.dv);
	h.gradient = h.scores + scores;
	for (h.batch = 0; h.batch < t[Q].view.dim[0]; h.batch++) {
		h.used_q = length(&t[LENGTH_Q], h.batch, h.sq);
		h.used_kv = length(&t[LENGTH_KV], h.batch, h.skv);
		for (h.index = 0; h.index < t[Q].view.dim[1]; h.index++) {
			if (n[DQ])
				backward(&h, row_sums);
			else
				forward(&h);
			row_sums += n[DQ] ? h.sq : 0;
		}
	}
	free(h.q);
	return 0;
}

/* Backward: the sum of dO * O of every row. */
static size_t workspace(const struct tfs_backend *op, const struct tfs_engine *engine)
{
	struct tfs_view q = tfs_op_view(op, BWD(QDESC));

	(void)engine;
	return sizeof(float) * (size_t)q.dim[0] * area(q.dim[1], q.dim[2]);
}

const struct tfs_backend_op tfs_op_sdpa_forward = {
	.type = CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR,
	.inputs = {FWD(QDESC), FWD(KDESC), FWD(VDESC), FWD(SCALEDESC), FWD(SEQ_LEN_QDESC),
		FWD(SEQ_LEN_KVDESC)},
	.outputs = {FWD(ODESC), FWD(STATSDESC)},
	.check = check,
	.unsupported = unsupported,
	.flops = flops,
	.run = run,
};

const struct tfs_backend_op tfs_op_sdpa_backward = {
	.type = CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR,
	.inputs = {BWD(QDESC), BWD(KDESC), BWD(VDESC), BWD(ODESC), BWD(DODDESC), BWD(STATSDESC),
		BWD(SCALEDESC), BWD(SEQ_LEN_QDESC), BWD(SEQ_LEN_KVDESC)},
	.outputs = {BWD(DQDESC), BWD(DKDESC), BWD(DVDESC)},
	.check = check,
	.unsupported = unsupported,
	.flops = flops,
	.workspace = workspace,
	.run = run,
};
