/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_SEARCH_SEARCH_NUMBERS_H
#define TFS_SHIM_REWRITES_SEARCH_SEARCH_NUMBERS_H

/*
 * What a search works on in the place of the program's numbers: random ones of a magnitude from 1/4
 * to 1/2, so that no sum overflows and none is of zeros, which a device computes with less power.
 */

#include "shim/rewrites/search/search_device.h"

enum tfs_numbers {
	TFS_NUMBERS_BITS, /* no floating-point numbers: random bytes */
	TFS_NUMBERS_FLOAT,
	TFS_NUMBERS_DOUBLE,
	TFS_NUMBERS_HALF,
	TFS_NUMBERS_BFLOAT16
};

/* In the order of the device's own stream. The device is taken. */
void tfs_search_numbers(
	struct tfs_search_device *device, void *memory, uint64_t bytes, enum tfs_numbers numbers);

#endif
