/* SPDX-License-Identifier: MIT */
#include "rules/rewrites/search.h"

#include <cuda.h>
#include <sched.h>
#include <string.h>

#include "shim/clock.h"
#include "shim/hook.h"

#define PATIENCE_NS UINT64_C(250000000)    /* for the program's work to end */
#define MARGIN_BYTES (UINT64_C(256) << 20) /* left free on the device */

static struct {
	__typeof__(&cudnnFindConvolutionForwardAlgorithmEx) forward;
	__typeof__(&cudnnFindConvolutionBackwardDataAlgorithmEx) data;
	__typeof__(&cudnnFindConvolutionBackwardFilterAlgorithmEx) filter;
	CUresult (*allocate)(CUdeviceptr *, size_t);
	CUresult (*free)(CUdeviceptr);
	CUresult (*info)(size_t *, size_t *);
	CUresult (*query)(CUstream);
} real;

#define LOOK_UP(field, library, name)                                                              \
	(real.field = (__typeof__(real.field))tfs_lookup_named(TFS_LIBRARY_##library, name))

bool tfs_search_start(void)
{
	return LOOK_UP(forward, cudnn, "cudnnFindConvolutionForwardAlgorithmEx") &&
	       LOOK_UP(data, cudnn, "cudnnFindConvolutionBackwardDataAlgorithmEx") &&
	       LOOK_UP(filter, cudnn, "cudnnFindConvolutionBackwardFilterAlgorithmEx") &&
	       LOOK_UP(allocate, cuda, "cuMemAlloc_v2") && LOOK_UP(free, cuda, "cuMemFree_v2") &&
	       LOOK_UP(info, cuda, "cuMemGetInfo_v2") && LOOK_UP(query, cuda, "cuStreamQuery");
}

bool tfs_search_idle(cudnnHandle_t handle)
{
	const CUstream streams[] = {(CUstream)tfs_cudnn_stream(handle), NULL};
	const uint64_t until = tfs_clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
	CUresult status = CUDA_SUCCESS;

	for (int i = 0; i < 2 && status == CUDA_SUCCESS; i++) {
		status = real.query(streams[i]);
		while (status == CUDA_ERROR_NOT_READY && tfs_clock_ns(CLOCK_MONOTONIC) < until) {
			sched_yield();
			status = real.query(streams[i]);
		}
	}
	return status == CUDA_SUCCESS;
}

void *tfs_search_allocate(uint64_t bytes)
{
	size_t available;
	size_t all;
	CUdeviceptr memory = 0;

	if (bytes == 0)
		bytes = 1;
	if (real.info(&available, &all) != CUDA_SUCCESS || available < bytes + MARGIN_BYTES ||
		real.allocate(&memory, bytes) != CUDA_SUCCESS)
		return NULL;
	return (void *)(uintptr_t)memory;
}

void tfs_search_free(void *memory)
{
	if (memory != NULL)
		real.free((CUdeviceptr)(uintptr_t)memory);
}

/* Not reproducible, whatever the flags say: cuDNN's documentation names them. */
static bool known_to_vary(enum tfs_family family, int algorithm)
{
	if (family == TFS_FAMILY_conv_backward_filter)
		return algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0 ||
		       algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3;
	return family == TFS_FAMILY_conv_backward_data &&
	       algorithm == CUDNN_CONVOLUTION_BWD_DATA_ALGO_0;
}

struct scratch {
	void *x;
	void *w;
	void *y;
	void *workspace;
	uint64_t workspace_bytes;
};

static void give_back(struct scratch *scratch)
{
	tfs_search_free(scratch->x);
	tfs_search_free(scratch->w);
	tfs_search_free(scratch->y);
	tfs_search_free(scratch->workspace);
}

static bool get_scratch(const struct tfs_search *search, struct scratch *out)
{
	struct tfs_tensor x;
	struct tfs_tensor w;
	struct tfs_tensor y;

	memset(out, 0, sizeof(*out));
	if (!tfs_tensor_read(search->x, &x) || !tfs_filter_read(search->w, &w) ||
		!tfs_tensor_read(search->y, &y))
		return false;
	out->x = tfs_search_allocate(x.bytes);
	out->w = tfs_search_allocate(w.bytes);
	out->y = tfs_search_allocate(y.bytes);
	/* As much as can be had up to the limit: algorithms that need more are not tried. */
	out->workspace_bytes = search->workspace_limit;
	while (out->workspace == NULL && out->workspace_bytes >= 1u << 20) {
		out->workspace = tfs_search_allocate(out->workspace_bytes);
		if (out->workspace == NULL)
			out->workspace_bytes /= 2;
	}
	if (out->workspace == NULL)
		out->workspace_bytes = 0;
	if (out->x != NULL && out->w != NULL && out->y != NULL)
		return true;
	give_back(out);
	return false;
}

/* The three directions' entries have one layout; only the type of `algo` differs. */
_Static_assert(sizeof(cudnnConvolutionFwdAlgoPerf_t) == sizeof(cudnnConvolutionBwdDataAlgoPerf_t) &&
		       sizeof(cudnnConvolutionFwdAlgoPerf_t) ==
			       sizeof(cudnnConvolutionBwdFilterAlgoPerf_t),
	"one layout");

static cudnnStatus_t find(const struct tfs_search *search, const struct scratch *scratch, int most,
	int *out_count, cudnnConvolutionFwdAlgoPerf_t *out_list)
{
	switch (search->family) {
	case TFS_FAMILY_conv_forward:
		return real.forward(search->handle, search->x, scratch->x, search->w, scratch->w,
			search->convolution, search->y, scratch->y, most, out_count, out_list,
			scratch->workspace, scratch->workspace_bytes);
	case TFS_FAMILY_conv_backward_data:
		return real.data(search->handle, search->w, scratch->w, search->y, scratch->y,
			search->convolution, search->x, scratch->x, most, out_count,
			(cudnnConvolutionBwdDataAlgoPerf_t *)out_list, scratch->workspace,
			scratch->workspace_bytes);
	case TFS_FAMILY_conv_backward_filter:
		return real.filter(search->handle, search->x, scratch->x, search->y, scratch->y,
			search->convolution, search->w, scratch->w, most, out_count,
			(cudnnConvolutionBwdFilterAlgoPerf_t *)out_list, scratch->workspace,
			scratch->workspace_bytes);
	default:
		return CUDNN_STATUS_BAD_PARAM;
	}
}

struct samples {
	uint32_t count;
	float ms[TFS_SEARCH_REPEATS];
};

static void take(const struct tfs_search *search, const cudnnConvolutionFwdAlgoPerf_t *entry,
	struct tfs_candidate *candidates, struct samples *samples)
{
	const int algorithm = (int)entry->algo;

	if (entry->status != CUDNN_STATUS_SUCCESS || algorithm < 0 ||
		algorithm >= (int)TFS_SEARCH_ALGORITHMS || entry->mathType != search->math ||
		samples[algorithm].count == TFS_SEARCH_REPEATS)
		return;
	samples[algorithm].ms[samples[algorithm].count++] = entry->time;
	candidates[algorithm].workspace = entry->memory;
	candidates[algorithm].deterministic = entry->determinism == CUDNN_DETERMINISTIC &&
					      !known_to_vary(search->family, algorithm);
}

static void summarise(const struct samples *samples, struct tfs_candidate *candidate)
{
	const float *ms = samples->ms;
	const float low = ms[0] < ms[1] ? ms[0] : ms[1];
	const float high = ms[0] < ms[1] ? ms[1] : ms[0];

	if (samples->count < TFS_SEARCH_REPEATS)
		return;
	candidate->available = true;
	candidate->median_ms = ms[2] < low ? low : ms[2] > high ? high : ms[2];
	candidate->spread_ms = (ms[2] > high ? ms[2] : high) - (ms[2] < low ? ms[2] : low);
}

enum tfs_search_result tfs_search_run(
	const struct tfs_search *search, struct tfs_candidate out_candidates[TFS_SEARCH_ALGORITHMS])
{
	cudnnConvolutionFwdAlgoPerf_t list[TFS_SEARCH_ALGORITHMS * 2];
	struct samples samples[TFS_SEARCH_ALGORITHMS] = {0};
	struct scratch scratch;
	cudnnStatus_t status = CUDNN_STATUS_SUCCESS;

	memset(out_candidates, 0, TFS_SEARCH_ALGORITHMS * sizeof(*out_candidates));
	if (!get_scratch(search, &scratch))
		return TFS_SEARCH_NO_MEMORY;
	struct scratch used = scratch;
	if (search->live_x != NULL) {
		used.x = search->live_x;
		used.w = search->live_w;
		used.y = search->live_y;
	}
	for (uint32_t i = 0; i < TFS_SEARCH_REPEATS && status == CUDNN_STATUS_SUCCESS; i++) {
		int count = 0;

		status = find(search, &used, (int)(sizeof(list) / sizeof(list[0])), &count, list);
		for (int k = 0; k < count && status == CUDNN_STATUS_SUCCESS; k++)
			take(search, &list[k], out_candidates, samples);
	}
	give_back(&scratch);
	for (uint32_t i = 0; i < TFS_SEARCH_ALGORITHMS; i++)
		summarise(&samples[i], &out_candidates[i]);
	return status == CUDNN_STATUS_SUCCESS ? TFS_SEARCH_DONE : TFS_SEARCH_FAILED;
}
