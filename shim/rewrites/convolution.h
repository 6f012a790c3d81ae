/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_CONVOLUTION_H
#define TFS_SHIM_REWRITES_CONVOLUTION_H

/* What rewrites are shown of cuDNN's convolutions: each call before it is made and after it, and
 * each list of algorithms after the program asked for it. */

#include <cudnn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/trace/format.h"

/* A convolution about to run. A rewrite may change the algorithm and the workspace. */
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
	int asked_algorithm; /* set by the hook */
	bool shown;          /* likewise: to rewrites, before the call */
	bool succeeded;      /* and after it */
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
	bool answered; /* by a rewrite, cuDNN was not asked */
	cudnnHandle_t handle;
	cudnnTensorDescriptor_t x_descriptor;
	cudnnFilterDescriptor_t w_descriptor;
	cudnnTensorDescriptor_t y_descriptor;
	cudnnConvolutionDescriptor_t convolution;
	struct tfs_performance *list;
	int count;
	int requested;
	const void *memory[4];    /* that a Find...Ex call works on, the workspace last */
	uint64_t workspace_bytes; /* what a Find...Ex call may use; else TFS_CHOICE_OWN_MEMORY */
	uint32_t site;
};

#endif
