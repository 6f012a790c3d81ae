/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_CUDNN_SEARCH_SEARCH_H
#define TFS_SHIM_REWRITES_CUDNN_SEARCH_SEARCH_H

/*
 * Measures cuDNN's algorithms for one convolution, on a handle, a stream and scratch memory of the
 * shim's own; the program's tensors are not touched, its streams not waited for. Blocks for as long
 * as the measuring takes.
 */

#include <cudnn.h>
#include <stdbool.h>
#include <stdint.h>

#include "shim/rewrites/search/search_device.h"
#include "shim/state/tensors.h"

#define TFS_SEARCH_REPEATS 3u
#define TFS_SEARCH_ALGORITHMS 16u

/* An algorithm in the problem's own math type. */
struct tfs_candidate {
	bool available;
	bool deterministic; /* by the library's flag and by its documentation */
	float median_ms;
	float spread_ms; /* slowest repeat minus fastest */
	uint64_t workspace;
};

/* What is to be searched; descriptors are the program's own and only read. */
struct tfs_search {
	enum tfs_family family;
	cudnnHandle_t handle; /* the program's: only asked for its stream and for heuristics */
	cudnnTensorDescriptor_t x;
	cudnnFilterDescriptor_t w;
	cudnnTensorDescriptor_t y;
	cudnnConvolutionDescriptor_t convolution;
	cudnnMathType_t math;
	uint64_t most;                  /* workspace that a choice may need, in bytes */
	void *live_x, *live_w, *live_y; /* mutants: instead of scratch tensors */
};

/* What a search may take. */
struct tfs_search_limits {
	uint64_t workspace; /* of an algorithm, in bytes */
	uint64_t memory;    /* in all, in bytes */
	uint64_t until_ns;  /* on the monotonic clock; no repeat that would end later is begun */
};

enum tfs_search_result {
	TFS_SEARCH_DONE,
	TFS_SEARCH_NO_MEMORY, /* the device has not enough left to spare, or the limit is too low */
	TFS_SEARCH_NO_TIME,
	TFS_SEARCH_FAILED, /* the library refused, or does not measure what was asked */
	TFS_SEARCH_DIFFERS /* the fastest that fits computes something else than the asked one */
};

/* Fills out_candidates (by algorithm number), and holds the best that may stand for the asked one
 * against it. The device's equipment is taken. */
enum tfs_search_result tfs_search_run(struct tfs_search_device *device,
	const struct tfs_search *search, const struct tfs_search_limits *limits, int asked,
	struct tfs_candidate out_candidates[TFS_SEARCH_ALGORITHMS]);

/* The workspace that an algorithm needs, as the library says; false when it cannot run at all.
 * Nothing runs. */
bool tfs_search_need(const struct tfs_search *search, int algorithm, uint64_t *out_bytes);

/* The heuristics' whole list, by the program's handle; the number of entries, 0 when there is none.
 * Nothing runs. */
int tfs_search_guess(
	const struct tfs_search *search, cudnnConvolutionFwdAlgoPerf_t *out_list, int most);

#endif
