/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/cudnn_conv.h"

static size_t aligned(size_t floats)
{
	return (floats * sizeof(float) + 255) / 256 * 256;
}

static size_t rows(const struct tfs_conv *c)
{
	return (size_t)(c->c / c->groups) * (size_t)c->flt[0] * (size_t)c->flt[1] *
	       (size_t)c->flt[2];
}

static size_t positions(const struct tfs_conv *c)
{
	return (size_t)c->out[0] * (size_t)c->out[1] * (size_t)c->out[2];
}

static size_t no_memory(const struct tfs_dnn_problem *p)
{
	(void)p;
	return 0;
}

static size_t offsets_memory(const struct tfs_dnn_problem *p)
{
	return aligned(rows(&p->conv) + positions(&p->conv) + 64);
}

static void offsets_layout(
	const struct tfs_dnn_problem *p, char *base, size_t size, struct tfs_conv_space *out_space)
{
	(void)size;
	out_space->rows = (int32_t *)(void *)base;
	out_space->positions = out_space->rows + rows(&p->conv);
}

static size_t column_memory(const struct tfs_dnn_problem *p)
{
	return aligned(rows(&p->conv) * positions(&p->conv) * (size_t)p->conv.groups);
}

static void column_layout(
	const struct tfs_dnn_problem *p, char *base, size_t size, struct tfs_conv_space *out_space)
{
	(void)p;
	(void)size;
	out_space->column = (float *)(void *)base;
}

static size_t filter_memory(const struct tfs_dnn_problem *p)
{
	return aligned(tfs_view_count(&p->w));
}

static void filter_layout(
	const struct tfs_dnn_problem *p, char *base, size_t size, struct tfs_conv_space *out_space)
{
	(void)p;
	(void)size;
	out_space->filter = (float *)(void *)base;
}

static int parts(const struct tfs_dnn_problem *p)
{
	return p->conv.n < 8 ? p->conv.n : 8;
}

static size_t partial_memory(const struct tfs_dnn_problem *p)
{
	return aligned(tfs_view_count(&p->w) * (size_t)parts(p));
}

static void partial_layout(
	const struct tfs_dnn_problem *p, char *base, size_t size, struct tfs_conv_space *out_space)
{
	(void)size;
	out_space->sums = (float *)(void *)base;
	out_space->parts = parts(p);
}

static size_t transform_memory(const struct tfs_dnn_problem *p, size_t tile, size_t points)
{
	const struct tfs_conv *c = &p->conv;
	size_t tiles =
		((size_t)c->out[1] + tile - 1) / tile * (((size_t)c->out[2] + tile - 1) / tile);
	size_t n = (size_t)c->n * tiles;

	return aligned(
		(n * (size_t)c->c + n * (size_t)c->k + (size_t)c->c * (size_t)c->k) * points);
}

/*
 * At the front what is transformed with the filter's shape, at the very end what has the output's;
 * each is smaller than its transform.
 */
static void transform_layout(
	const struct tfs_dnn_problem *p, char *base, size_t size, struct tfs_conv_space *out_space)
{
	size_t output = positions(&p->conv) * (size_t)p->conv.k * (size_t)p->conv.n;

	if (p->family == TFS_DNN_FILTER)
		out_space->sums = (float *)(void *)base;
	else
		out_space->filter = (float *)(void *)base;
	out_space->parts = 1;
	out_space->output = (float *)(void *)(base + size) - output;
}

static size_t fft_memory(const struct tfs_dnn_problem *p)
{
	const struct tfs_conv *c = &p->conv;
	size_t edge = 16;

	while (edge < (size_t)(c->in[1] + 2 * c->pad[1]) ||
		edge < (size_t)(c->in[2] + 2 * c->pad[2]))
		edge *= 2;
	return transform_memory(p, edge, edge * (edge / 2 + 1) * 2);
}

static size_t tiling_memory(const struct tfs_dnn_problem *p)
{
	return transform_memory(p, 28, 32 * 17 * 2);
}

static size_t winograd_memory(const struct tfs_dnn_problem *p)
{
	return transform_memory(p, 4, 36);
}

static bool always(const struct tfs_dnn_problem *p)
{
	(void)p;
	return true;
}

static bool never(const struct tfs_dnn_problem *p)
{
	(void)p;
	return false;
}

