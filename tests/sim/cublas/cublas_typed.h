/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CUBLAS_TYPED_H
#define TFS_TESTS_SIM_CUBLAS_TYPED_H

/*
 * Matrix products of float, half and bfloat16 operands in any mixture: operands are widened to
 * packed float matrices, multiplied, and what follows the product (scaling, bias, activation) is
 * done element by element. Shared by cuBLAS' Ex calls and cuBLASLt.
 */

#include <cublasLt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/sim/core/core.h"

/* Bytes of an element; 0 for a type that cannot be computed with. */
size_t tfs_typed_size(cudaDataType type);
/* Element i of an array. */
float tfs_typed_get(const void *array, cudaDataType type, int64_t i);
void tfs_typed_put(void *array, cudaDataType type, int64_t i, float value);
/* What products of such elements are computed with; false: not summed up in float. */
bool tfs_typed_math(cudaDataType type, cublasComputeType_t compute, enum tfsim_math *out_math);

struct tfs_typed_matrix {
	const void *data;
	cudaDataType type;
	int64_t ld;
	bool transposed; /* as stored: element (i, j) lies at j + i * ld */
};

enum tfs_typed_after { TFS_TYPED_PLAIN, TFS_TYPED_RELU, TFS_TYPED_GELU, TFS_TYPED_GELU_GRAD };

/* d = after(alpha * a * b + beta * c + bias), d and c m by n, a m by k. */
struct tfs_typed_gemm {
	int m, n, k;
	bool tf32;
	int pieces;      /* parts of k that are summed separately */
	float *products; /* room for as many m by n products, or NULL */
	float alpha, beta;
	struct tfs_typed_matrix a, b, c;
	struct tfs_typed_matrix d;
	void *out; /* d's data */
	enum tfs_typed_after after;
	struct tfs_typed_matrix bias; /* one for each row; data may be NULL */
	struct tfs_typed_matrix aux;  /* what goes into (or, for gradients, came out of) after */
	void *aux_out;
	void *bias_grad; /* sums over columns of d, of bias' type, or NULL */
};

/* Computes; -1 without memory. */
int tfs_typed_gemm(const struct tfs_typed_gemm *g);

#endif
