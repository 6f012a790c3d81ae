/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_STATE_PRODUCT_H
#define TFS_SHIM_STATE_PRODUCT_H

/*
 * A product of cuBLASLt's, and what its opaque descriptors say. Only for calls whose details are
 * wanted, and for rewrites; inside a hook, with hooks off. Any thread.
 */

#include <cublasLt.h>
#include <stdbool.h>
#include <stdint.h>

/* As the program asks for it; A, B, C, D. */
struct tfs_product_call {
	cublasLtHandle_t handle;
	cublasLtMatmulDesc_t product;
	cublasLtMatrixLayout_t layouts[4];
	const void *matrices[4];
	const void *alpha, *beta;
	const cublasLtMatmulAlgo_t *algorithm; /* NULL: cuBLASLt chooses */
	const void *workspace;
	size_t workspace_bytes;
	cudaStream_t stream;
	uint64_t question; /* 0: not made out yet, see tfs_product_question() */
};

/* CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, which headers of CUDA 12 lack. */
#define TFS_LAYOUT_BATCH_MODE ((cublasLtMatrixLayoutAttribute_t)8)

/* An attribute of an opaque argument, with its size in bytes. */
struct tfs_product_part {
	uint8_t attribute, bytes;
};

/* Those of a product by which an algorithm is chosen; no addresses. */
const struct tfs_product_part *tfs_product_parts(size_t *out_count);

/* Can descriptors be read? */
bool tfs_product_readable(void);

/* 0 where it is not known. */
uint64_t tfs_product_of_layout(
	cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute, size_t bytes);
uint64_t tfs_product_of(
	cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t attribute, size_t bytes);

/* Adds what decides the choice of an algorithm to a hash; NULL adds nothing. */
uint64_t tfs_product_mix(uint64_t hash, uint64_t value);
uint64_t tfs_product_mix_layout(uint64_t hash, cublasLtMatrixLayout_t layout);
uint64_t tfs_product_mix_product(uint64_t hash, cublasLtMatmulDesc_t product);

/* Is C read? A beta that is not known counts as one that reads. */
bool tfs_product_adds(const struct tfs_product_call *call);

/* The power of two, at most 256, that divides an address. */
uint32_t tfs_product_aligned(const void *address);

/* What the time of the call depends on, by a hash that is the same for the next call like it, on
 * the same device; kept in the call. 0: it cannot be read, or lacks an argument. */
uint64_t tfs_product_question(struct tfs_product_call *call);

#endif
