/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "tests/sim/cublas/cublas_half.h"
#include "tests/sim/cudnn/backend/cudnn_opgraph.h"

bool tfs_type_known(cudnnDataType_t type)
{
	switch ((int)type) {
	case CUDNN_DATA_FLOAT:
	case CUDNN_DATA_DOUBLE:
	case CUDNN_DATA_HALF:
	case CUDNN_DATA_BFLOAT16:
	case CUDNN_DATA_INT8:
	case CUDNN_DATA_UINT8:
	case CUDNN_DATA_INT32:
	case CUDNN_DATA_INT64:
	case CUDNN_DATA_BOOLEAN:
		return true;
	default:
		return false;
	}
}

static float load(cudnnDataType_t type, const void *from, ptrdiff_t at)
{
	switch ((int)type) {
	case CUDNN_DATA_DOUBLE:
		return (float)((const double *)from)[at];
	case CUDNN_DATA_HALF:
		return tfs_float_of_half(((const uint16_t *)from)[at]);
	case CUDNN_DATA_BFLOAT16:
		return tfs_float_of_bfloat(((const uint16_t *)from)[at]);
	case CUDNN_DATA_INT8:
		return (float)((const int8_t *)from)[at];
	case CUDNN_DATA_UINT8:
	case CUDNN_DATA_BOOLEAN:
		return (float)((const uint8_t *)from)[at];
	case CUDNN_DATA_INT32:
		return (float)((const int32_t *)from)[at];
	case CUDNN_DATA_INT64:
		return (float)((const int64_t *)from)[at];
	default:
		return ((const float *)from)[at];
	}
}

/* To the nearest integer that the type has. */
static double whole(float value, double low, double high)
{
	double v = nearbyint((double)value);

	return v < low ? low : v > high ? high : v;
}

static void store(cudnnDataType_t type, float value, void *to, ptrdiff_t at)
{
	switch ((int)type) {
	case CUDNN_DATA_DOUBLE:
		((double *)to)[at] = (double)value;
		break;
	case CUDNN_DATA_HALF:
		((uint16_t *)to)[at] = tfs_half_of_float(value);
		break;
	case CUDNN_DATA_BFLOAT16:
		((uint16_t *)to)[at] = tfs_bfloat_of_float(value);
		break;
	case CUDNN_DATA_INT8:
		((int8_t *)to)[at] = (int8_t)whole(value, INT8_MIN, INT8_MAX);
		break;
	case CUDNN_DATA_UINT8:
		((uint8_t *)to)[at] = (uint8_t)whole(value, 0, UINT8_MAX);
		break;
	case CUDNN_DATA_BOOLEAN:
		((uint8_t *)to)[at] = value != 0.0f;
		break;
	case CUDNN_DATA_INT32:
		((int32_t *)to)[at] = (int32_t)whole(value, INT32_MIN, INT32_MAX);
		break;
	case CUDNN_DATA_INT64:
		((int64_t *)to)[at] = (int64_t)whole(value, -0x1p62, 0x1p62);
		break;
	default:
		((float *)to)[at] = value;
	}
}

struct convert {
	cudnnDataType_t type;
	const void *from;
	void *to;
};

static void load_row(size_t count, const ptrdiff_t *at, const ptrdiff_t *step, void *arg)
{
	const struct convert *c = arg;
	float *to = c->to;

	for (size_t i = 0; i < count; i++) {
		ptrdiff_t o = at[0] + (ptrdiff_t)i * step[0];

		to[o] = load(c->type, c->from, o);
	}
}

static void store_row(size_t count, const ptrdiff_t *at, const ptrdiff_t *step, void *arg)
{
	const struct convert *c = arg;
	const float *from = c->from;

	for (size_t i = 0; i < count; i++) {
		ptrdiff_t o = at[0] + (ptrdiff_t)i * step[0];

		store(c->type, from[o], c->to, o);
	}
}

static void round_row(size_t count, const ptrdiff_t *at, const ptrdiff_t *step, void *arg)
{
	const struct convert *c = arg;
	float *data = c->to;

	for (size_t i = 0; i < count; i++) {
		ptrdiff_t o = at[0] + (ptrdiff_t)i * step[0];
		uint64_t bits = 0;

		store(c->type, data[o], &bits, 0);
		data[o] = load(c->type, &bits, 0);
	}
}

void tfs_type_load(cudnnDataType_t type, const struct tfs_view *view, const void *from, float *to)
{
	struct convert c = {type, from, to};

	tfs_walk(view, &view, 1, load_row, &c);
}

void tfs_type_store(cudnnDataType_t type, const struct tfs_view *view, const float *from, void *to)
{
	struct convert c = {type, from, to};

	tfs_walk(view, &view, 1, store_row, &c);
}

void tfs_type_round(cudnnDataType_t type, const struct tfs_view *view, float *data)
{
	struct convert c = {type, NULL, data};

	if (type != CUDNN_DATA_FLOAT && type != CUDNN_DATA_DOUBLE)
		tfs_walk(view, &view, 1, round_row, &c);
}
