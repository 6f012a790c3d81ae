/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_CUDNN_SEARCH_SEARCH_VERIFY_H
#define TFS_SHIM_REWRITES_CUDNN_SEARCH_SEARCH_VERIFY_H

/* Does an algorithm compute what another one does? */

#include "shim/rewrites/convolution.h"
#include "shim/rewrites/cudnn_search/search_scratch.h"

/* Runs both on a search's scratch memory and compares the outputs: up to rounding the same numbers,
 * and nothing written where nothing may be. False also when one of them does not run. */
bool tfs_search_same(struct tfs_search_device *device, const struct tfs_search *search,
	const struct tfs_scratch *scratch, const struct tfs_candidate *candidates, int one,
	int other);

/* Enqueues the convolution as the call says. */
cudnnStatus_t tfs_search_execute(const struct tfs_convolution_call *call);

/* The one of its three tensors that it writes. */
const void **tfs_search_output(struct tfs_convolution_call *call);

/* How two outputs differ. */
struct tfs_difference {
	double squares, own_squares; /* of the differences, and of the first output */
	double most, own_most;
	bool odd; /* an infinity or no number on one side only, or a type that is not compared */
	bool own_odd; /* one in the first output, on the other side or not */
};
void tfs_difference_add(
	struct tfs_difference *sum, const void *one, const void *other, uint64_t bytes, int type);

/* Compares the first and the last megabytes; false when they cannot be read. Waits for the device's
 * own stream. */
bool tfs_search_compare(struct tfs_search_device *device, const void *one, const void *other,
	uint64_t bytes, int type, struct tfs_difference *out_sum);

/* Is that rounding, for the type and math of a convolution of a search's scratch numbers? */
bool tfs_difference_is_rounding(const struct tfs_difference *sum, int type, cudnnMathType_t math);

/* Is it surely none, of a program's numbers? Their sums may cancel, overflow, or all be zero, which
 * is no evidence. */
bool tfs_difference_is_another(const struct tfs_difference *sum, int type, cudnnMathType_t math);

#endif
