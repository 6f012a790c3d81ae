/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/math/cudnn_math.h"

size_t tfs_view_count(const struct tfs_view *v)
{
	size_t n = 1;

	for (int i = 0; i < v->nd; i++)
		n *= (size_t)v->dim[i];
	return n;
}

size_t tfs_view_span(const struct tfs_view *v)
{
	size_t last = 0;

	for (int i = 0; i < v->nd; i++)
		last += (size_t)(v->dim[i] - 1) * (size_t)v->stride[i];
	return last + 1;
}

void tfs_view_pack(struct tfs_view *v)
{
	int stride = 1;

	for (int i = v->nd - 1; i >= 0; i--) {
		v->stride[i] = stride;
		stride *= v->dim[i];
	}
}

bool tfs_view_same_dims(const struct tfs_view *a, const struct tfs_view *b)
{
	if (a->nd != b->nd)
		return false;
	for (int i = 0; i < a->nd; i++)
		if (a->dim[i] != b->dim[i])
			return false;
	return true;
}

bool tfs_view_broadcasts(const struct tfs_view *a, const struct tfs_view *b)
{
	if (a->nd != b->nd)
		return false;
	for (int i = 0; i < a->nd; i++)
		if (a->dim[i] != b->dim[i] && a->dim[i] != 1)
			return false;
	return true;
}

#define MAX_OPERANDS 4

struct walk {
	int n;
	int nd;
	int dim[TFS_MATH_DIMS];
	ptrdiff_t step[TFS_MATH_DIMS][MAX_OPERANDS];
};

/* Dimensions that follow each other in memory for every operand become one. */
static void add_dim(struct walk *w, int dim, const ptrdiff_t *step)
{
	bool merge = w->nd > 0;

	for (int k = 0; k < w->n && merge; k++)
		merge = w->step[w->nd - 1][k] == step[k] * dim;
	if (!merge) {
		w->dim[w->nd] = 1;
		w->nd++;
	}
	w->dim[w->nd - 1] *= dim;
	for (int k = 0; k < w->n; k++)
		w->step[w->nd - 1][k] = step[k];
}

static void plan(struct walk *w, const struct tfs_operand *op, int n)
{
	const struct tfs_view *out = op[0].view;

	w->n = n;
	w->nd = 0;
	for (int i = 0; i < out->nd; i++) {
		ptrdiff_t step[MAX_OPERANDS];

		if (out->dim[i] == 1)
			continue;
		for (int k = 0; k < n; k++)
			step[k] = op[k].view->dim[i] == 1 ? 0 : op[k].view->stride[i];
		add_dim(w, out->dim[i], step);
	}
	if (w->nd == 0) {
		ptrdiff_t none[MAX_OPERANDS] = {0};

		add_dim(w, 1, none);
	}
}

void tfs_map(const struct tfs_operand *op, int n, tfs_row_fn row, const void *arg)
{
	struct walk w;
	int at[TFS_MATH_DIMS] = {0};
	float *p[MAX_OPERANDS];
	int inner;

	plan(&w, op, n);
	for (int k = 0; k < n; k++)
		p[k] = op[k].data;
	inner = w.nd - 1;
	for (;;) {
		int i;

		row((size_t)w.dim[inner], p, w.step[inner], arg);
		for (i = inner - 1; i >= 0; i--) {
			for (int k = 0; k < n; k++)
				p[k] += w.step[i][k];
			if (++at[i] < w.dim[i])
				break;
			for (int k = 0; k < n; k++)
				p[k] -= w.step[i][k] * w.dim[i];
			at[i] = 0;
		}
		if (i < 0)
			return;
	}
}
