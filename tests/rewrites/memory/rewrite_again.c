/* SPDX-License-Identifier: MIT */
/* Sends the same bytes to the same place again, after the device has changed them there: the second
 * copy must be made. */
#include <cublas_v2.h>

#include "tests/promises/sim_gate.h"

#define COUNT (512 << 10)

int main(void)
{
	static float source[COUNT], back[COUNT];
	const float two = 2;
	cublasHandle_t handle;
	float *device;

	alarm(300);
	OK(cudaMalloc((void **)&device, sizeof(source)));
	TEST_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
	for (int i = 0; i < COUNT; i++)
		source[i] = (float)i;
	for (int round = 0; round < 5; round++) {
		OK(cudaMemcpy(device, source, sizeof(source), cudaMemcpyHostToDevice));
		OK(cudaMemcpy(back, device, sizeof(back), cudaMemcpyDeviceToHost));
		TEST_EQ(memcmp(back, source, sizeof(source)), 0);
		TEST_EQ(cublasSscal(handle, COUNT, &two, device, 1), CUBLAS_STATUS_SUCCESS);
		OK(cudaMemcpy(back, device, sizeof(back), cudaMemcpyDeviceToHost));
		TEST_EQ(back[COUNT - 1], 2 * source[COUNT - 1]);
	}
	return test_result();
}
