/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/cudnn_search/search_fences.h"

#define LEAST_GAIN 0.05f /* of the program's own time */

bool tfs_search_varies(enum tfs_family family, int algorithm)
{
	if (family == TFS_FAMILY_conv_backward_filter)
		return algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0 ||
		       algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3;
	return family == TFS_FAMILY_conv_backward_data &&
	       algorithm == CUDNN_CONVOLUTION_BWD_DATA_ALGO_0;
}

/* Transforms: their error grows in ways that plain sums do not have. */
static bool is_transform(enum tfs_family family, int algorithm)
{
	switch (family) {
	case TFS_FAMILY_conv_forward:
		return algorithm >= CUDNN_CONVOLUTION_FWD_ALGO_FFT;
	case TFS_FAMILY_conv_backward_data:
		return algorithm >= CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT;
	default:
		return algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT ||
		       algorithm >= CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD;
	}
}

static int family_size(enum tfs_family family)
{
	switch (family) {
	case TFS_FAMILY_conv_forward:
		return CUDNN_CONVOLUTION_FWD_ALGO_COUNT;
	case TFS_FAMILY_conv_backward_data:
		return CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT;
	case TFS_FAMILY_conv_backward_filter:
		return CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT;
	default:
		return 0;
	}
}

bool tfs_search_allowed(enum tfs_family family, int asked, int other)
{
	const int count = family_size(family);

	return asked >= 0 && asked < count && other >= 0 && other < count &&
	       (!tfs_search_varies(family, other) || tfs_search_varies(family, asked)) &&
	       (!is_transform(family, other) || is_transform(family, asked));
}

bool tfs_search_fits(
	enum tfs_family family, const struct tfs_candidate *candidates, int asked, int other)
{
	return tfs_search_allowed(family, asked, other) && candidates[other].available &&
	       (candidates[other].deterministic || !candidates[asked].deterministic);
}

int tfs_search_best(
	enum tfs_family family, const struct tfs_candidate *candidates, int asked, uint64_t most)
{
	const struct tfs_candidate *own = &candidates[asked];
	int chosen = asked;

	for (int i = 0; i < (int)TFS_SEARCH_ALGORITHMS; i++)
		if (tfs_search_fits(family, candidates, asked, i) &&
			candidates[i].workspace <= most &&
			candidates[i].median_ms < candidates[chosen].median_ms)
			chosen = i;
	const struct tfs_candidate *other = &candidates[chosen];
	return other->median_ms <= own->median_ms * (1 - LEAST_GAIN) &&
			       other->median_ms + other->spread_ms < own->median_ms - own->spread_ms
		       ? chosen
		       : asked;
}
