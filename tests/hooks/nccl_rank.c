/* SPDX-License-Identifier: MIT */
/* Two ranks of one communicator, rank 1 first: what NCCL says of ranks is all there is to know.
 * They add up numbers of each type, 64 at a time, with one function for the types of each size. */
#include <cuda_runtime_api.h>
#include <nccl.h>

#include "tests/test.h"

#define OK(call) TEST_EQ(call, 0)

static ncclComm_t comms[2];
static void *memory[2];

#define SUMS(name, ...)                                                                            \
	static __attribute__((noinline)) void name(void)                                           \
	{                                                                                          \
		static const ncclDataType_t types[] = {__VA_ARGS__};                               \
                                                                                                   \
		for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {                    \
			OK(ncclGroupStart());                                                      \
			for (int rank = 0; rank < 2; rank++)                                       \
				OK(ncclAllReduce(memory[rank], memory[rank], 64, types[i],         \
					ncclSum, comms[rank], NULL));                              \
			OK(ncclGroupEnd());                                                        \
		}                                                                                  \
	}

SUMS(of_one, ncclInt8, ncclUint8, ncclFloat8e4m3, ncclFloat8e5m2)
SUMS(of_two, ncclFloat16, ncclBfloat16)
SUMS(of_four, ncclInt32, ncclUint32, ncclFloat32)
SUMS(of_eight, ncclInt64, ncclUint64, ncclFloat64)

int main(void)
{
	ncclUniqueId id;
	int count = 0;

	if (cudaGetDeviceCount(&count) != cudaSuccess || count < 2)
		return test_skip("fewer than two devices");
	OK(ncclGetUniqueId(&id));
	OK(ncclGroupStart());
	for (int rank = 1; rank >= 0; rank--) {
		OK(cudaSetDevice(rank));
		OK(cudaMalloc(&memory[rank], 512));
		OK(cudaMemset(memory[rank], 0, 512));
		OK(ncclCommInitRank(&comms[rank], 2, id, rank));
	}
	OK(ncclGroupEnd());
	of_one();
	of_two();
	of_four();
	of_eight();
	OK(cudaDeviceSynchronize());
	for (int rank = 0; rank < 2; rank++)
		OK(ncclCommDestroy(comms[rank]));
	return test_result();
}
