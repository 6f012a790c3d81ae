/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CUBLASLT_DESC_H
#define TFS_TESTS_SIM_CUBLASLT_DESC_H

/*
 * What cuBLASLt's semi-opaque descriptors hold in the simulation. Each is an array of 64-bit
 * words, one for each attribute, so that an attribute's number is its place; sizes and what is
 * writable are tables in cublaslt_desc.c.
 */

#include <cublasLt.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/sim/core/core.h"
#include "tests/sim/cublas/cublas_typed.h"

#define TFS_LT_API __attribute__((visibility("default")))

struct cublasLtContext {
	int device;
	struct tfsim_block memory;
};

/* A matrix as the layout describes it. */
struct tfs_lt_layout {
	cudaDataType type;
	bool row_major;
	int64_t rows, columns, ld, stride;
	int batch;
};

struct tfs_lt_operation {
	cublasComputeType_t compute;
	cudaDataType scale;
	int pointers;
	cublasOperation_t ta, tb;
	unsigned epilogue;
	void *bias, *aux;
	cudaDataType bias_type, aux_type; /* -1: as the output */
	int64_t bias_stride, aux_ld, aux_stride;
};

/* Read the words back; NULL descriptors are the caller's business. */
struct tfs_lt_layout tfs_lt_layout_read(cublasLtMatrixLayout_t layout);
struct tfs_lt_operation tfs_lt_operation_read(cublasLtMatmulDesc_t desc);
uint64_t tfs_lt_workspace_limit(cublasLtMatmulPreference_t preference);

/* Everything one call needs, checked; layouts in the order A, B, C, D. */
struct tfs_lt_problem {
	struct tfs_lt_operation op;
	struct tfs_lt_layout l[4];
	int m, n, k;
};

cublasStatus_t tfs_lt_problem_init(struct tfs_lt_problem *p, cublasLtMatmulDesc_t desc,
	cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
	cublasLtMatrixLayout_t d);

/* Algorithms 1 and 2 sum k in two and in eight parts, want workspace for each of them and are
 * faster for long sums: as on an H200, where a large workspace halves the time of float
 * 256x256x16384. The last one wants none and is faster for short sums, of which the heuristic knows
 * nothing: as there, where the second answer for bf16 3072x4096x768 takes a tenth less than the
 * first. */
enum { TFS_LT_ALGOS = 4 };
int tfs_lt_algo_pieces(int algo);
size_t tfs_lt_algo_workspace(const struct tfs_lt_problem *p, int algo);
uint64_t tfs_lt_algo_cost(const struct tfs_lt_problem *p, int algo);

#endif
