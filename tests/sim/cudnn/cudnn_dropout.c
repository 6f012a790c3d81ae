/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/cudnn/cudnn_desc.h"

#define STATES_BYTES ((size_t)256 << 10)

struct cudnnDropoutStruct {
	float rate;
	void *states;
	uint64_t seed;
};

/* One of the generators, in device memory. The first counts for all: each run goes on from it. */
struct states {
	uint64_t seed, next;
};

#define GENERATORS (STATES_BYTES / sizeof(struct states))

TFS_DNN_API cudnnStatus_t cudnnCreateDropoutDescriptor(cudnnDropoutDescriptor_t *dropoutDesc)
{
	if (!dropoutDesc)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	*dropoutDesc = calloc(1, sizeof(**dropoutDesc));
	return *dropoutDesc ? CUDNN_STATUS_SUCCESS
			    : CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
}

TFS_DNN_API cudnnStatus_t cudnnDestroyDropoutDescriptor(cudnnDropoutDescriptor_t dropoutDesc)
{
	free(dropoutDesc);
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnDropoutGetStatesSize(cudnnHandle_t handle, size_t *sizeInBytes)
{
	if (!handle || !sizeInBytes)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	*sizeInBytes = STATES_BYTES;
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnDropoutGetReserveSpaceSize(
	cudnnTensorDescriptor_t xdesc, size_t *sizeInBytes)
{
	if (!xdesc || !xdesc->v.nd || !sizeInBytes)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	*sizeInBytes = (tfs_view_count(&xdesc->v) + 7) / 8;
	return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t describe(cudnnDropoutDescriptor_t d, cudnnHandle_t handle, float rate,
	void *states, size_t size, uint64_t seed)
{
	if (!d || !handle)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	if (rate < 0.0f || rate > 1.0f)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "rate");
	if (states && size < STATES_BYTES)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT, "states");
	d->rate = rate;
	d->states = states;
	d->seed = seed;
	return CUDNN_STATUS_SUCCESS;
}

struct start {
	struct states *states;
	uint64_t seed;
};

static void run_start(void *args)
{
	const struct start *s = args;

	for (size_t i = 0; i < GENERATORS; i++)
		s->states[i] = (struct states){.seed = s->seed};
}

TFS_DNN_API cudnnStatus_t cudnnSetDropoutDescriptor(cudnnDropoutDescriptor_t dropoutDesc,
	cudnnHandle_t handle, float dropout, void *states, size_t stateSizeInBytes,
	unsigned long long seed)
{
	struct start s = {states, seed};
	struct tfs_dnn_work w = {.name = "tfsim_dropout_states",
		.run = run_start,
		.args = &s,
		.args_size = sizeof(s),
		.bytes = STATES_BYTES};
	cudnnStatus_t rc = describe(dropoutDesc, handle, dropout, states, stateSizeInBytes, seed);

	if (rc || !states)
		return rc;
	w.writes[0] = states;
	w.write_bytes[0] = STATES_BYTES;
	return tfs_dnn_submit(handle, &w);
}

TFS_DNN_API cudnnStatus_t cudnnRestoreDropoutDescriptor(cudnnDropoutDescriptor_t dropoutDesc,
	cudnnHandle_t handle, float dropout, void *states, size_t stateSizeInBytes,
	unsigned long long seed)
{
	return describe(dropoutDesc, handle, dropout, states, stateSizeInBytes, seed);
}

TFS_DNN_API cudnnStatus_t cudnnGetDropoutDescriptor(cudnnDropoutDescriptor_t dropoutDesc,
	cudnnHandle_t handle, float *dropout, void **states, unsigned long long *seed)
{
	if (!dropoutDesc || !handle || !dropout || !states || !seed)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	*dropout = dropoutDesc->rate;
	*states = dropoutDesc->states;
	*seed = dropoutDesc->seed;
	return CUDNN_STATUS_SUCCESS;
}

struct args {
	float rate;
	struct states *states; /* NULL backwards */
	struct tfs_view xv, yv;
	const float *x;
	float *y;
	unsigned char *mask;
	size_t place; /* counts elements during the walk */
};

/* The seed is that of the element's own generator, from the last one down. */
static float draw(struct states *s, size_t place)
{
	uint64_t seed = s[GENERATORS - 1 - place % GENERATORS].seed;
	uint64_t x = seed ^ ++s->next * 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return (float)((x ^ x >> 31) >> 40) * 0x1p-24f;
}

static void row(size_t count, float *const *p, const ptrdiff_t *step, const void *arg)
{
	struct args *a = *(struct args *const *)arg;
	float scale = a->rate < 1.0f ? 1.0f / (1.0f - a->rate) : 0.0f;
	float *y = p[0];
	const float *x = p[1];

	for (size_t i = 0; i < count; i++, y += step[0], x += step[1], a->place++) {
		unsigned char bit = (unsigned char)(1u << a->place % 8);

		if (a->states && draw(a->states, a->place) >= a->rate)
			a->mask[a->place / 8] |= bit;
		*y = a->mask[a->place / 8] & bit ? *x * scale : 0.0f;
	}
}

static void run(void *args)
{
	struct args a = *(const struct args *)args, *to = &a;
	struct tfs_operand op[2] = {{a.y, &a.yv}, {(float *)a.x, &a.xv}};

	if (a.states)
		memset(a.mask, 0, (tfs_view_count(&a.yv) + 7) / 8);
	tfs_map(op, 2, row, &to);
}

static cudnnStatus_t submit(cudnnHandle_t handle, const char *name, struct args *a,
	cudnnTensorDescriptor_t xd, cudnnTensorDescriptor_t yd, size_t reserve)
{
	struct tfs_dnn_work w = {.name = name, .run = run, .args = a, .args_size = sizeof(*a)};
	cudnnStatus_t rc = tfs_dnn_check((cudnnTensorDescriptor_t[]){xd, yd}, 2);

	if (rc)
		return rc;
	if (!handle || !a->x || !a->y || !a->mask)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	if (!tfs_view_same_dims(&xd->v, &yd->v))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "dimensions");
	if (reserve < (tfs_view_count(&xd->v) + 7) / 8)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT, "reserve space");
	a->xv = xd->v;
	a->yv = yd->v;
	w.bytes = 8 * tfs_view_count(&xd->v);
	w.flops = 100 * tfs_view_count(&xd->v);
	w.reads[0] = a->x;
	w.read_bytes[0] = tfs_dnn_bytes(&a->xv);
	w.writes[0] = a->y;
	w.write_bytes[0] = tfs_dnn_bytes(&a->yv);
	w.writes[1] = a->states ? a->mask : NULL;
	w.write_bytes[1] = (tfs_view_count(&xd->v) + 7) / 8;
	return tfs_dnn_submit(handle, &w);
}

