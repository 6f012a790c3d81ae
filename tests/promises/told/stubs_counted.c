/* SPDX-License-Identifier: MIT */
/* What the simulated libraries do not have answers its library's own "not supported", and the line
 * at the end of the run counts it. */
#include <cublasLt.h>
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "tests/test.h"

int main(void)
{
	cublasLtMatrixTransformDesc_t lt;
	cudaArray_t array;
	CUmemGenericAllocationHandle memory;
	CUmemAllocationProp property = {.type = CU_MEM_ALLOCATION_TYPE_PINNED};
	struct cudaChannelFormatDesc format = {32, 0, 0, 0, cudaChannelFormatKindFloat};

	TEST_EQ(cudaMallocArray(&array, &format, 16, 16, 0), cudaErrorNotSupported);
	TEST_EQ(cuMemCreate(&memory, 1 << 21, &property, 0), CUDA_ERROR_NOT_SUPPORTED);
	TEST_EQ(cublasLtMatrixTransformDescCreate(&lt, CUDA_R_32F), CUBLAS_STATUS_NOT_SUPPORTED);
	TEST_EQ(cublasLtMatrixTransformDescCreate(&lt, CUDA_R_32F), CUBLAS_STATUS_NOT_SUPPORTED);
	return test_result();
}
