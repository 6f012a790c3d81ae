/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_DEVICE_PRODUCTS_H
#define TFS_RULES_DEVICE_PRODUCTS_H

/*
 * Products of many pairs of matrices by one call.
 */

#include <stdbool.h>
#include <stdint.h>

#include "rules/timeline/timeline.h"

struct tfs_product {
	uint64_t m, n, k, batch;
	bool first_transposed, second_transposed;
	struct tfs_operand first, second, result;
};

/* Whether a call is one, and did not fail. */
bool tfs_product_batched(const struct tfs_host_call *call);

/* Describes it; false = it is none, or it was not recorded how its matrices lie, or which memory it
 * writes. */
bool tfs_product_describe(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	struct tfs_product *out_product);

/* Of its result. */
uint64_t tfs_product_elements(const struct tfs_product *product);

/* The bytes of the narrowest elements. */
#define TFS_PRODUCT_NARROWEST 2u
/* How many bytes an element has of what has as many as its result, and `all` bytes; 0 where there
 * is room between them. */
unsigned tfs_product_element(const struct tfs_product *product, uint64_t all);

/* Whether a call asks cuBLASLt for a product's algorithm. */
bool tfs_product_asked(const struct tfs_timeline *timeline, const struct tfs_host_call *call);

#endif
