/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CUDNN_SEARCH_H
#define TFS_TESTS_SIM_CUDNN_SEARCH_H

/*
 * Choosing a convolution algorithm: by guess (Get..._v7), by measurement on memory of our own
 * (Find) and on the caller's (FindEx), for all three families.
 */

#include "tests/sim/cudnn/cudnn_conv.h"

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

/* What all functions of a family are asked about; x, w and y as in forward. */
struct tfs_dnn_question {
	enum tfs_dnn_family family;
	cudnnTensorDescriptor_t x;
	cudnnFilterDescriptor_t w;
	cudnnConvolutionDescriptor_t conv;
	cudnnTensorDescriptor_t y;
};

/* The most results that a search of the family has. */
cudnnStatus_t tfs_dnn_search_count(cudnnHandle_t handle, enum tfs_dnn_family family, int *count);

/* Ranks without running anything. `results` are of the family's ...AlgoPerf_t, here and below. */
cudnnStatus_t tfs_dnn_search_guess(cudnnHandle_t handle, const struct tfs_dnn_question *q,
	int requested, int *returned, void *results);

/* Runs every algorithm that fits the workspace; blocks; overwrites `out` and the workspace. */
cudnnStatus_t tfs_dnn_search_given(cudnnHandle_t handle, const struct tfs_dnn_question *q,
	void *out, void *workspace, size_t workspace_bytes, int requested, int *returned,
	void *results);

/* The same on device memory allocated and released here. */
cudnnStatus_t tfs_dnn_search_alone(cudnnHandle_t handle, const struct tfs_dnn_question *q,
	int requested, int *returned, void *results);

/* What one algorithm needs. */
cudnnStatus_t tfs_dnn_search_workspace(
	cudnnHandle_t handle, const struct tfs_dnn_question *q, int algo, size_t *bytes);

#endif
