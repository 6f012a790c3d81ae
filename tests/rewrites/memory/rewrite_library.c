/* SPDX-License-Identifier: MIT */
/* Stands in for a library of CUDA's that allocates and frees for itself, in a function that tfshim
 * knows and in one that it does not. */
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

__attribute__((visibility("default"))) cublasStatus_t cublasOtherwise(void);

__attribute__((visibility("default"))) cublasStatus_t cublasOtherwise(void)
{
	void *memory;

	if (cudaMalloc(&memory, 2u << 20) != cudaSuccess || cudaFree(memory) != cudaSuccess)
		return CUBLAS_STATUS_ALLOC_FAILED;
	return CUBLAS_STATUS_SUCCESS;
}

__attribute__((visibility("default"))) cublasStatus_t cublasCreate_v2(cublasHandle_t *handle)
{
	*handle = NULL;
	return cublasOtherwise();
}
