/* SPDX-License-Identifier: MIT */
/* Which statuses mean that a call failed, and what they are called. */
#include "rules/timeline/statuses.h"

#include "tests/test.h"

#define X(library, family, status, fails)                                                          \
	{                                                                                          \
		TFS_LIBRARY_##library, TFS_FAMILY_##family, status, fails                          \
	}
static const struct {
	enum tfs_library library;
	enum tfs_family family;
	uint32_t status;
	bool fails;
} calls[] = {
	X(cudart, copy, 0, false),
	X(cudart, copy, 1, true),
	X(cuda, launch, 700, true),
	/* not ready yet, or done already */
	X(cudart, query, 600, false),
	X(cuda, query, 600, false),
	X(cudart, other, 704, false),
	X(cuda, other, 704, false),
	X(cudart, host_register, 712, false),
	X(cuda, host_register, 712, false),
	X(nccl, collective, 7, false),
	X(nccl, collective, 6, true),
	/* the same numbers, of libraries that mean something else by them */
	X(cudnn, query, 600, true),
	X(cublas, gemm, 7, true),
	/* asked for only to learn whether it can be done, or to be done */
	X(cudart, property, 801, false),
	X(cuda, other, 801, false),
	X(cudart, copy, 801, true),
	X(cublas, workspace_query, 15, false),
	X(cublaslt, conv_get, 15, false),
	X(cublas, gemm, 15, true),
	X(cublas, workspace_query, 14, true),
	X(cudnn, conv_get, 9, false),
	X(cudnn, conv_find, 3000, false),
	X(cudnn, descriptor_create, 3999, false),
	X(cudnn, conv_get, 4000, true),
	X(cudnn, conv_get, 2000, true),
	X(cudnn, conv_forward, 9, true),
	X(cudnn, conv_forward, 3000, true),
	X(nccl, other, 15, true),
};
#undef X

static const struct {
	enum tfs_library library;
	uint32_t status;
	const char *name;
} names[] = {
	{TFS_LIBRARY_cudart, 2, "cudaErrorMemoryAllocation"},
	{TFS_LIBRARY_cuda, 2, "CUDA_ERROR_OUT_OF_MEMORY"},
	{TFS_LIBRARY_cublas, 7, "CUBLAS_STATUS_INVALID_VALUE"},
	{TFS_LIBRARY_cublaslt, 15, "CUBLAS_STATUS_NOT_SUPPORTED"},
	{TFS_LIBRARY_cudnn, 3, "CUDNN_STATUS_BAD_PARAM"},
	{TFS_LIBRARY_cudnn, 2000, "CUDNN_STATUS_BAD_PARAM"},
	{TFS_LIBRARY_nccl, 1, "ncclUnhandledCudaError"},
	{TFS_LIBRARY_cudart, 998, NULL},
	{TFS_LIBRARY_curand, 2, NULL},
};

int main(void)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!TEST_EQ(tfs_status_fails(calls[i].library, calls[i].family, calls[i].status),
			    calls[i].fails))
			printf("  call %zu: status %u\n", i, calls[i].status);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		TEST_STR(tfs_status_name(names[i].library, names[i].status), names[i].name);
	TEST_TRUE(tfs_status_harmless(TFS_FAMILY_host_register));
	TEST_TRUE(tfs_status_harmless(TFS_FAMILY_query));
	TEST_TRUE(!tfs_status_harmless(TFS_FAMILY_alloc));
	TEST_TRUE(!tfs_status_harmless(TFS_FAMILY_launch));
	return test_result();
}
