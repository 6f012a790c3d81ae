/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/cudnn_search/search.h"

#include <string.h>

#include "shim/base/clock.h"
#include "shim/base/mutant.h"
#include "shim/resolve/direct.h"
#include "shim/rewrites/cudnn_search/cudnn_search.h"
#include "shim/rewrites/cudnn_search/search_fences.h"
#include "shim/rewrites/cudnn_search/search_handle.h"
#include "shim/rewrites/cudnn_search/search_scratch.h"
#include "shim/rewrites/cudnn_search/search_verify.h"

/* The three directions' entries have one layout; only the type of `algo` differs. */
_Static_assert(sizeof(cudnnConvolutionFwdAlgoPerf_t) == sizeof(cudnnConvolutionBwdDataAlgoPerf_t) &&
		       sizeof(cudnnConvolutionFwdAlgoPerf_t) ==
			       sizeof(cudnnConvolutionBwdFilterAlgoPerf_t),
	"one layout");

static cudnnStatus_t find_forward(struct tfs_search_device *device, const struct tfs_search *search,
	const struct tfs_scratch *scratch, int most, int *out_count,
	cudnnConvolutionFwdAlgoPerf_t *out_list)
{
	const __typeof__(&cudnnFindConvolutionForwardAlgorithmEx) find =
		TFS_DIRECT(cudnnFindConvolutionForwardAlgorithmEx);

	return find ? find(tfs_search_handle(device), search->x, scratch->x, search->w, scratch->w,
			      search->convolution, search->y, scratch->y, most, out_count, out_list,
			      scratch->workspace, scratch->workspace_bytes)
		    : CUDNN_STATUS_NOT_SUPPORTED;
}

static cudnnStatus_t find_data(struct tfs_search_device *device, const struct tfs_search *search,
	const struct tfs_scratch *scratch, int most, int *out_count,
	cudnnConvolutionFwdAlgoPerf_t *out_list)
{
	const __typeof__(&cudnnFindConvolutionBackwardDataAlgorithmEx) find =
		TFS_DIRECT(cudnnFindConvolutionBackwardDataAlgorithmEx);

	return find ? find(tfs_search_handle(device), search->w, scratch->w, search->y, scratch->y,
			      search->convolution, search->x, scratch->x, most, out_count,
			      (cudnnConvolutionBwdDataAlgoPerf_t *)out_list, scratch->workspace,
			      scratch->workspace_bytes)
		    : CUDNN_STATUS_NOT_SUPPORTED;
}

static cudnnStatus_t find_filter(struct tfs_search_device *device, const struct tfs_search *search,
	const struct tfs_scratch *scratch, int most, int *out_count,
	cudnnConvolutionFwdAlgoPerf_t *out_list)
{
	const __typeof__(&cudnnFindConvolutionBackwardFilterAlgorithmEx) find =
		TFS_DIRECT(cudnnFindConvolutionBackwardFilterAlgorithmEx);

	return find ? find(tfs_search_handle(device), search->x, scratch->x, search->y, scratch->y,
			      search->convolution, search->w, scratch->w, most, out_count,
			      (cudnnConvolutionBwdFilterAlgoPerf_t *)out_list, scratch->workspace,
			      scratch->workspace_bytes)
		    : CUDNN_STATUS_NOT_SUPPORTED;
}

