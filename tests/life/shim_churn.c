/* SPDX-License-Identifier: MIT */
/* Memory that stays, and memory that comes and goes, in no step: shim_churn PAIRS STAY */
#include <cuda_runtime_api.h>

#include "tests/test.h"

#define MOST 4000
#define TOGETHER 3

int main(int argc, char **argv)
{
	static void *kept[MOST];
	void *fleeting[TOGETHER];

	const int stay = argc == 3 ? atoi(argv[2]) : MOST + 1;

	if (stay > MOST || cudaFree(NULL) != cudaSuccess)
		return test_skip("no device");
	for (int i = 0; i < stay; i++)
		TEST_EQ(cudaMalloc(&kept[i], 256), cudaSuccess);
	for (long i = 0; i < atol(argv[1]); i += TOGETHER) {
		for (int j = 0; j < TOGETHER; j++)
			TEST_EQ(cudaMalloc(&fleeting[j], 512), cudaSuccess);
		for (int j = 0; j < TOGETHER; j++)
			TEST_EQ(cudaFree(fleeting[j]), cudaSuccess);
		TEST_EQ(cudaFree(NULL), cudaSuccess);
	}
	for (int i = 0; i < stay / 2; i++)
		TEST_EQ(cudaFree(kept[i]), cudaSuccess);
	printf("done\n");
	return test_result();
}