TFS_DNN_API cudnnStatus_t cudnnDropoutForward(cudnnHandle_t handle,
	const cudnnDropoutDescriptor_t dropoutDesc, const cudnnTensorDescriptor_t xdesc,
	const void *x, const cudnnTensorDescriptor_t ydesc, void *y, void *reserveSpace,
	size_t reserveSpaceSizeInBytes)
{
	struct args a = {.x = x, .y = y, .mask = reserveSpace};

	if (!dropoutDesc || !dropoutDesc->states)
		return tfs_dnn_fail(
			CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "descriptor without states");
	a.rate = dropoutDesc->rate;
	a.states = dropoutDesc->states;
	return submit(handle, "tfsim_dropout_fprop", &a, xdesc, ydesc, reserveSpaceSizeInBytes);
}

TFS_DNN_API cudnnStatus_t cudnnDropoutBackward(cudnnHandle_t handle,
	const cudnnDropoutDescriptor_t dropoutDesc, const cudnnTensorDescriptor_t dydesc,
	const void *dy, const cudnnTensorDescriptor_t dxdesc, void *dx, void *reserveSpace,
	size_t reserveSpaceSizeInBytes)
{
	struct args a = {.x = dy, .y = dx, .mask = reserveSpace};

	if (!dropoutDesc)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "descriptor");
	a.rate = dropoutDesc->rate;
	return submit(handle, "tfsim_dropout_bprop", &a, dydesc, dxdesc, reserveSpaceSizeInBytes);
}
