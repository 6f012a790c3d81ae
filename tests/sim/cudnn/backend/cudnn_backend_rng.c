/* SPDX-License-Identifier: MIT */
/*
 * Random tensors. An element depends on seed, offset and its index only, so that a backward graph
 * draws what the forward one drew.
 */
#include <math.h>

#include "tests/sim/cudnn/backend/cudnn_backend_op.h"

#define ATTR(name) CUDNN_ATTR_OPERATION_RNG_##name

static const struct tfs_backend *params_of(const struct tfs_backend *op)
{
	return tfs_backend_child(op, CUDNN_ATTR_OPERATION_RNG_DESC);
}

static cudnnStatus_t check(const struct tfs_backend *op)
{
	cudnnStatus_t rc = tfs_op_check_tensors(op, &tfs_op_rng);

	if (rc)
		return rc;
	if (params_of(op)->type != CUDNN_BACKEND_RNG_DESCRIPTOR)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, "rng");
	return CUDNN_STATUS_SUCCESS;
}

static bool sliceable(const struct tfs_backend *op)
{
	(void)op;
	return true;
}

static uint64_t flops(const struct tfs_backend *op)
{
	struct tfs_view y = tfs_op_view(op, ATTR(YDESC));

	return 10 * tfs_view_count(&y);
}

struct rows {
	float *y;
	uint64_t key, index;
	int distribution;
	double a, b;
};

static double uniform(uint64_t key, uint64_t index)
{
	uint64_t x = key + (index + 1) * 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

static double draw(const struct rows *r, uint64_t index)
{
	double u = uniform(r->key, 2 * index);

	if (r->distribution == CUDNN_RNG_DISTRIBUTION_BERNOULLI)
		return u < r->a;
	if (r->distribution == CUDNN_RNG_DISTRIBUTION_UNIFORM)
		return r->a + u * (r->b - r->a);
	return r->a + r->b * sqrt(-2.0 * log(1.0 - u)) *
			      cos(6.283185307179586 * uniform(r->key, 2 * index + 1));
}

/* Rows come in the order of the packed index. */
static void row(size_t count, const ptrdiff_t *at, const ptrdiff_t *step, void *arg)
{
	struct rows *r = arg;

	for (size_t i = 0; i < count; i++)
		r->y[at[0] + (ptrdiff_t)i * step[0]] = (float)draw(r, r->index++);
}

static int run(struct tfs_exec *exec, const struct tfs_step *step)
{
	const struct tfs_backend *op = step->desc, *p = params_of(op);
	struct tfs_array y = tfs_exec_array(exec, step, ATTR(YDESC));
	const struct tfs_view *view = &y.view;
	uint64_t seed = (uint64_t)(tfs_backend_child(op, ATTR(SEED))
					   ? tfs_exec_integer(exec, step, ATTR(SEED))
					   : tfs_backend_int(op, ATTR(SEED), 0));
	uint64_t offset = (uint64_t)tfs_exec_integer(exec, step, ATTR(OFFSET_DESC));
	struct rows r = {.y = y.data,
		.key = seed * 0xd1342543de82ef95u ^ offset * 0xaf251af3b0f025b5u,
		.index = (uint64_t)exec->slice * tfs_view_count(view)};

	r.distribution = (int)tfs_backend_int(p, CUDNN_ATTR_RNG_DISTRIBUTION, 0);
	if (r.distribution == CUDNN_RNG_DISTRIBUTION_BERNOULLI) {
		r.a = tfs_backend_real(p, CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, 0.5);
	} else if (r.distribution == CUDNN_RNG_DISTRIBUTION_UNIFORM) {
		r.a = tfs_backend_real(p, CUDNN_ATTR_RNG_UNIFORM_DIST_MINIMUM, 0.0);
		r.b = tfs_backend_real(p, CUDNN_ATTR_RNG_UNIFORM_DIST_MAXIMUM, 1.0);
	} else {
		r.a = tfs_backend_real(p, CUDNN_ATTR_RNG_NORMAL_DIST_MEAN, 0.0);
		r.b = tfs_backend_real(p, CUDNN_ATTR_RNG_NORMAL_DIST_STANDARD_DEVIATION, 1.0);
	}
	tfs_walk(view, &view, 1, row, &r);
	return 0;
}

const struct tfs_backend_op tfs_op_rng = {
	.type = CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR,
	.inputs = {ATTR(SEED), ATTR(OFFSET_DESC)},
	.outputs = {ATTR(YDESC)},
	.check = check,
	.sliceable = sliceable,
	.flops = flops,
	.run = run,
};
