/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CUBLAS_OP_H
#define TFS_TESTS_SIM_CUBLAS_OP_H

/*
 * What the calls of the simulated cuBLAS share. To add one: write its run function, which gets a
 * copy of a struct tfs_blas_op on a stream's thread, and a public definition that fills the struct
 * in and gives it to tfs_blas_submit(). Each call exists for float and double and for 32 and 64-bit
 * integers; macros declare the four.
 */

#include <cublas_v2.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/sim/core/core.h"
#include "tests/sim/cublas/cublas_typed.h"

#define TFS_BLAS_API __attribute__((visibility("default")))

struct cublasContext {
	cudaStream_t stream;
	int device;
	cublasPointerMode_t pointers;
	cublasAtomicsMode_t atomics;
	cublasMath_t math;
	bool lent; /* the program has set a workspace, maybe of nothing */
	void *workspace;
	size_t workspace_bytes;
	int sm_target;
	bool used;
	struct tfsim_block pool, more; /* the default workspaces; what the first use takes */
	size_t pooled_bytes;           /* the largest of them, at the front */
};

/* alpha and beta: read at the call, or by the device when they live there. */
struct tfs_blas_scalar {
	bool on_device;
	const void *where;
	double value;
};

/* Level 1 uses a, b (x, y) with lda, ldb as increments; c is the output. */
struct tfs_blas_op {
	const char *name;
	bool wide; /* double */
	enum tfsim_math math;
	uint64_t bytes; /* that it reads and writes, if not all elements are as wide says */
	bool tf32;
	bool mixed; /* of the types below, not float or double throughout */
	cudaDataType in_type, out_type;
	bool pointers; /* a, b, c are arrays of pointers in device memory */
	cublasOperation_t ta, tb;
	int m, n, k, batch;
	struct tfs_blas_scalar alpha, beta;
	const void *a, *b;
	void *c;
	int lda, ldb, ldc;
	int64_t stride_a, stride_b, stride_c; /* elements from one matrix of a batch to the next */
	int parts; /* of k, summed up in the workspace; below 2 it is not needed */
	bool pooled;
	void *workspace;
	size_t workspace_bytes;
	void (*run)(void *op);
};

/* A scalar argument, by the handle's pointer mode. */
struct tfs_blas_scalar tfs_blas_scalar(cublasHandle_t handle, bool wide, const void *where);

/* Its value, on the stream's thread. */
double tfs_blas_value(const struct tfs_blas_scalar *s, bool wide);

/* A scalar known at the call. */
struct tfs_blas_scalar tfs_blas_constant(double value);

/* Enqueues run with a copy of op; elements is what the operation reads and writes. */
cublasStatus_t tfs_blas_submit(cublasHandle_t handle, const struct tfs_blas_op *op,
	void (*run)(void *), uint64_t elements, uint64_t flops);

/* After an operation that wrote a scalar result: blocks the host when the result is its own. */
cublasStatus_t tfs_blas_result(cublasHandle_t handle, void *result, size_t bytes);

/* Whether n fits the 32-bit integers the arithmetic works with. */
bool tfs_blas_fits(int64_t n);

/* From now on the library's own workspaces are used, or those of the program. */
void tfs_blas_workspace(cublasHandle_t handle, bool lent, void *workspace, size_t size);

/* Bytes of the workspace that the operation needs. */
size_t tfs_blas_needed(const struct tfs_blas_op *op);

/* c = alpha * op(a) * op(b) + beta * c for a whole batch; does not read c when beta is 0. */
void tfs_blas_gemm_run(void *op);

/* Checks sizes, names the kernel and enqueues a matrix product. */
cublasStatus_t tfs_blas_gemm_submit(cublasHandle_t handle, struct tfs_blas_op *op);

#endif
