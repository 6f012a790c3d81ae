/* SPDX-License-Identifier: MIT */
/* Two ranks of one communicator, rank 1 first: what NCCL says of ranks is all there is to know. */
#include <cuda_runtime_api.h>
#include <nccl.h>

#include "tests/test.h"

#define OK(call) TEST_EQ(call, 0)

int main(void)
{
	ncclComm_t comms[2];
	ncclUniqueId id;
	int count = 0;

	if (cudaGetDeviceCount(&count) != cudaSuccess || count < 2)
		return test_skip("fewer than two devices");
	OK(ncclGetUniqueId(&id));
	OK(ncclGroupStart());
	for (int rank = 1; rank >= 0; rank--) {
		OK(cudaSetDevice(rank));
		OK(ncclCommInitRank(&comms[rank], 2, id, rank));
	}
	OK(ncclGroupEnd());
	for (int rank = 0; rank < 2; rank++)
		OK(ncclCommDestroy(comms[rank]));
	return test_result();
}