static bool plain_2d(const struct tfs_dnn_problem *p)
{
	const struct tfs_conv *c = &p->conv;

	if (p->x.nd != 4 || c->groups != 1)
		return false;
	for (int i = 1; i < 3; i++)
		if (c->stride[i] != 1 || c->dil[i] != 1)
			return false;
	return true;
}

static bool one_group(const struct tfs_dnn_problem *p)
{
	return p->conv.groups == 1;
}

static bool fft_applies(const struct tfs_dnn_problem *p)
{
	const struct tfs_conv *c = &p->conv;

	return plain_2d(p) && c->in[1] + 2 * c->pad[1] <= 256 && c->in[2] + 2 * c->pad[2] <= 256 &&
	       c->flt[1] > c->pad[1] && c->flt[2] > c->pad[2];
}

static bool tiling_applies(const struct tfs_dnn_problem *p)
{
	const struct tfs_conv *c = &p->conv;

	return plain_2d(p) && c->flt[1] <= 32 && c->flt[2] <= 32 && c->flt[1] > c->pad[1] &&
	       c->flt[2] > c->pad[2];
}

static bool winograd_applies(const struct tfs_dnn_problem *p)
{
	return plain_2d(p) && p->conv.flt[1] == 3 && p->conv.flt[2] == 3;
}

static bool nonfused_applies(const struct tfs_dnn_problem *p)
{
	const struct tfs_conv *c = &p->conv;

	return plain_2d(p) && c->flt[1] == c->flt[2] && (c->flt[1] == 3 || c->flt[1] == 5);
}

/*
 * Indexed by cuDNN's numbers. Within a family no two orders are equal, so that a changed algorithm
 * shows in the bits; a search has something to find (0 against 1) and something it must not take
 * (a faster one that is not deterministic or not plain).
 */
static const struct tfs_dnn_algo fwd[] = {
	{"tfsim_conv_fprop_algo0", NULL, true, 2.6, {true, 1, 0}, always, no_memory, NULL},
	{"tfsim_conv_fprop_algo1", "tfsim_conv_fprop_offsets", true, 1.0, {false, 1, 0}, always,
		offsets_memory, offsets_layout},
	{"tfsim_conv_fprop_algo2", "tfsim_im2col", true, 1.7, {false, 2, 0}, one_group,
		column_memory, column_layout},
	{"tfsim_conv_fprop_algo3", NULL, true, 1.0, {false, 1, 0}, never, no_memory, NULL},
	{"tfsim_conv_fprop_algo4", "tfsim_fft_r2c", true, 1.6, {true, 4, 0}, fft_applies,
		fft_memory, transform_layout},
	{"tfsim_conv_fprop_algo5", "tfsim_fft_r2c_tiled", true, 1.25, {true, 3, 0}, tiling_applies,
		tiling_memory, transform_layout},
	{"tfsim_conv_fprop_algo6", NULL, true, 0.85, {true, 2, 0}, winograd_applies, no_memory,
		NULL},
	{"tfsim_conv_fprop_algo7", "tfsim_winograd_input", true, 0.92, {false, 3, 0},
		nonfused_applies, winograd_memory, transform_layout},
};

static const struct tfs_dnn_algo data[] = {
	{"tfsim_conv_dgrad_algo0", NULL, false, 2.4, {false, 8, 0}, always, no_memory, NULL},
	{"tfsim_conv_dgrad_algo1", "tfsim_conv_dgrad_filter", true, 1.0, {false, 1, 0}, always,
		filter_memory, filter_layout},
	{"tfsim_conv_dgrad_algo2", "tfsim_fft_r2c", true, 1.6, {true, 4, 0}, fft_applies,
		fft_memory, transform_layout},
	{"tfsim_conv_dgrad_algo3", "tfsim_fft_r2c_tiled", true, 1.25, {true, 3, 0}, tiling_applies,
		tiling_memory, transform_layout},
	{"tfsim_conv_dgrad_algo4", NULL, true, 0.85, {true, 2, 0}, winograd_applies, no_memory,
		NULL},
	{"tfsim_conv_dgrad_algo5", "tfsim_winograd_input", true, 0.92, {false, 3, 0},
		nonfused_applies, winograd_memory, transform_layout},
};

