/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_CONVOLUTION_H
#define TFS_SHIM_REWRITES_CONVOLUTION_H

/* cuDNN's convolutions, and the lists of algorithms for them that the program asks for: as their
 * hooks describe them to rewrites and to the recording, see op.h. */

#include <cudnn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/trace/format/format.h"

/* A convolution as it is to be made: a rewrite may change the algorithm and the workspace. */
struct tfs_convolution_call {
	enum tfs_family family; /* conv_forward, conv_backward_data, conv_backward_filter */
	cudnnHandle_t handle;
	cudnnTensorDescriptor_t x_descriptor; /* data, or its gradient */
	cudnnFilterDescriptor_t w_descriptor;
	cudnnTensorDescriptor_t y_descriptor;
	cudnnConvolutionDescriptor_t convolution;
	const void *x;
	const void *w;
	const void *y;
	int algorithm;
	void *workspace;
	size_t workspace_bytes;
	const void *alpha;
	const void *beta;
	/* As the program asked: */
	int asked_algorithm;
	void *asked_workspace;
	size_t asked_bytes; /* of the workspace */
	/* A rewrite's own, from before the call until after it: */
	void *aside;
	void *lent; /* workspace */
	bool lent_for_good;
	bool not_met; /* left alone before its problem was looked at */
	uint32_t site;
};

/* One entry of an algorithm list, whichever direction; cuDNN's three structs have one layout. */
#define tfs_performance cudnnConvolutionFwdAlgoPerfStruct /* as a struct tag */

#define TFS_CHOICE_OWN_MEMORY UINT64_MAX

/* The program asks for a list of algorithms. A rewrite may answer, or change the order. */
struct tfs_choice_call {
	enum tfs_family family;
	bool measured; /* by a Find... call: the program searches for itself */
	cudnnHandle_t handle;
	cudnnTensorDescriptor_t x_descriptor;
	cudnnFilterDescriptor_t w_descriptor;
	cudnnTensorDescriptor_t y_descriptor;
	cudnnConvolutionDescriptor_t convolution;
	struct tfs_performance *list;
	int count;
	int *returned; /* the program's count */
	int requested;
	const void *memory[4];    /* that a Find...Ex call works on, the workspace last */
	uint64_t workspace_bytes; /* what a Find...Ex call may use; else TFS_CHOICE_OWN_MEMORY */
	uint32_t site;
};

#endif
