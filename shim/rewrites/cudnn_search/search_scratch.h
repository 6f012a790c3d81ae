/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_CUDNN_SEARCH_SEARCH_SCRATCH_H
#define TFS_SHIM_REWRITES_CUDNN_SEARCH_SEARCH_SCRATCH_H

/*
 * The memory that a search works on: tensors filled with numbers, two outputs to compare, and a
 * workspace; outputs and workspace have a red zone behind them, which nothing may write to.
 */

#include "shim/rewrites/cudnn_search/search.h"

struct tfs_scratch {
	void *x; /* one of the three is the output */
	void *w;
	void *y;
	void *other; /* a second output */
	void *workspace;
	uint64_t output_bytes;
	uint64_t workspace_bytes;
	int type; /* cudnnDataType_t of the output */
};

/* False when there is not enough memory, or a descriptor cannot be read. The device is taken. */
bool tfs_scratch_get(struct tfs_search_device *device, const struct tfs_search *search,
	const struct tfs_search_limits *limits, struct tfs_scratch *out);

/* The first output. */
void *tfs_scratch_output(const struct tfs_scratch *scratch, enum tfs_family family);

/* Puts a red zone behind so many bytes of the workspace, instead of behind all of it. */
void tfs_scratch_guard(
	struct tfs_search_device *device, const struct tfs_scratch *scratch, uint64_t bytes);

/* Are the red zones as they were, the workspace's behind `bytes`? Waits for the device's own
 * stream. */
bool tfs_scratch_whole(struct tfs_search_device *device, const struct tfs_scratch *scratch,
	enum tfs_family family, uint64_t bytes);

/* Gives all back to the driver. */
void tfs_scratch_give_back(struct tfs_search_device *device, const struct tfs_scratch *scratch);

#endif
