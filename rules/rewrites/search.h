/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_REWRITES_SEARCH_H
#define TFS_RULES_REWRITES_SEARCH_H

/*
 * Measures cuDNN's algorithms for one convolution, on scratch memory that is given back at once:
 * the program's tensors are not touched. Blocks for as long as the measuring takes.
 */

#include <cudnn.h>
#include <stdbool.h>
#include <stdint.h>

#include "shim/tensors.h"

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
	cudnnHandle_t handle;
	cudnnTensorDescriptor_t x;
	cudnnFilterDescriptor_t w;
	cudnnTensorDescriptor_t y;
	cudnnConvolutionDescriptor_t convolution;
	cudnnMathType_t math;
	uint64_t workspace_limit;
	void *live_x, *live_w, *live_y; /* tests only: instead of scratch tensors */
};

enum tfs_search_result {
	TFS_SEARCH_DONE,
	TFS_SEARCH_NO_MEMORY, /* the device has not enough left to spare */
	TFS_SEARCH_FAILED     /* the library refused */
};

/* Looks up what is needed; false = no search is possible here. */
bool tfs_search_start(void);

/* Waits a little for the handle's stream and the legacy one to run dry. False where they do not:
 * a search waits for them, and what they wait for may be the calling thread itself. */
bool tfs_search_idle(cudnnHandle_t handle);

/* Fills out_candidates (by algorithm number). */
enum tfs_search_result tfs_search_run(const struct tfs_search *search,
	struct tfs_candidate out_candidates[TFS_SEARCH_ALGORITHMS]);

/* Device memory of the shim's own, by driver calls, which leave the runtime's last error alone.
 * NULL when the device would be left with less than a margin. */
void *tfs_search_allocate(uint64_t bytes);
void tfs_search_free(void *memory);

#endif
