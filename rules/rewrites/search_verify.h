/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_REWRITES_SEARCH_VERIFY_H
#define TFS_RULES_REWRITES_SEARCH_VERIFY_H

/* Does an algorithm compute what another one does? Tried on a search's scratch memory. */

#include "rules/rewrites/search_scratch.h"

/* Runs both and compares the outputs: up to rounding the same numbers, and nothing written where
 * nothing may be. False also when one of them does not run. */
bool tfs_search_same(struct tfs_search_device *device, const struct tfs_search *search,
	const struct tfs_scratch *scratch, const struct tfs_candidate *candidates, int one,
	int other);

/* How two outputs differ; for the comparison and its test. */
struct tfs_difference {
	double squares, own_squares; /* of the differences, and of the first output */
	double most, own_most;
	bool odd; /* an infinity or no number on one side only, or a type that is not compared */
};
void tfs_difference_add(
	struct tfs_difference *sum, const void *one, const void *other, uint64_t bytes, int type);

/* Is that rounding, for the type and math of a convolution? */
bool tfs_difference_is_rounding(const struct tfs_difference *sum, int type, cudnnMathType_t math);

#endif
