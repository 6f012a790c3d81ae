/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CUDNN_CONV_H
#define TFS_TESTS_SIM_CUDNN_CONV_H

/*
 * The three convolution families of the simulated cuDNN. An algorithm is a row of a table: what it
 * costs, what memory it wants, when it applies, in which order it sums. For tests of those who
 * check: TFSIM_WRONG=N makes algorithm N compute something else, TFSIM_WILD=N write behind its
 * workspace.
 */

#include "tests/sim/cudnn/cudnn_desc.h"
#include "tests/sim/cudnn/math/cudnn_math_conv.h"

enum tfs_dnn_family { TFS_DNN_FWD, TFS_DNN_DATA, TFS_DNN_FILTER, TFS_DNN_FAMILIES };

/* A convolution whose descriptors have been checked. x, w, y stand for dx, dw, dy as well. */
struct tfs_dnn_problem {
	enum tfs_dnn_family family;
	cudnnMathType_t math;
	struct tfs_conv conv;
	struct tfs_view x, w, y;
};

struct tfs_dnn_algo {
	const char *name;     /* of its main kernel */
	const char *prologue; /* of a small kernel in front, or NULL */
	bool deterministic;
	double slower; /* than the fastest plain algorithm */
	struct tfs_sum_order order;
	bool (*applies)(const struct tfs_dnn_problem *p);
	size_t (*workspace)(const struct tfs_dnn_problem *p);
	/* What lies where in a workspace of that size; NULL for one of 0. */
	void (*layout)(const struct tfs_dnn_problem *p, char *base, size_t size,
		struct tfs_conv_space *out_space);
};

/* The number of algorithms of a family, applicable or not. */
int tfs_dnn_algo_count(enum tfs_dnn_family family);

/* The algorithm, or NULL when it does not exist or does not apply to the problem. */
const struct tfs_dnn_algo *tfs_dnn_algo_find(const struct tfs_dnn_problem *p, int algo);

/* The modelled device work of one run: cost, bytes, operations; no function. */
struct tfs_dnn_work tfs_dnn_algo_work(const struct tfs_dnn_problem *p, int algo);

/*
 * Enqueues the algorithm's small kernel if it has one, with the function and arguments of `with`
 * unless that is NULL.
 */
cudnnStatus_t tfs_dnn_algo_prologue(cudnnHandle_t handle, const struct tfs_dnn_problem *p, int algo,
	const struct tfs_dnn_work *with);

/* Output dimensions of a convolution; strides are left alone. */
cudnnStatus_t tfs_dnn_conv_dims(const struct cudnnConvolutionStruct *conv, const struct tfs_view *x,
	const struct tfs_view *w, struct tfs_view *out_y);

/* Checks the descriptors and fills in the problem. */
cudnnStatus_t tfs_dnn_problem_init(struct tfs_dnn_problem *p, enum tfs_dnn_family family,
	cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w, cudnnConvolutionDescriptor_t conv,
	cudnnTensorDescriptor_t y);

#endif
