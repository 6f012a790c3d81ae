/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_LT_SEARCH_LT_SCRATCH_H
#define TFS_SHIM_REWRITES_LT_SEARCH_LT_SCRATCH_H

/*
 * The memory that a product is measured on: matrices as large as the program's and as much aligned,
 * of random numbers, and a workspace. Of the program's memory nothing is read or written: a
 * product's time depends on its sizes, and on its numbers only in so far as a device computes zeros
 * with less power than others, so these are none.
 */

#include "shim/rewrites/search/search_device.h"
#include "shim/state/product.h"

struct tfs_lt_scratch {
	void *matrices[4]; /* D is C where the program's are one */
	void *bias, *auxiliary, *scale;
	void *workspace;
	uint64_t workspace_bytes;
	void *taken[8]; /* as allocated */
	uint32_t taken_count;
};

/* Are the matrices such that their sizes are known? */
bool tfs_lt_scratch_possible(const struct tfs_product_call *call);

/* False when the device has too little memory to spare, or more than `most` bytes are needed. The
 * device is taken; enqueues on its own stream. */
bool tfs_lt_scratch_get(struct tfs_search_device *device, const struct tfs_product_call *call,
	uint64_t workspace_bytes, uint64_t most, struct tfs_lt_scratch *out_scratch);

/* Gives all back to the driver; waits for the device's own stream. */
void tfs_lt_scratch_give_back(
	struct tfs_search_device *device, const struct tfs_lt_scratch *scratch);

#endif
