/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_STATE_TENSORS_H
#define TFS_SHIM_STATE_TENSORS_H

/*
 * Reads cuDNN's descriptors by its own getters, and names convolution problems. Only for calls
 * whose details are wanted, and for rewrites; inside a hook, with hooks off. Any thread.
 */

#include <cudnn.h>
#include <stdbool.h>
#include <stdint.h>

#include "shim/trace/format/format.h"

struct tfs_tensor {
	int type; /* cudnnDataType_t */
	int rank;
	int dims[8];
	int strides[8];
	uint64_t bytes; /* from the first to behind the last element */
};

/* A convolution in all that its result and its speed depend on. */
struct tfs_problem {
	int32_t fields[TFS_PROBLEM_FIELD_COUNT]; /* by enum tfs_problem_field */
};

/* False, and zero bytes, when the descriptor cannot be read. */
bool tfs_tensor_read(cudnnTensorDescriptor_t descriptor, struct tfs_tensor *out_tensor);

/* The same of a filter; strides are not given. */
bool tfs_filter_read(cudnnFilterDescriptor_t descriptor, struct tfs_tensor *out_filter);

/* Is each byte from the first to behind the last an element's, of a number of 2, 4 or 8 bytes? */
bool tfs_tensor_dense(const struct tfs_tensor *tensor);
bool tfs_filter_dense(const struct tfs_tensor *filter);
uint32_t tfs_tensor_element_bytes(const struct tfs_tensor *tensor);

/* The problem of a convolution between `x` (data or its gradient), `w` and `y`. False when it is
 * not a plain two-dimensional one. */
bool tfs_problem_read(enum tfs_family family, cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
	cudnnConvolutionDescriptor_t convolution, cudnnTensorDescriptor_t y,
	struct tfs_problem *out_problem);

/* The problem's id in the recording, defined on first use; 0 when there are too many. */
uint32_t tfs_problem_id(const struct tfs_problem *problem);

/* The stream that the handle's calls go to. */
cudaStream_t tfs_cudnn_stream(cudnnHandle_t handle);

/* alpha and beta are float or double by the tensors' type. */
double tfs_cudnn_scalar(const void *scalar, int type);

#endif
