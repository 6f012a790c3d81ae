/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CUDNN_SEARCH_H
#define TFS_TESTS_SIM_CUDNN_SEARCH_H

/*
 * Choosing a convolution algorithm: by guess (Get..._v7), by measurement on memory of our own
 * (Find) and on the caller's (FindEx), for all three families.
 */

#include "tests/sim/cudnn_conv.h"

/* The layout of cudnnConvolution...AlgoPerf_t. */
struct tfs_dnn_perf {
	int algo;
	cudnnStatus_t status;
	float time;
	size_t memory;
	cudnnDeterminism_t determinism;
	cudnnMathType_t math;
	int reserved[3];
};

/* What a measurement may write to. */
struct tfs_dnn_target {
	float *out;
	const struct tfs_view *view;
	void *workspace;
	size_t workspace_bytes;
};

/* Ranks without running anything. */
cudnnStatus_t tfs_dnn_search_guess(cudnnHandle_t handle, const struct tfs_dnn_problem *p,
	int requested, int *returned, struct tfs_dnn_perf *results);

/* Runs every algorithm that fits the workspace; blocks; overwrites the target. */
cudnnStatus_t tfs_dnn_search_measure(cudnnHandle_t handle, const struct tfs_dnn_problem *p,
	const struct tfs_dnn_target *t, int requested, int *returned, struct tfs_dnn_perf *results);

/* The same on device memory allocated and released here. */
cudnnStatus_t tfs_dnn_search_alone(cudnnHandle_t handle, const struct tfs_dnn_problem *p,
	int requested, int *returned, struct tfs_dnn_perf *results);

#endif
