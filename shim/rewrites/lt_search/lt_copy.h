/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_LT_SEARCH_LT_COPY_H
#define TFS_SHIM_REWRITES_LT_SEARCH_LT_COPY_H

/*
 * A product's descriptor once more: the program's own is only read, since other threads may be
 * using it, and names memory of the program's.
 */

#include "shim/state/product.h"

/* Is all that its time depends on known, and can be had without memory of the program's? */
bool tfs_lt_copy_possible(const struct tfs_product_call *call);

/* The same product with a bias, an auxiliary matrix and scaling factors at these places; NULL when
 * cuBLASLt refuses. */
cublasLtMatmulDesc_t tfs_lt_copy_make(
	cublasLtMatmulDesc_t product, void *bias, void *auxiliary, void *scale);
void tfs_lt_copy_drop(cublasLtMatmulDesc_t copy);

#endif
