/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/backend/cudnn_opgraph.h"

#define LEVELS (2 * TFS_MATH_DIMS)

struct walk {
	int n, nd;
	int dim[LEVELS];
	ptrdiff_t step[LEVELS][TFS_WALK_VIEWS];
};

struct tfs_view tfs_view_widen(const struct tfs_view *view, int nd)
{
	struct tfs_view wide = {.nd = nd};
	int front = nd - view->nd;

	for (int i = 0; i < nd; i++) {
		wide.dim[i] = i < front ? 1 : view->dim[i - front];
		wide.stride[i] = i < front ? 1 : view->stride[i - front];
	}
	return wide;
}

bool tfs_walkable(const struct tfs_view *shape, const struct tfs_view *view)
{
	if (shape->nd != view->nd)
		return false;
	for (int i = 0; i < shape->nd; i++)
		if (shape->dim[i] % view->dim[i])
			return false;
	return true;
}

/* Levels that follow each other in memory for every view become one. */
static void push(struct walk *w, int dim, const ptrdiff_t *step)
{
	bool merge = w->nd > 0;

	if (dim == 1)
		return;
	for (int k = 0; k < w->n && merge; k++)
		merge = w->step[w->nd - 1][k] == step[k] * dim;
	if (!merge)
		w->dim[w->nd++] = 1;
	w->dim[w->nd - 1] *= dim;
	for (int k = 0; k < w->n; k++)
		w->step[w->nd - 1][k] = step[k];
}

static void push_dimension(
	struct walk *w, const struct tfs_view *shape, const struct tfs_view *const *views, int i)
{
	ptrdiff_t outer[TFS_WALK_VIEWS], inner[TFS_WALK_VIEWS];
	int factor = 1;

	for (int k = 0; k < w->n; k++)
		if (views[k]->dim[i] != 1 && views[k]->dim[i] != shape->dim[i])
			factor = shape->dim[i] / views[k]->dim[i];
	for (int k = 0; k < w->n; k++) {
		bool whole = views[k]->dim[i] == shape->dim[i];

		inner[k] = whole ? views[k]->stride[i] : 0;
		outer[k] = whole                   ? (ptrdiff_t)views[k]->stride[i] * factor
			   : views[k]->dim[i] == 1 ? 0
						   : views[k]->stride[i];
		if (shape->dim[i] == 1)
			inner[k] = outer[k] = 0;
	}
	push(w, shape->dim[i] / factor, outer);
	push(w, factor, inner);
}

void tfs_walk(const struct tfs_view *shape, const struct tfs_view *const *views, int n,
	tfs_walk_fn fn, void *arg)
{
	struct walk w = {.n = n};
	int count[LEVELS] = {0};
	ptrdiff_t at[TFS_WALK_VIEWS] = {0};

	for (int i = 0; i < shape->nd; i++)
		push_dimension(&w, shape, views, i);
	if (!w.nd)
		w.dim[w.nd++] = 1;
	for (;;) {
		int i;

		fn((size_t)w.dim[w.nd - 1], at, w.step[w.nd - 1], arg);
		for (i = w.nd - 2; i >= 0; i--) {
			for (int k = 0; k < n; k++)
				at[k] += w.step[i][k];
			if (++count[i] < w.dim[i])
				break;
			for (int k = 0; k < n; k++)
				at[k] -= w.step[i][k] * w.dim[i];
			count[i] = 0;
		}
		if (i < 0)
			return;
	}
}
