/* SPDX-License-Identifier: MIT */
#include "rules/searches.h"

#include "rules/steady.h"

#define WITHIN_FENCES 8u

static const char *const forward[] = {"IMPLICIT_GEMM", "IMPLICIT_PRECOMP_GEMM", "GEMM", "DIRECT",
	"FFT", "FFT_TILING", "WINOGRAD", "WINOGRAD_NONFUSED"};
static const char *const data[] = {"BWD_DATA_ALGO_0", "BWD_DATA_ALGO_1", "BWD_DATA_ALGO_FFT",
	"BWD_DATA_ALGO_FFT_TILING", "BWD_DATA_ALGO_WINOGRAD", "BWD_DATA_ALGO_WINOGRAD_NONFUSED"};
static const char *const filter[] = {"BWD_FILTER_ALGO_0", "BWD_FILTER_ALGO_1",
	"BWD_FILTER_ALGO_FFT", "BWD_FILTER_ALGO_3", "BWD_FILTER_ALGO_WINOGRAD",
	"BWD_FILTER_ALGO_WINOGRAD_NONFUSED", "BWD_FILTER_ALGO_FFT_TILING"};

#define NAME_OF(names, number)                                                                     \
	((number) < sizeof(names) / sizeof(*(names)) ? (names)[number] : "another algorithm")

bool tfs_search_family(uint32_t family)
{
	return family == TFS_FAMILY_conv_forward || family == TFS_FAMILY_conv_fused ||
	       family == TFS_FAMILY_conv_backward_data || family == TFS_FAMILY_conv_backward_filter;
}

const char *tfs_algorithm_name(uint32_t family, uint32_t algorithm)
{
	if (family == TFS_FAMILY_conv_backward_data)
		return NAME_OF(data, algorithm);
	if (family == TFS_FAMILY_conv_backward_filter)
		return NAME_OF(filter, algorithm);
	return NAME_OF(forward, algorithm);
}

const char *tfs_search_function(uint32_t family)
{
	if (family == TFS_FAMILY_conv_backward_data)
		return "cudnnFindConvolutionBackwardDataAlgorithmEx";
	if (family == TFS_FAMILY_conv_backward_filter)
		return "cudnnFindConvolutionBackwardFilterAlgorithmEx";
	return "cudnnFindConvolutionForwardAlgorithmEx";
}

bool tfs_search_find(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	struct tfs_search *out_search)
{
	const struct tfs_trace *trace = timeline->trace;
	uint64_t problem = tfs_steady_attribute(call, TFS_ATTRIBUTE_problem, 0);
	uint64_t ran = tfs_steady_attribute(call, TFS_ATTRIBUTE_algorithm, UINT32_MAX);
	uint64_t math = tfs_steady_attribute(call, TFS_ATTRIBUTE_math, UINT32_MAX);
	size_t count = tfs_trace_count(trace, TFS_RECORD_search);
	struct tfs_search search = {.asked_ms = -1, .best_ms = -1, .ran_ms = -1};

	search.asked = (uint32_t)tfs_steady_attribute(call, TFS_ATTRIBUTE_asked_algorithm, ran);
	search.substituted = search.asked != ran;
	for (size_t i = 0; i < count && problem; i++) {
		const struct tfs_search_record *one = tfs_trace_at(trace, TFS_RECORD_search, i);
		bool same_math = math == UINT32_MAX || one->math == math;

		if (one->record.site != problem || !(one->time_ms > 0))
			continue;
		if (one->record.function == search.asked && (same_math || search.asked_ms < 0))
			search.asked_ms = one->time_ms;
		if (one->record.function == ran && (same_math || search.ran_ms < 0))
			search.ran_ms = one->time_ms;
		if (one->flags & WITHIN_FENCES &&
			(search.best_ms < 0 || one->time_ms < search.best_ms)) {
			search.best_ms = one->time_ms;
			search.best = one->record.function;
			search.best_workspace = one->workspace;
		}
	}
	if (search.asked_ms > 0 && (search.best_ms < 0 || search.asked_ms < search.best_ms)) {
		search.best_ms = search.asked_ms;
		search.best = search.asked;
	}
	*out_search = search;
	return search.asked_ms > 0;
}

bool tfs_search_by_program(const struct tfs_timeline *timeline)
{
	const struct tfs_total *totals;
	const struct tfs_share *shares;
	size_t count = tfs_trace_totals(timeline->trace, &totals, &shares);

	for (size_t i = 0; i < count; i++)
		if (tfs_trace_family(timeline->trace, totals[i].sum.function) ==
			TFS_FAMILY_conv_find)
			return true;
	return false;
}
