/* SPDX-License-Identifier: MIT */
/* Memory that stays, and memory that comes and goes, in no step: shim_churn PAIRS */
#include <cuda_runtime_api.h>

#include "tests/test.h"

#define KEPT 100
#define TOGETHER 3

int main(int argc, char **argv)
{
	void *kept[KEPT];
	void *fleeting[TOGETHER];

	if (argc != 2 || cudaFree(NULL) != cudaSuccess)
		return test_skip("no device");
	for (int i = 0; i < KEPT; i++)
		TEST_EQ(cudaMalloc(&kept[i], 256), cudaSuccess);
	for (long i = 0; i < atol(argv[1]); i += TOGETHER) {
		for (int j = 0; j < TOGETHER; j++)
			TEST_EQ(cudaMalloc(&fleeting[j], 512), cudaSuccess);
		for (int j = 0; j < TOGETHER; j++)
			TEST_EQ(cudaFree(fleeting[j]), cudaSuccess);
		TEST_EQ(cudaFree(NULL), cudaSuccess);
	}
	for (int i = 0; i < KEPT / 2; i++)
		TEST_EQ(cudaFree(kept[i]), cudaSuccess);
	printf("done\n");
	return test_result();
}
