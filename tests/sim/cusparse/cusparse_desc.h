/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CUSPARSE_DESC_H
#define TFS_TESTS_SIM_CUSPARSE_DESC_H

/*
 * The simulated cuSPARSE: as much of it as solvers by conjugate gradients ask for, that is sparse
 * matrices by rows times vectors and dense matrices. Descriptors are plain host memory; a product
 * copies what it needs of them when it is called.
 */

#include <cusparse.h>
#include <stdbool.h>

#include "tests/sim/core/core.h"

#define TFS_SPARSE_API __attribute__((visibility("default")))

struct cusparseContext {
	cudaStream_t stream;
	cusparsePointerMode_t pointers;
};

struct cusparseMatDescr {
	cusparseMatrixType_t type;
	cusparseFillMode_t fill;
	cusparseDiagType_t diagonal;
	cusparseIndexBase_t base;
};

struct cusparseSpMatDescr {
	int64_t rows, cols, nonzeros;
	const void *offsets, *indices, *values;
	bool wide_offsets, wide_indices; /* 64-bit integers */
	int base;
	cudaDataType type;
};

struct cusparseDnVecDescr {
	int64_t size;
	void *values;
	cudaDataType type;
};

struct cusparseDnMatDescr {
	int64_t rows, cols, ld;
	void *values;
	cudaDataType type;
	cusparseOrder_t order;
};

#endif