static cudnnStatus_t find(struct tfs_search_device *device, const struct tfs_search *search,
	const struct tfs_scratch *scratch, int most, int *out_count,
	cudnnConvolutionFwdAlgoPerf_t *out_list)
{
	switch (search->family) {
	case TFS_FAMILY_conv_forward:
		return find_forward(device, search, scratch, most, out_count, out_list);
	case TFS_FAMILY_conv_backward_data:
		return find_data(device, search, scratch, most, out_count, out_list);
	case TFS_FAMILY_conv_backward_filter:
		return find_filter(device, search, scratch, most, out_count, out_list);
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
					      !tfs_search_varies(search->family, algorithm);
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

static enum tfs_search_result measure(struct tfs_search_device *device,
	const struct tfs_search *search, const struct tfs_scratch *scratch, uint64_t until_ns,
	struct tfs_candidate *candidates)
{
	cudnnConvolutionFwdAlgoPerf_t list[TFS_SEARCH_ALGORITHMS * 2];
	struct samples samples[TFS_SEARCH_ALGORITHMS] = {0};
	const uint64_t start_ns = tfs_clock_ns(CLOCK_MONOTONIC);

	for (uint32_t i = 0; i < TFS_SEARCH_REPEATS; i++) {
		const uint64_t now_ns = tfs_clock_ns(CLOCK_MONOTONIC);
		int count = 0;

		if (i > 0 && now_ns + (now_ns - start_ns) / i > until_ns)
			return TFS_SEARCH_NO_TIME;
		if (find(device, search, scratch, (int)(sizeof(list) / sizeof(list[0])), &count,
			    list) != CUDNN_STATUS_SUCCESS)
			return TFS_SEARCH_FAILED;
		for (int k = 0; k < count; k++)
			take(search, &list[k], candidates, samples);
	}
	for (uint32_t i = 0; i < TFS_SEARCH_ALGORITHMS; i++)
		summarise(&samples[i], &candidates[i]);
	return TFS_SEARCH_DONE;
}

enum tfs_search_result tfs_search_run(struct tfs_search_device *device,
	const struct tfs_search *search, const struct tfs_search_limits *limits, int asked,
	struct tfs_candidate out_candidates[TFS_SEARCH_ALGORITHMS])
{
	struct tfs_scratch scratch;

	memset(out_candidates, 0, TFS_SEARCH_ALGORITHMS * sizeof(*out_candidates));
	if (!tfs_scratch_get(device, search, limits, &scratch))
		return TFS_SEARCH_NO_MEMORY;
	struct tfs_scratch used = scratch;
	const bool live = TFS_MUTANT(TFS_SEARCH_NAIVE_LIVE) && search->live_x;
	if (live) {
		used.x = search->live_x;
		used.w = search->live_w;
		used.y = search->live_y;
	}
	enum tfs_search_result result =
		measure(device, search, &used, limits->until_ns, out_candidates);
	if (result == TFS_SEARCH_DONE && (asked < 0 || asked >= (int)TFS_SEARCH_ALGORITHMS ||
						 !out_candidates[asked].available))
		result = TFS_SEARCH_FAILED;
	if (result == TFS_SEARCH_DONE && !live) {
		const int chosen =
			tfs_search_best(search->family, out_candidates, asked, search->most);

		if (chosen != asked &&
			!tfs_search_same(device, search, &scratch, out_candidates, asked, chosen))
			result = TFS_SEARCH_DIFFERS;
	}
	tfs_scratch_give_back(device, &scratch);
	return result;
}

bool tfs_search_need(const struct tfs_search *search, int algorithm, uint64_t *out_bytes)
{
	const __typeof__(&cudnnGetConvolutionForwardWorkspaceSize) forward =
		TFS_DIRECT(cudnnGetConvolutionForwardWorkspaceSize);
	const __typeof__(&cudnnGetConvolutionBackwardDataWorkspaceSize) data =
		TFS_DIRECT(cudnnGetConvolutionBackwardDataWorkspaceSize);
	const __typeof__(&cudnnGetConvolutionBackwardFilterWorkspaceSize) filter =
		TFS_DIRECT(cudnnGetConvolutionBackwardFilterWorkspaceSize);
	cudnnStatus_t status = CUDNN_STATUS_NOT_SUPPORTED;
	size_t bytes = 0;

	if (search->family == TFS_FAMILY_conv_forward && forward)
		status = forward(search->handle, search->x, search->w, search->convolution,
			search->y, (cudnnConvolutionFwdAlgo_t)algorithm, &bytes);
	else if (search->family == TFS_FAMILY_conv_backward_data && data)
		status = data(search->handle, search->w, search->y, search->convolution, search->x,
			(cudnnConvolutionBwdDataAlgo_t)algorithm, &bytes);
	else if (search->family == TFS_FAMILY_conv_backward_filter && filter)
		status = filter(search->handle, search->x, search->y, search->convolution,
			search->w, (cudnnConvolutionBwdFilterAlgo_t)algorithm, &bytes);
	if (status == CUDNN_STATUS_SUCCESS)
		*out_bytes = bytes;
	return status == CUDNN_STATUS_SUCCESS;
}

int tfs_search_guess(
	const struct tfs_search *search, cudnnConvolutionFwdAlgoPerf_t *out_list, int most)
{
	const __typeof__(&cudnnGetConvolutionForwardAlgorithm_v7) forward =
		TFS_DIRECT(cudnnGetConvolutionForwardAlgorithm_v7);
	const __typeof__(&cudnnGetConvolutionBackwardDataAlgorithm_v7) data =
		TFS_DIRECT(cudnnGetConvolutionBackwardDataAlgorithm_v7);
	const __typeof__(&cudnnGetConvolutionBackwardFilterAlgorithm_v7) filter =
		TFS_DIRECT(cudnnGetConvolutionBackwardFilterAlgorithm_v7);
	cudnnStatus_t status = CUDNN_STATUS_NOT_SUPPORTED;
	int count = 0;

	if (search->family == TFS_FAMILY_conv_forward && forward)
		status = forward(search->handle, search->x, search->w, search->convolution,
			search->y, most, &count, out_list);
	else if (search->family == TFS_FAMILY_conv_backward_data && data)
		status = data(search->handle, search->w, search->y, search->convolution, search->x,
			most, &count, (cudnnConvolutionBwdDataAlgoPerf_t *)out_list);
	else if (search->family == TFS_FAMILY_conv_backward_filter && filter)
		status = filter(search->handle, search->x, search->y, search->convolution,
			search->w, most, &count, (cudnnConvolutionBwdFilterAlgoPerf_t *)out_list);
	return status == CUDNN_STATUS_SUCCESS ? count : 0;
}