static const struct tfs_dnn_algo filter[] = {
	{"tfsim_conv_wgrad_algo0", NULL, false, 2.5, {false, 8, 0}, always, no_memory, NULL},
	{"tfsim_conv_wgrad_algo1", "tfsim_conv_wgrad_offsets", true, 1.0, {false, 1, 0}, always,
		offsets_memory, offsets_layout},
	{"tfsim_conv_wgrad_algo2", "tfsim_fft_r2c", true, 1.6, {true, 4, 0}, fft_applies,
		fft_memory, transform_layout},
	{"tfsim_conv_wgrad_algo3", NULL, false, 0.8, {true, 8, 0}, always, partial_memory,
		partial_layout},
	{"tfsim_conv_wgrad_algo4", NULL, true, 1.0, {false, 1, 0}, never, no_memory, NULL},
	{"tfsim_conv_wgrad_algo5", "tfsim_winograd_input", true, 0.92, {false, 3, 0},
		nonfused_applies, winograd_memory, transform_layout},
	{"tfsim_conv_wgrad_algo6", "tfsim_fft_r2c_tiled", true, 1.25, {true, 3, 0}, tiling_applies,
		tiling_memory, transform_layout},
};

static const struct {
	const struct tfs_dnn_algo *rows;
	int count;
} families[TFS_DNN_FAMILIES] = {
	[TFS_DNN_FWD] = {fwd, sizeof(fwd) / sizeof(fwd[0])},
	[TFS_DNN_DATA] = {data, sizeof(data) / sizeof(data[0])},
	[TFS_DNN_FILTER] = {filter, sizeof(filter) / sizeof(filter[0])},
};

int tfs_dnn_algo_count(enum tfs_dnn_family family)
{
	return families[family].count;
}

const struct tfs_dnn_algo *tfs_dnn_algo_find(const struct tfs_dnn_problem *p, int algo)
{
	const struct tfs_dnn_algo *a;

	if (algo < 0 || algo >= families[p->family].count)
		return NULL;
	a = &families[p->family].rows[algo];
	return a->applies(p) ? a : NULL;
}

/* In hostile mode any algorithm may be the fastest; a seed always gives the same times. */
static double slower(const struct tfs_dnn_problem *p, int algo)
{
	double f = families[p->family].rows[algo].slower;

	if (tfsim_hostile_seed())
		f *= 0.5 + 0.25 * tfsim_hostile_pick(
					  0x600 + (uint64_t)p->family * 16 + (uint64_t)algo, 8);
	return p->conv.tf32 ? f * 0.6 : f;
}

struct tfs_dnn_work tfs_dnn_algo_work(const struct tfs_dnn_problem *p, int algo)
{
	const struct tfs_dnn_algo *a = &families[p->family].rows[algo];
	struct tfs_dnn_work w = {.name = a->name};

	w.bytes = 4 * (tfs_view_count(&p->x) + tfs_view_count(&p->w) + tfs_view_count(&p->y));
	w.flops = 2 * (uint64_t)rows(&p->conv) * tfs_view_count(&p->y);
	/* Documented: of float, default math may be TF32. */
	w.math = p->math == CUDNN_FMA_MATH ? TFSIM_SINGLE : TFSIM_TENSOR;
	w.slower = slower(p, algo) * (a->prologue ? 0.75 : 1.0);
	return w;
}

cudnnStatus_t tfs_dnn_algo_prologue(cudnnHandle_t handle, const struct tfs_dnn_problem *p, int algo,
	const struct tfs_dnn_work *with)
{
	const struct tfs_dnn_algo *a = &families[p->family].rows[algo];
	struct tfs_dnn_work w = with ? *with : (struct tfs_dnn_work){.name = NULL};
	const struct tfs_dnn_work whole = tfs_dnn_algo_work(p, algo);
	cudnnStatus_t rc;

	if (!a->prologue)
		return CUDNN_STATUS_SUCCESS;
	rc = tfs_dnn_load(a->prologue);
	if (rc)
		return rc;
	w.name = a->prologue;
	w.bytes = whole.bytes;
	w.flops = whole.flops;
	w.math = whole.math;
	w.slower = whole.slower / 3.0;
	return tfs_dnn_submit(handle, &w);
}
